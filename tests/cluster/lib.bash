# What the tests on a live control plane share. bats loads it with `load lib`; $PLANE is the folder of tests/cluster/plane.
# Nothing here sets a status or makes a pod: controllers, KWOK and Karpenter do.
# shellcheck shell=bash
load ../e2e/lib
DIGEST=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef

plane_setup() {
	[[ -n ${PLANE:-} ]] || { echo "PLANE is not set: run make test-cluster" >&2 && return 1; }
	common_setup
	export KUBECONFIG=$PLANE/kubeconfig
	FLEET=fleet-$RANDOM$RANDOM
}

plane_teardown() {
	local code=0
	# A test that failed may have left another's name in it.
	kubectl delete lease -n "$FLEET" "$FLEET-deploy" --ignore-not-found
	[[ ! -e $WORK/slipway.yaml ]] || (cd "$WORK" && "$SLIPWAY" undeploy --yes --timeout 120 2>&1) || code=$?
	rm -f "$PLANE/no-capacity/$FLEET"
	common_teardown
	return $code
}

# no_capacity [TYPE...]: these instance types cannot be had for the fleet from now on, the others can.
no_capacity() { printf '%s\n' "$@" >"$PLANE/no-capacity/$FLEET"; }

# spec SCHEDULER: slipway.yaml of this repository's own fleet as $FLEET, without storage and exporters. The
# trainer's pods end well after ENDS (default: never).
spec() {
	local scheduler=$1
	sed "/^storage:/,/^job:/{/^job:/!d}; /^monitoring:/,\$d; s/  network_test:.*//; s/scheduler: volcano/scheduler: $scheduler/
		s/^name: perceiver/name: $FLEET/; s/^  name: perceiver/  name: $FLEET/" "$ROOT/slipway.yaml" >slipway.yaml
	[[ -z ${ENDS:-} ]] || printf '  annotations: {slipway.test/runs-for: %s}\n' "$ENDS" >>slipway.yaml
}

# with_storage: slipway.yaml has a file system that is there already, and a Job that fills it.
with_storage() {
	sed -i 's|^job:|storage:\n  fsx: {id: fs-0123456789abcdef0, mount_name: abcdefgh, driver: none, prepare: {command: [slipway-trainer, prepare]}}\n&|' slipway.yaml
}

# shellcheck disable=SC2119,SC2120 # "run deploy ..." passes them
deploy() { "$SLIPWAY" deploy --image-digest "$DIGEST" --interval 1s --timeout 180 "$@"; }

# annotate KEY VALUE...: annotations of the job's pods, for the stages of stages.yaml.
annotate() {
	grep -q '^  annotations:' slipway.yaml || printf '  annotations: {}\n' >>slipway.yaml
	while (($# > 0)); do
		sed -i "s|^  annotations: {|&slipway.test/$1: '$2', |; s/, }/}/" slipway.yaml
		shift 2
	done
}

# policy RESOURCE EXPRESSION: what a ValidatingAdmissionPolicy demands of such objects (jobs, pods) of the fleet's
# namespace; it is in force when this returns.
policy() {
	local group=
	[[ $1 != jobs ]] || group="batch"
	kubectl apply --server-side -f - <<-YAML
		apiVersion: admissionregistration.k8s.io/v1
		kind: ValidatingAdmissionPolicy
		metadata: {name: $FLEET}
		spec:
		  failurePolicy: Fail
		  matchConstraints:
		    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $FLEET}}
		    resourceRules:
		      - {apiGroups: ["$group"], apiVersions: [v1], operations: [CREATE], resources: [$1]}
		      - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
		  validations:
		    - {expression: "object.kind == 'ConfigMap' ? object.metadata.name != 'probe' : ($2)", message: not of this house}
		---
		apiVersion: admissionregistration.k8s.io/v1
		kind: ValidatingAdmissionPolicyBinding
		metadata: {name: $FLEET}
		spec: {policyName: $FLEET, validationActions: [Deny]}
	YAML
	until kubectl create configmap probe -n "$FLEET" --dry-run=server 2>&1 | grep -q 'not of this house'; do sleep 0.2; done
}

no_policy() {
	kubectl delete --ignore-not-found "validatingadmissionpolicybinding/$FLEET" "validatingadmissionpolicy/$FLEET"
}

# printed TEXT: the command between backquotes that $output has and that begins with TEXT, as a person would copy it.
# shellcheck disable=SC2154 # bats sets output
printed() { sed -n "s/.*\`\($1[^\`]*\)\`.*/\1/p" <<<"$output"; }

# attempts: what the deploy state says of each target.
attempts() {
	kubectl get configmap -n "$FLEET" "$FLEET-deploy-state" -o jsonpath='{.data.state\.json}' |
		json '[(a["target"], a["outcome"]) for a in d["attempts"]]'
}

# leftovers: every object of the fleet that the API server still has, of whatever kind.
leftovers() {
	local kinds
	kinds=$(kubectl api-resources --verbs=list -o name | grep -vE '^(events|componentstatuses)' | paste -sd,)
	kubectl get "$kinds" -A -l "slipway/owner=$FLEET" -o name
	kubectl get nodeclaims,nodes -l "slipway/owner=$FLEET" -o name
	kubectl get namespace "$FLEET" -o name --ignore-not-found
}

# in_the_end: what an undisturbed deploy leaves.
in_the_end() {
	[ "$(attempts)" = "[('trn1', 'running')]" ]
	[ "$(kubectl get pods -n "$FLEET" -l slipway/target=trn1 -o jsonpath='{.items[*].status.phase}')" = "Running Running" ]
	KUBECTL='' run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"nothing to do"* ]]
}

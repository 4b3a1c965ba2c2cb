# What the tests on a live control plane share. bats loads it with `load lib`; $PLANE is the folder of tests/cluster/plane.
# Nothing here sets a status or makes a pod: controllers, KWOK and Karpenter do.
# shellcheck shell=bash
load ../e2e/lib
DIGEST=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef

plane_setup() {
	[[ -n ${PLANE:-} ]] || { echo "PLANE is not set: run make test-cluster" >&2 && return 1; }
	common_setup
	# Thousands of short-lived kubectl: what the server serves is found out once, and garbage is left lying about.
	export KUBECONFIG=$PLANE/kubeconfig KUBECACHEDIR=$PLANE/cache GOGC=400
	FLEET=fleet-$RANDOM$RANDOM
}

# plane_teardown [wait]: the fleet leaves while the next test runs, or before it, where what fleets share is looked at.
# Whether it could, teardown_file says.
plane_teardown() {
	local place=$BATS_FILE_TMPDIR/leaving/$FLEET
	if [[ -e $WORK/slipway.yaml ]]; then
		mkdir -p "$place"
		cp "$WORK/slipway.yaml" "$place"
		leave "$place" >"$place/said" 2>&1 3>&- </dev/null &
		[[ ${1:-} != wait ]] || wait $!
	fi
	common_teardown
}

# leave FOLDER: what the fleet of its specification has in the cluster goes.
leave() {
	local code=0
	cd "$1" || return
	export XDG_CACHE_HOME=$PWD HOME=$PWD
	unset KUBECTL
	# A test that failed may have left another's name in it.
	kubectl delete lease -n "$FLEET" "$FLEET-deploy" --ignore-not-found
	"$SLIPWAY" undeploy --yes --timeout 300 || code=$?
	rm -f "$PLANE/no-capacity/$FLEET"
	echo $code >left
}

# Ends when every fleet of the file has gone.
teardown_file() {
	local place code=0 end=$((SECONDS + 330))
	for place in "$BATS_FILE_TMPDIR"/leaving/*/; do
		[[ -d $place ]] || continue
		until [[ -s $place/left ]] || ((SECONDS >= end)); do sleep 0.2; done
		[[ $(cat "$place/left") == 0 ]] || { code=1 && echo "$place: it did not leave:" && cat "$place/said"; }
	done
	return $code
}

# no_capacity [TYPE...]: these instance types cannot be had for the fleet from now on, the others can.
no_capacity() { printf '%s\n' "$@" >"$PLANE/no-capacity/$FLEET"; }

# spec SCHEDULER: slipway.yaml of this repository's own fleet as $FLEET, without storage and exporters. The
# trainer's pods end well after ENDS (default: never).
spec() {
	local scheduler=$1
	sed "/^storage:/,/^job:/{/^job:/!d}; /^monitoring:/,\$d; s/  network_test:.*//; s/scheduler: volcano/scheduler: $scheduler/
		s/^name: perceiver/name: $FLEET/; s/^  name: perceiver/  name: $FLEET/" <(own_spec) >slipway.yaml
	[[ -z ${ENDS:-} ]] || printf '  annotations: {slipway.test/runs-for: %s}\n' "$ENDS" >>slipway.yaml
}

# with_storage: slipway.yaml has a file system that is there already, and a Job that fills it.
with_storage() {
	sed -i 's|^job:|storage:\n  fsx: {id: fs-0123456789abcdef0, mount_name: abcdefgh, driver: none, prepare: {command: [slipway-trainer, prepare]}}\n&|' slipway.yaml
}

# shellcheck disable=SC2119,SC2120 # "run deploy ..." passes them
deploy() { "$SLIPWAY" deploy --image-digest "$DIGEST" --interval 1s --timeout 300 "$@"; }

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

# within SECONDS COMMAND...: until it succeeds.
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < end)) || { [[ ! -e said ]] || cat said && return 1; }
		sleep 0.5
	done
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
# shellcheck disable=SC2154 # bats sets status
in_the_end() {
	[ "$(attempts)" = "[('trn1', 'running')]" ]
	[ "$(kubectl get pods -n "$FLEET" -l slipway/target=trn1 -o jsonpath='{.items[*].status.phase}')" = "Running Running" ]
	KUBECTL='' run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"nothing to do"* ]]
}

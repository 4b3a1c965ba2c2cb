#!/usr/bin/env bats
# The basic stories against a real API server: $SLIPWAY_TEST_KUBECONFIG. docs/DEPLOY.md, Tests, says
# what it must have. Controllers are not needed: a helper sets the conditions that they would.

load lib
DIGEST=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
setup() {
	[[ -n ${SLIPWAY_TEST_KUBECONFIG:-} ]] || skip "SLIPWAY_TEST_KUBECONFIG is not set"
	need kubectl
	common_setup
	export KUBECONFIG=$SLIPWAY_TEST_KUBECONFIG
	FLEET=slipway-test-$RANDOM
	# No storage and no exporters: they need controllers of their own.
	sed "/^storage:/,/^job:/{/^job:/!d}; /^monitoring:/,\$d; s/  network_test:.*//; s/volcano/job/
		s/^name: perceiver/name: $FLEET/; s/^  name: perceiver/  name: $FLEET/" "$ROOT/slipway.yaml" >slipway.yaml
	controllers 3>&- &
	CONTROLLERS=$!
	PIDS+=("$CONTROLLERS")
}
teardown() {
	[[ -n ${FLEET:-} ]] || return 0
	"$SLIPWAY" undeploy --yes --timeout 60 >/dev/null 2>&1 || true
	kubectl delete namespace "$FLEET" --ignore-not-found --wait=false >/dev/null 2>&1 || true
	common_teardown
}

# shellcheck disable=SC2119,SC2120 # "run deploy ..." passes them
deploy() { "$SLIPWAY" deploy --image-digest "$DIGEST" --interval 1s --timeout 120 "$@"; }

# ready KIND: what Karpenter would say of ours.
ready() {
	local o
	for o in $(kubectl get "$1" -l "slipway/owner=$FLEET" -o name); do
		kubectl patch "$o" --subresource=status --type=merge -p '{"status": {"conditions": [{"type": "Ready",
			"status": "True", "reason": "Test", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}'
	done
}

# Pools become Ready, plugins are rolled out, the job's pods run: without any node. Targets that the
# file "full" names get no pods: there is no capacity.
controllers() {
	local o i generation
	while sleep 1; do
		ready nodepools.karpenter.sh
		ready ec2nodeclasses.karpenter.k8s.aws
		for o in $(kubectl get daemonsets -A -l "slipway/owner=$FLEET" -o jsonpath='{range .items[*]}{.metadata.namespace}/{.metadata.name}/{.metadata.generation} {end}'); do
			IFS=/ read -r namespace name generation <<<"$o"
			kubectl patch daemonset -n "$namespace" "$name" --subresource=status --type=merge \
				-p "{\"status\": {\"observedGeneration\": $generation, \"desiredNumberScheduled\": 0, \"currentNumberScheduled\": 0, \"numberMisscheduled\": 0, \"numberReady\": 0}}"
		done
		for o in $(kubectl get jobs -n "$FLEET" -l app.kubernetes.io/component=jobs -o jsonpath='{.items[*].metadata.name}'); do
			grep -qsw -- "${o##*-}" "$WORK/full" && continue
			for i in 0 1; do
				kubectl get pod -n "$FLEET" "$o-$i" && continue
				kubectl create -n "$FLEET" -f - <<-POD
					{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "$o-$i", "labels":
						{"app.kubernetes.io/name": "$o", "app.kubernetes.io/instance": "$FLEET"}},
						"spec": {"containers": [{"name": "a", "image": "none"}]}}
				POD
				kubectl patch pod -n "$FLEET" "$o-$i" --subresource=status -p '{"status": {"phase": "Running"}}'
			done
		done
	done >/dev/null 2>&1
}

@test "cluster: deploy, deploy again, prune, undeploy" {
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"job trn1: "* ]]
	kubectl get job -n "$FLEET" "$FLEET-trn1"
	kubectl get configmap -n "$FLEET" "$FLEET-deploy-state" -o jsonpath='{.data.state\.json}' | grep -q '"outcome": "running"'
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"nothing to do"* ]]
	sed -i '/^  g5g:/d' slipway.yaml
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"NodePool $FLEET-g5g is no longer in the spec: deleted"* ]]
	run "$SLIPWAY" undeploy --yes --timeout 120
	[ "$status" -eq 0 ]
	[ -z "$(kubectl get nodepools.karpenter.sh -l "slipway/owner=$FLEET" -o name)" ]
}

@test "cluster: the second of two deploys is told who is at work" {
	run deploy
	[ "$status" -eq 0 ]
	kubectl patch lease -n "$FLEET" "$FLEET-deploy" --type=merge -p "{\"spec\": {\"holderIdentity\": \"ci-7/42/1/00000000\",
		\"leaseDurationSeconds\": 300, \"renewTime\": \"$(date -u +%Y-%m-%dT%H:%M:%S.000000Z)\"}}"
	run deploy
	[ "$status" -eq 7 ]
	[[ $output == *"ci-7/42 is at work"* ]]
	kubectl patch lease -n "$FLEET" "$FLEET-deploy" --type=merge -p '{"spec": {"renewTime": "2020-01-01T00:00:00.000000Z"}}'
	run deploy
	[ "$status" -eq 0 ]
}

@test "cluster: targets without capacity are given up for the next, and the state says why" {
	echo trn1 p4d >full
	run deploy --set fleet.failover.unschedulable=5s
	[ "$status" -eq 0 ]
	[[ $output == *"job g5: "* ]]
	run ! kubectl get job -n "$FLEET" "$FLEET-trn1"
	kubectl get configmap -n "$FLEET" "$FLEET-deploy-state" -o jsonpath='{.data.state\.json}' >state
	[ "$(json '[(a["target"], a["outcome"]) for a in d["attempts"]]' <state)" = "[('trn1', 'no-capacity'), ('p4d', 'no-capacity'), ('g5', 'running')]" ]
}

@test "cluster: a deploy that is killed is gone on with" {
	for seconds in 1 3 5 8; do
		timeout --signal=KILL "$seconds" "$SLIPWAY" deploy --image-digest "$DIGEST" --interval 1s || true
	done
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"job trn1: "* ]]
	run deploy
	[[ $output == *"nothing to do"* ]]
}

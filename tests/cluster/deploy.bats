#!/usr/bin/env bats
# Deploys on a live control plane: Karpenter launches the nodes, KWOK plays their kubelets.

load lib
setup() { plane_setup; }
teardown() { plane_teardown; }

# on_pool TARGET: the job's pods, each on a node of its own, and all of them of the target's pool.
on_pool() {
	local nodes
	nodes=$(kubectl get pods -n "$FLEET" -l "slipway/target=$1" -o jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}')
	[ "$(sort -u <<<"$nodes" | wc -l)" -eq 2 ]
	for node in $nodes; do
		[ "$(kubectl get node "$node" -o jsonpath='{.metadata.labels.karpenter\.sh/nodepool}')" = "$FLEET-$1" ]
	done
}

@test "plane: kubectl is of the server's own version" {
	kubectl version -o json >versions
	[ "$(json 'd["clientVersion"]["gitVersion"] == d["serverVersion"]["gitVersion"]' <versions)" = True ]
	[ "$(json 'int(d["clientVersion"]["minor"]) >= 36' <versions)" = True ]
}

@test "deploy: a job of the scheduler 'job' runs to its end on its own pool, and undeploy leaves nothing" {
	ENDS=20s spec job
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"job trn1: "* ]]
	on_pool trn1
	run deploy --wait
	[ "$status" -eq 0 ]
	[ "$(kubectl get job -n "$FLEET" "$FLEET-trn1" -o jsonpath='{.status.succeeded}')" = 2 ]
	run "$SLIPWAY" undeploy --yes --timeout 300
	[ "$status" -eq 0 ]
	[ -z "$(leftovers)" ]
}

@test "deploy: a JobSet runs to its end on its own pool, and undeploy leaves nothing" {
	ENDS=20s spec jobset
	run deploy
	[ "$status" -eq 0 ]
	on_pool trn1
	run deploy --wait
	[ "$status" -eq 0 ]
	[ "$(kubectl get jobset -n "$FLEET" "$FLEET-trn1" -o jsonpath='{.status.terminalState}')" = Completed ]
	run "$SLIPWAY" undeploy --yes --timeout 300
	[ "$status" -eq 0 ]
	[ -z "$(leftovers)" ]
}

@test "deploy: a job that fails is told with exit status 8" {
	ENDS=3s spec job
	sed -i 's|runs-for: 3s|&, slipway.test/exit-code: "2"|' slipway.yaml
	run deploy --wait
	[ "$status" -eq 8 ]
}

@test "deploy: a second run changes nothing, and a target that left the spec goes" {
	spec job
	deploy
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"nothing to do"* ]]
	sed -i '/^  g5g:/d' slipway.yaml
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"NodePool $FLEET-g5g is no longer in the spec: deleted"* ]]
}

@test "deploy: the second of two deploys is told who is at work" {
	spec job
	deploy
	kubectl patch lease -n "$FLEET" "$FLEET-deploy" --type=merge -p "{\"spec\": {\"holderIdentity\": \"ci-7/42/1/00000000\",
		\"leaseDurationSeconds\": 300, \"renewTime\": \"$(date -u +%Y-%m-%dT%H:%M:%S.000000Z)\"}}"
	run deploy
	[ "$status" -eq 7 ]
	[[ $output == *"ci-7/42 holds the lease"* ]]
	kubectl patch lease -n "$FLEET" "$FLEET-deploy" --type=merge -p '{"spec": {"renewTime": "2020-01-01T00:00:00.000000Z"}}'
	run deploy
	[ "$status" -eq 0 ]
}

@test "fail-over: targets without capacity are given up for the next, and the state says why" {
	no_capacity trn1.32xlarge trn1n.32xlarge p4d.24xlarge
	spec job
	run deploy --set fleet.failover.after=5s
	[ "$status" -eq 0 ]
	[[ $output == *"job g5: "* ]]
	run ! kubectl get job -n "$FLEET" "$FLEET-trn1"
	[ "$(attempts)" = "[('trn1', 'no-capacity'), ('p4d', 'no-capacity'), ('g5', 'running')]" ]
}

@test "fail-over: one type without capacity is no reason to leave a target that has another" {
	no_capacity trn1.32xlarge
	spec job
	run deploy
	[ "$status" -eq 0 ]
	[ "$(attempts)" = "[('trn1', 'running')]" ]
	[ "$(kubectl get nodes -l "karpenter.sh/nodepool=$FLEET-trn1" -o jsonpath='{.items[*].metadata.labels.node\.kubernetes\.io/instance-type}')" = "trn1n.32xlarge trn1n.32xlarge" ]
}

@test "deploy: one that is killed is gone on with" {
	spec job
	for seconds in 1 2 3 4; do
		timeout --signal=KILL "$seconds" "$SLIPWAY" deploy --image-digest "$DIGEST" --interval 1s || true
	done
	run deploy
	[ "$status" -eq 0 ]
	on_pool trn1
	run deploy
	[[ $output == *"nothing to do"* ]]
	[ "$(attempts)" = "[('trn1', 'running')]" ]
}

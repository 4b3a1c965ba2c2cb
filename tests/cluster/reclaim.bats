#!/usr/bin/env bats
# A job that lost its nodes moves on, and comes back where its better target has capacity again.

load lib
setup() { plane_setup; }
teardown() {
	[[ -z ${waiting:-} ]] || { kill "$waiting" && wait "$waiting"; } || true
	plane_teardown
}

SHORT=(--set fleet.failover.after=5s --set fleet.failover.unschedulable=40s --set fleet.failover.backoff=2s)

# reclaimed TARGET: all its nodes are taken, as spot instances are: their pods are evicted, the nodes go.
reclaimed() {
	local nodes
	nodes=$(kubectl get nodes -l "karpenter.sh/nodepool=$FLEET-$1" -o jsonpath='{.items[*].metadata.name}')
	# shellcheck disable=SC2086 # a list of names
	kubectl drain $nodes --force --ignore-daemonsets --delete-emptydir-data --timeout=60s
	# shellcheck disable=SC2086
	kubectl delete nodeclaims $nodes --ignore-not-found --wait=false
}

attempted() { [ "$(attempts 2>&1)" = "$1" ]; }
runs_on() {
	[ "$(kubectl get pods -n "$FLEET" -l "slipway/target=$1" -o jsonpath='{.items[*].status.phase}')" = "Running Running" ]
}

# waits ARGS...: a deploy that watches the job, in the background.
waits() {
	"$SLIPWAY" deploy --image-digest "$DIGEST" --interval 1s --wait "${SHORT[@]}" "$@" >said 2>&1 3>&- &
	waiting=$!
}

@test "fail-over: a job that lost all its nodes and gets none moves to the next target" {
	no_capacity p4d.24xlarge
	spec job
	waits --set fleet.failover.reclaimed=true
	within 240 attempted "[('trn1', 'running')]"
	no_capacity p4d.24xlarge trn1.32xlarge trn1n.32xlarge
	reclaimed trn1
	within 240 attempted "[('trn1', 'reclaimed'), ('p4d', 'no-capacity'), ('g5', 'running')]"
	within 240 runs_on g5
	run ! kubectl get job -n "$FLEET" "$FLEET-trn1"
	[[ $(<said) == *"all nodes were reclaimed: no capacity for "* ]]
}

@test "fail-over: a job whose checkpoints are not shared stays when it lost all its nodes" {
	spec job
	waits
	within 240 attempted "[('trn1', 'running')]"
	no_capacity trn1.32xlarge trn1n.32xlarge
	reclaimed trn1
	# One that may move has gone three times as long after.
	within 240 grep -q '0 of 2 pods run: .*InsufficientInstanceCapacity' said
	sleep 15
	attempted "[('trn1', 'running')]"
	no_capacity
	within 240 runs_on trn1
}

@test "fail-over: a job returns to its best target when that has capacity again" {
	no_capacity trn1.32xlarge trn1n.32xlarge p4d.24xlarge
	spec job
	waits --set job.return=true
	within 240 attempted "[('trn1', 'no-capacity'), ('p4d', 'no-capacity'), ('g5', 'running')]"
	sleep 15
	attempted "[('trn1', 'no-capacity'), ('p4d', 'no-capacity'), ('g5', 'running')]"
	runs_on g5
	no_capacity p4d.24xlarge
	within 240 attempted "[('trn1', 'no-capacity'), ('p4d', 'no-capacity'), ('g5', 'returned'), ('trn1', 'running')]"
	within 240 runs_on trn1
	run ! kubectl get job -n "$FLEET" "$FLEET-g5"
	run ! kubectl get job -n "$FLEET" "$FLEET-trn1-scout"
	[ -z "$(kubectl get pods -n "$FLEET" -l slipway/target=g5 -o name)" ]
}

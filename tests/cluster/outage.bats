#!/usr/bin/env bats
# A control plane in trouble: deploy outlasts what passes, and ends as it would have without; undeploy says what is missing.
# Alone on the plane: it stops parts of it.

load lib
setup() { plane_setup; }
teardown() {
	resume_all
	plane_teardown wait
}

# How long an outage lasts: a third of it in CI.
LASTS=$([[ -n ${SLIPWAY_TEST_LONG:-} ]] && echo 60 || echo 20)

# pid_of NAME: that program of the control plane.
pid_of() { awk -v name="$1" '$2 == name {print $1}' "$PLANE/pids"; }

# stopped NAME SECONDS: it answers nothing for so long.
stopped() {
	kill -STOP "$(pid_of "$1")"
	sleep "$2"
	kill -CONT "$(pid_of "$1")"
}

resume_all() {
	local pid
	while read -r pid _; do
		kill -CONT "$pid" 2>/dev/null || true
	done <"$PLANE/pids"
}

@test "outage: an API server that is stopped is waited for" {
	spec job
	deploy --timeout 300 >said 2>&1 3>&- &
	local deploy=$!
	sleep 2
	stopped kube-apiserver "$LASTS"
	wait $deploy || { cat said && false; }
	in_the_end
}

@test "outage: an API server that is gone and comes back is waited for" {
	local pid
	ENDS=60s spec job
	deploy
	deploy --wait --timeout 300 >said 2>&1 3>&- &
	local deploy=$!
	sleep 3
	pid=$(pid_of kube-apiserver)
	mapfile -d '' -t command <"/proc/$pid/cmdline"
	kill -9 "$pid"
	sleep "$LASTS"
	KUBE_FEATURE_WatchListClient=false setsid "${command[@]}" >>"$PLANE/kube-apiserver.log" 2>&1 3>&- </dev/null &
	sed -i "s/^$pid /$! /" "$PLANE/pids"
	disown
	wait $deploy || { cat said && false; }
	[[ $(<said) == *"trying again in"* ]]
	[ "$(kubectl get job -n "$FLEET" "$FLEET-trn1" -o jsonpath='{.status.succeeded}')" = 2 ]
}

@test "outage: a paused etcd is waited for" {
	spec job
	deploy --timeout 300 >said 2>&1 3>&- &
	local deploy=$!
	sleep 2
	stopped etcd "$LASTS"
	wait $deploy || { cat said && false; }
	in_the_end
}

@test "undeploy: without Karpenter its nodes are named with their finalizer; by force they go, and are listed" {
	spec job
	deploy
	kill -STOP "$(pid_of karpenter)"
	run "$SLIPWAY" undeploy --yes --timeout 30
	local first=$status said=$output
	run "$SLIPWAY" undeploy --yes --timeout 5 --force-finalizers
	kill -CONT "$(pid_of karpenter)"
	[ "$first" -eq 5 ]
	[[ $said == *"finalizer karpenter.sh/termination of Karpenter, which drains the node"* ]]
	[[ $said == *"kubectl get pods -A -l app.kubernetes.io/name=karpenter"* ]]
	[ "$status" -eq 0 ]
	[ "$(grep -c 'instance .* may go on running' <<<"$output")" -eq 2 ]
	leftovers >left
	cat left
	[ ! -s left ]
}

#!/usr/bin/env bats
# A control plane in trouble: deploy outlasts what passes, and ends as it would have without.
# Alone on the plane: it stops parts of it.

load lib
setup() { plane_setup; }
teardown() {
	resume_all
	plane_teardown
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

# wrapped: kubectl through a program of ours from now on, standard input its body; $REAL is kubectl.
wrapped() {
	REAL=$(command -v kubectl)
	export REAL WORK
	{ echo '#!/bin/bash' && cat; } >kubectl-wrapped
	chmod +x kubectl-wrapped
	export KUBECTL=$WORK/kubectl-wrapped
}

# in_the_end: what an undisturbed deploy leaves.
in_the_end() {
	[ "$(attempts)" = "[('trn1', 'running')]" ]
	[ "$(kubectl get pods -n "$FLEET" -l slipway/target=trn1 -o jsonpath='{.items[*].status.phase}')" = "Running Running" ]
	KUBECTL='' run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"nothing to do"* ]]
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

@test "outage: a kubectl that takes two seconds longer is no trouble" {
	wrapped <<'SH'
sleep 2
exec "$REAL" "$@"
SH
	spec job
	run deploy --timeout 300
	echo "$output"
	[ "$status" -eq 0 ]
	in_the_end
}

@test "outage: one reply in ten is lost, and nothing is done twice" {
	wrapped <<'SH'
exec 9>>"$WORK/calls" && flock 9 && echo "$*" >&9 && n=$(wc -l <"$WORK/calls") && exec 9>&-
((n % 10 == 0)) || exec "$REAL" "$@"
[[ " $* " == *" --watch "* ]] || "$REAL" "$@" >/dev/null
echo "lost $n: $*" >>"$WORK/lost"
echo "error: Get \"https://127.0.0.1/api\": EOF" >&2
exit 1
SH
	spec job
	run deploy --timeout 300
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(wc -l <lost)" -ge 2 ]
	in_the_end
}

@test "watch: minutes of deploy --wait make few calls" {
	wrapped <<'SH'
echo "$(date +%s) $*" >>"$WORK/calls"
exec "$REAL" "$@"
SH
	ENDS=150s spec job
	deploy --interval 5s
	: >calls
	run deploy --interval 5s --wait
	[ "$status" -eq 0 ]
	local taken first last
	first=$(head -n 1 calls) last=$(tail -n 1 calls)
	taken=$((${last%% *} - ${first%% *}))
	# What it takes to begin and to end is there once; the rest goes on for an hour.
	grep -c . calls
	local begin middle
	begin=$(awk -v first="${first%% *}" '$1 < first + 30' calls | wc -l)
	middle=$(awk -v first="${first%% *}" -v last="${last%% *}" '$1 >= first + 30 && $1 < last - 15' calls | wc -l)
	echo "# $taken s: $begin calls in the first 30 s, $middle in the $((taken - 45)) s after" >&3
	[ "$taken" -gt 100 ]
	[ $((begin + middle * 3600 / (taken - 45))) -lt 400 ]
}

#!/usr/bin/env bats
# A kubectl that is slow or whose replies are lost, and how often it is called.

load lib
setup() { plane_setup; }
teardown() { plane_teardown; }

# wrapped: kubectl through a program of ours from now on, standard input its body; $REAL is kubectl.
wrapped() {
	REAL=$(command -v kubectl)
	export REAL WORK
	{ echo '#!/bin/bash' && cat; } >kubectl-wrapped
	chmod +x kubectl-wrapped
	export KUBECTL=$WORK/kubectl-wrapped
}

@test "kubectl: one that takes two seconds longer is no trouble" {
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

@test "kubectl: one reply in ten is lost, and nothing is done twice" {
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

@test "kubectl: minutes of deploy --wait make few calls" {
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

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
	# What it takes to begin, until half a minute after it follows what happens, and to end is there once, however slow the
	# machine is; the rest goes on for an hour.
	local from until begin middle
	from=$(awk '/ --watch / {print $1 + 30; exit}' calls)
	[ -n "$from" ]
	until=$(($(tail -n 1 calls | cut -d ' ' -f 1) - 15))
	begin=$(awk -v from="$from" '$1 < from' calls | wc -l)
	middle=$(awk -v from="$from" -v until="$until" '$1 >= from && $1 < until' calls | wc -l)
	echo "# $begin calls to begin, $middle in $((until - from)) s" >&3
	[ $((until - from)) -gt 60 ]
	[ $((begin + middle * 3600 / (until - from))) -lt 400 ]
}

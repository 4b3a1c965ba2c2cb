#!/usr/bin/env bats
# kill -9 of slipway at random moments of all that it does in a live cluster: the command that is given again ends as one
# that nobody disturbed. Its kubectl children are left to themselves, as they are in life.

load lib
setup() { plane_setup; }
teardown() {
	local life
	for life in "${lives[@]}"; do
		[[ ! -e $WORK/$life/slipway.yaml ]] || (cd "$WORK/$life" && "$SLIPWAY" undeploy --yes --timeout 300 >/dev/null 2>&1) &
		rm -f "$PLANE/no-capacity/$life"
	done
	wait
	common_teardown
}

OTHER=sha256:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff
lives=()

# begun FIRST: a fleet in a folder of its own; one that begins with a fail-over has no capacity for its best target.
begun() {
	mkdir -p "$FLEET" && cd "$FLEET" || return
	spec job
	no_capacity
	[[ $1 != fail-over ]] || no_capacity trn1.32xlarge trn1n.32xlarge
}

# step NAME [exec]: what a fleet goes through; the first two begin its life. With exec the shell becomes slipway.
step() {
	local deploy=(deploy --interval 1s --timeout 300 --set fleet.failover.after=5s --set fleet.failover.backoff=2s)
	case $1 in
	deploy | fail-over) ${2:-} "$SLIPWAY" "${deploy[@]}" --image-digest "$DIGEST" ;;
	replacement) ${2:-} "$SLIPWAY" "${deploy[@]}" --image-digest "$OTHER" ;;
	undeploy) ${2:-} "$SLIPWAY" undeploy --yes --timeout 300 ;;
	esac
}

# timed NAME: a step undisturbed: after how many milliseconds it said each of its lines, and ended, are the lines of took.NAME.
timed() {
	local began=${EPOCHREALTIME/./} line
	{ step "$1" 2>&1 && echo done; } | while IFS= read -r line; do
		echo "$line" >>said
		echo $(((${EPOCHREALTIME/./} - began) / 1000)) >>"took.$1"
	done
	[ "$(tail -n 1 said)" = done ] || { cat said && return 1; }
}

# moment LIKE NAME SHARE: "LINES MILLISECONDS": so long after so many lines is that share (of 1000) of the step's time. A
# machine that is busier or calmer than it was then moves the lines, and the moment with them.
moment() {
	awk -v share="$3" '{ at[NR] = $1 } END {
		when = at[NR] * share / 1000
		for (n = 0; n < NR - 1 && at[n + 1] <= when; n++);
		printf "%d %d\n", n, when - at[n]
	}' "$1/took.$2"
}

# killed LINES MILLISECONDS NAME: a step whose program alone is killed at that moment, or at its next line if that comes
# sooner; "hit" when it was still running.
killed() {
	local pid code=0 i
	echo "---- $3, to be killed $2 ms after line $1" >>said
	step "$3" exec >saying 2>&1 3>&- &
	pid=$!
	while kill -0 "$pid" 2>/dev/null && (($(wc -l <saying) < $1)); do sleep 0.02; done
	for ((i = 0; i < $2 / 20; i++)); do
		(($(wc -l <saying) <= $1)) || break
		sleep 0.02
	done
	kill -9 "$pid" 2>/dev/null || true
	wait "$pid" || code=$?
	cat saying >>said
	[ "$code" -ne 137 ] || echo hit
}

# settled NAME [LIKE]: the state that the fleet comes to within a minute: like that one, or one that stays.
settled() {
	local i
	: >looked
	for ((i = 0; i < 60; i++)); do
		"$ROOT/tests/cluster/endstate" "$FLEET" >"state.$1" || return
		! cmp -s "${2:-looked}" "state.$1" || return 0
		cp "state.$1" looked
		sleep 1
	done
	diff "${2:-/dev/null}" "state.$1"
}

# life FIRST: undisturbed: when its steps say what, and the states that they leave.
life() {
	local name
	begun "$1"
	for name in "$1" replacement undeploy; do
		timed "$name" || return
		settled "$name" || return
	done
	[ ! -s state.undeploy ] || { cat state.undeploy && return 1; }
}

# disturbed LIKE FIRST SHARE...: another such life; each step is killed once, at so many thousandths of its way.
disturbed() {
	local like=$PWD/$1 name lines ms hit
	local steps=("$2" replacement undeploy)
	begun "$2"
	shift 2
	for name in "${steps[@]}"; do
		read -r lines ms < <(moment "$like" "$name" "$1")
		shift
		hit=$(killed "$lines" "$ms" "$name")
		echo "$FLEET: $name killed $ms ms after line $lines ${hit:-(had ended)}"
		step "$name" >>said 2>&1 || { cat said && return 1; }
		settled "$name" "$like/state.$name" || { tail -n 40 said && return 1; }
	done
}

# several COMMAND...: runs in the background; at most three do. Its output is in $WORK/out.FLEET, "ended" its last line.
several() {
	while (($(jobs -rp | wc -l) >= 3)); do wait -n || true; done
	("$@" && echo ended) >"$WORK/out.$FLEET" 2>&1 3>&- &
}

@test "kills: deploy, fail-over, replacement and undeploy, killed at random moments, come to the state of undisturbed ones" {
	local seed=${KILLS_SEED:-$RANDOM} i first kinds=(deploy fail-over) base=$FLEET
	echo "KILLS_SEED=$seed"
	RANDOM=$seed
	for first in "${kinds[@]}"; do
		FLEET=$base-$first lives+=("$base-$first")
		several life "$first"
	done
	wait
	for first in "${kinds[@]}"; do grep -qx ended "out.$base-$first" || { cat "out.$base-$first" && false; }; done
	# Three kills a life, and every second one begins with a fail-over.
	for ((i = 0; i * 3 < $(series 50); i++)); do
		first=${kinds[i % 2]} FLEET=$base-$i
		lives+=("$FLEET")
		several disturbed "$base-$first" "$first" $((RANDOM % 1000)) $((RANDOM % 1000)) $((RANDOM % 1000))
	done
	wait
	cat "out.$base"-[0-9]*
	[ "$(cat "out.$base"-[0-9]* | grep -cx ended)" -eq "$i" ]
	# Most found it at work.
	[ "$(cat "out.$base"-[0-9]* | grep -c ' hit$')" -ge $((i * 2)) ]
}

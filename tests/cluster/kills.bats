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

# killed MILLISECONDS NAME: a step whose program alone is killed then; "hit" when it was still running.
killed() {
	local pid code=0
	echo "---- $2, to be killed after $1 ms" >>said
	step "$2" exec >>said 2>&1 3>&- &
	pid=$!
	sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"
	kill -9 "$pid" 2>/dev/null || true
	wait "$pid" || code=$?
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

# life FIRST: undisturbed: how long its steps take, and the states that they leave.
life() {
	local name began
	begun "$1"
	for name in "$1" replacement undeploy; do
		began=$(date +%s%3N)
		step "$name" >>said 2>&1 || { cat said && return 1; }
		echo $(($(date +%s%3N) - began)) >"took.$name"
		settled "$name" || return
	done
	[ ! -s state.undeploy ] || { cat state.undeploy && return 1; }
}

# disturbed LIKE FIRST SHARE...: another such life; each step is killed once, after so many thousandths of its time.
disturbed() {
	local like=$PWD/$1 name share moment hit
	begun "$2"
	set -- "$2" "${@:3}"
	for name in "$1" replacement undeploy; do
		share=$2 && set -- "$1" "${@:3}"
		moment=$(($(<"$like/took.$name") * share / 1000))
		hit=$(killed "$moment" "$name")
		echo "$FLEET: $name killed after $moment ms ${hit:-(had ended)}"
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
	[ "$(cat "out.$base"-[0-9]* | grep -c ' ms hit$')" -ge $((i * 2)) ]
}

#!/usr/bin/env bats
# Logs of the network test, and the fleet's picture, on the command line.

load lib
setup() { common_setup; cp "$ROOT/tests/golden/fleet/all.yaml" slipway.yaml; LOG=$ROOT/tests/fuzz/corpus/nettest; }
teardown() { common_teardown; }

@test "nettest: a run over EFA above the target's floor passes" {
	run "$SLIPWAY" nettest parse --target p4d "$LOG/efa.log"
	[ "$status" -eq 0 ]
	[[ $output == *"peak       42.25 GB/s of bus bandwidth"* ]]
	[[ $output == *"floor      30.00 GB/s"* ]]
	[[ $output == *PASS* ]]
}

@test "nettest: the floor of the spec is the target's" {
	run "$SLIPWAY" nettest parse --target p4d -f <(sed 's/network_test: {}/network_test: {floor: 45}/' slipway.yaml) "$LOG/efa.log"
	[ "$status" -eq 3 ]
	[[ $output == *"42.25 GB/s at 1073741824 bytes is below the floor of 45.00 GB/s"* ]]
}

@test "nettest: TCP, wrong values and a cut log are told, exit status 3" {
	run "$SLIPWAY" nettest parse "$LOG/socket.log"
	[ "$status" -eq 3 ]
	[[ $output == *"fell back to TCP"* ]]
	[[ $output == *"wrong values at 1048576 bytes"* ]]
	[[ $output == *"the log ends before the test does"* ]]
}

@test "nettest: the log comes from standard input, the verdict as JSON" {
	run "$SLIPWAY" nettest parse --instance p4d.24xlarge --output json - <"$LOG/efa.log"
	[ "$status" -eq 0 ]
	[ "$(json 'd["passed"], d["transport"], d["peak_mb_s"], d["floor_mb_s"]' <<<"$output")" = "(True, 'efa', 42250, 30000)" ]
}

@test "nettest: what is no log, no type and no target is refused" {
	echo hello >log
	run "$SLIPWAY" nettest parse log
	[ "$status" -eq 1 ]
	[[ $output == *"no row of an nccl-tests table"* ]]
	run "$SLIPWAY" nettest parse --instance p4d.24xlarg log
	[ "$status" -eq 2 ]
	[[ $output == *"Did you mean 'p4d.24xlarge'?"* ]]
	run "$SLIPWAY" nettest parse --instance g5g.xlarge log
	[ "$status" -eq 2 ]
	run "$SLIPWAY" nettest parse --target trn9 log
	[ "$status" -eq 2 ]
	run "$SLIPWAY" nettest judge log
	[ "$status" -eq 2 ]
}

@test "diagram: the picture is XML, stable, and the same in a file" {
	"$SLIPWAY" diagram >one.svg
	"$SLIPWAY" diagram -o two.svg
	cmp one.svg two.svg
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' one.svg
	grep -q 'FSx for Lustre' one.svg
}

@test "diagram: a spec without a cluster has nothing to draw" {
	printf 'apiVersion: slipway/v1\nname: x\nimage: {layers: [{files: [{from: slipway.yaml, to: /x}]}]}\n' >slipway.yaml
	run "$SLIPWAY" diagram
	[ "$status" -eq 2 ]
	[[ $output == *"has no fleet to draw"* ]]
}

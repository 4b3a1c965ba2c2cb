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

# a_cluster: a stand-in for kubectl with the fleet's namespace, and LOG as what the launcher prints.
a_cluster() {
	export KUBECTL=$ROOT/tests/servers/fakekubectl FAKEKUBE=$WORK/kube
	mkdir -p "$FAKEKUBE/logs/job"
	cp "$LOG/$1.log" "$FAKEKUBE/logs/job/perceiver-p4d-nettest-launcher"
	"$SLIPWAY" render --only namespace --format list | "$KUBECTL" apply --server-side -f - >/dev/null
}
tests_there() { json '[k for k in d if k.startswith("mpijobs")]' <"$FAKEKUBE/objects.json"; }

@test "nettest run: the test is started, waited for, judged and taken away" {
	a_cluster efa
	run "$SLIPWAY" nettest run
	[ "$status" -eq 0 ]
	[[ $output == *"peak       42.25 GB/s of bus bandwidth"*"floor      30.00 GB/s"*PASS* ]]
	[ "$(tests_there)" = "[]" ]
	grep -q '^apply .*' "$FAKEKUBE/calls"
	[ "$(grep -c 'logs -n perceiver job/perceiver-p4d-nettest-launcher' "$FAKEKUBE/calls")" -eq 1 ]
}

@test "nettest run: a run over TCP exits 3, and a test that failed says why; nothing is left" {
	a_cluster socket
	run "$SLIPWAY" nettest run --target p4d
	[ "$status" -eq 3 ]
	[[ $output == *"fell back to TCP"* ]]
	[ "$(tests_there)" = "[]" ]
	echo '"Failed"' >"$FAKEKUBE/nettest.json"
	rm "$FAKEKUBE/logs/job/perceiver-p4d-nettest-launcher"
	run "$SLIPWAY" nettest run --target p4d
	[ "$status" -eq 1 ]
	[[ $output == *"MPIJob 'perceiver-p4d-nettest': it failed: BackoffLimitExceeded"* ]]
	[ "$(tests_there)" = "[]" ]
}

@test "nettest run: one that does not end in time is taken away, so is one at Ctrl-C" {
	a_cluster efa
	echo '"Running"' >"$FAKEKUBE/nettest.json"
	run "$SLIPWAY" nettest run --timeout 1
	[ "$status" -eq 5 ]
	[[ $output == *"not ready in time"* ]]
	[ "$(tests_there)" = "[]" ]
	"$SLIPWAY" nettest run 3>&- &
	until [ "$(tests_there)" != "[]" ]; do sleep 0.1; done
	kill -INT $!
	wait $! || true
	[ "$(tests_there)" = "[]" ]
}

@test "nettest run: one that runs already is left alone, one that has ended makes room" {
	a_cluster efa
	"$SLIPWAY" nettest run --keep
	[ "$(tests_there)" = "['mpijobs.kubeflow.org|perceiver|perceiver-p4d-nettest']" ]
	"$SLIPWAY" nettest run --keep
	"$ROOT/tests/servers/kubeset" <<-'END'
		[{"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "perceiver-p4d-nettest", "namespace": "perceiver"},
		  "status": {"conditions": [{"type": "Running", "status": "True"}]}}]
	END
	run "$SLIPWAY" nettest run
	[ "$status" -eq 1 ]
	[[ $output == *"the network test of 'p4d' is in the cluster already"*"kubectl delete mpijob -n perceiver perceiver-p4d-nettest"* ]]
	[ "$(tests_there)" = "['mpijobs.kubeflow.org|perceiver|perceiver-p4d-nettest']" ]
}

@test "nettest run: what cannot run is refused before the cluster is asked" {
	export KUBECTL=/bin/false
	run "$SLIPWAY" nettest run --target trn1
	[ "$status" -eq 2 ]
	[[ $output == *"'trn1' cannot run the network test"* ]]
	run "$SLIPWAY" nettest run --target x
	[ "$status" -eq 2 ]
	run "$SLIPWAY" nettest run extra
	[ "$status" -eq 2 ]
	[[ $output == *"too many arguments"*"usage: slipway nettest [OPTIONS] run"* ]]
	run "$SLIPWAY" nettest run --instance p4d.24xlarge
	[ "$status" -eq 2 ]
	sed -i 's/  network_test: {}//' slipway.yaml
	run "$SLIPWAY" nettest run
	[ "$status" -eq 2 ]
	[[ $output == *"the spec has no job.network_test"* ]]
}

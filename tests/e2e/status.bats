#!/usr/bin/env bats
# status and logs against the stand-in for kubectl: a fleet is deployed, and the cluster is made to
# look as Karpenter, Volcano and the trainer would make it.

load lib
DIGEST=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
GOLDEN=$ROOT/tests/golden/deploy
setup() {
	common_setup
	own_spec >slipway.yaml
	export KUBECTL=$ROOT/tests/servers/fakekubectl FAKEKUBE=$WORK/kube
	mkdir -p "$FAKEKUBE/logs"
}
teardown() { common_teardown; }

deploy() { "$SLIPWAY" deploy --image-digest "$DIGEST"; }
status() { "$SLIPWAY" status "$@"; }
logs() { "$SLIPWAY" logs "$@"; }
kubeset() { "$ROOT/tests/servers/kubeset"; }
fault() { printf '[{"match": "%s", "stderr": "%s"%s}]' "$1" "$2" "${3:-}" >"$FAKEKUBE/faults.json"; }

# ago SECONDS: a moment as Kubernetes writes it.
ago() { date -u -d "-$1 seconds" +%Y-%m-%dT%H:%M:%SZ; }

# job PHASE [MESSAGE]: what Volcano says of the job.
job() {
	kubeset <<-END
		[{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
		  "metadata": {"name": "perceiver-trn1", "namespace": "perceiver", "creationTimestamp": "$(ago 7500)"},
		  "status": {"state": {"phase": "$1", "message": "${2:-}"}}}]
	END
}

# pod RANK PHASE [STATUS MEMBERS]: a pod of the job.
pod() {
	kubeset <<-END
		[{"apiVersion": "v1", "kind": "Pod",
		  "metadata": {"name": "perceiver-trn1-worker-$1", "namespace": "perceiver",
		    "labels": {"slipway/owner": "perceiver", "app.kubernetes.io/component": "jobs",
		      "app.kubernetes.io/name": "perceiver-trn1", "slipway/target": "trn1"}},
		  "spec": {"nodeName": "ip-10-0-0-$1", "containers": [{"name": "trainer"}]},
		  "status": {"phase": "$2"${3:+, $3}}}]
	END
}

# node NAME TYPE CAPACITY STATUS [KIND]: a node of the trn1 pool, or a claim.
node() {
	kubeset <<-END
		[{"apiVersion": "$([[ ${5:-Node} == Node ]] && echo v1 || echo karpenter.sh/v1)", "kind": "${5:-Node}",
		  "metadata": {"name": "$1", "creationTimestamp": "$(ago 3700)", "labels": {
		    "karpenter.sh/nodepool": "perceiver-trn1", "node.kubernetes.io/instance-type": "$2",
		    "topology.kubernetes.io/zone": "us-west-2d", "karpenter.sh/capacity-type": "$3"}},
		  "status": $4}]
	END
}

ready='{"conditions": [{"type": "Ready", "status": "True"}]}'

# A fleet whose job runs on two nodes, and says so.
running() {
	deploy >/dev/null
	job Running
	pod 0 Running
	pod 1 Running '"containerStatuses": [{"restartCount": 2}]'
	node ip-10-0-0-0 trn1.32xlarge on-demand "$ready"
	node ip-10-0-0-1 trn1.32xlarge spot "$ready"
	cat >"$FAKEKUBE/logs/perceiver-trn1-worker-0" <<-END
		$(ago 610 | sed 's/Z$/.25Z/') checkpoint step-00000400 saved
		$(ago 65 | sed 's/Z$/.5Z/') | Training Device=cpu Epoch=1 Step=12 Learning_Rate=0.001 Loss=1.25000 Throughput=8.12500 Time=2026-11-21 10:00:00
		$(ago 65 | sed 's/Z$/.6Z/')   step 412: image 0.50000 audio 0.25000 label 0.50000, gradient norm 1.5, 8.125 clips/s, waiting for data 1.0 %, for ranks 2.0 %, memory 900 MB
	END
	printf 'trn1.32xlarge: 21.50\nfsx-gib-month: 0.146\n' >prices.yaml
}

@test "status: nothing is deployed, and the exit status says so" {
	run status
	[ "$status" -eq 10 ]
	[[ $output == *"jobs        absent"* ]]
	[[ $output == *"none: there is no job"* ]]
}

@test "status: a running job with its step, its nodes and what they cost" {
	running
	run --separate-stderr status --prices prices.yaml
	[ "$status" -eq 0 ]
	diff "$GOLDEN/status-running" <(sed -E 's/20[0-9-]+T[0-9:]+Z/WHEN/' <<<"$output")
}

@test "status: JSON says the same, and null where nothing is known" {
	running
	run --separate-stderr status --prices prices.yaml --output json
	[ "$status" -eq 0 ]
	diff "$GOLDEN/status-running.json" <(sed -E 's/("(time|last_line|since|started)": "[^"]*)20[0-9-]+[T ][^"]*"/\1WHEN"/; s/("age_seconds": )[0-9]+/\1AGE/' <<<"$output")
	[ "$(status --output json | json 'd["cost"]["per_hour"], d["cost"]["currency"], d["nodes"][0]["price_per_hour"]')" = "(None, None, None)" ]
}

@test "status: a job that waits, and why" {
	deploy >/dev/null
	job Pending "pods are not ready: 1 of 2"
	pod 0 Pending '"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available: 3 Insufficient aws.amazon.com/neuron."}]'
	node perceiver-trn1-abcde trn1.32xlarge spot '{"conditions": [{"type": "Ready", "status": "Unknown", "message": "Node not registered"}]}' NodeClaim
	run status
	[ "$status" -eq 9 ]
	[[ $output == *"perceiver-trn1: pending"*"pods are not ready"* ]]
	[[ $output == *"Insufficient aws.amazon.com/neuron"* ]]
	[[ $output == *"claim perceiver-trn1-abcde, trn1.32xlarge, spot"*"not ready (Node not registered)"* ]]
	[[ $output == *"step        unknown: pod perceiver-trn1-worker-0 has not started"* ]]
}

@test "status: a failed job is exit status 8, and what the pods say of it" {
	deploy >/dev/null
	job Failed
	pod 0 Failed '"containerStatuses": [{"state": {"terminated": {"exitCode": 2, "reason": "Error"}}}]'
	run status
	[ "$status" -eq 8 ]
	[[ $output == *"perceiver-trn1-worker-0 Failed"*"Error, exit status 2"* ]]
}

@test "status: why this target, from the recorded attempts" {
	running
	kubeset <<-'END'
		[{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "perceiver-deploy-state", "namespace": "perceiver",
		  "labels": {"slipway/owner": "perceiver"}},
		  "data": {"state.json": "{\"target\": \"trn1\", \"reason\": \"first with capacity\", \"since\": \"2026-11-21T10:00:00Z\", \"attempts\": [{\"target\": \"p4d\", \"started\": \"2026-11-21T09:00:00Z\", \"ended\": null, \"outcome\": \"no capacity\", \"cause\": \"InsufficientInstanceCapacity\"}, 7]}"}}]
	END
	run status
	[ "$status" -eq 0 ]
	[[ $output == *"target      trn1: first with capacity (since 2026-11-21T10:00:00Z)"* ]]
	[[ $output == *"tried     p4d from 2026-11-21T09:00:00Z: no capacity, InsufficientInstanceCapacity"* ]]
}

@test "status: what left the cluster or does not become ready is named" {
	running
	kubeset <<<'[{"kind": "NodePool", "apiVersion": "karpenter.sh/v1", "metadata": {"name": "perceiver-g5"}, "status": {}}]'
	python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); d = {k: v for k, v in d.items() if "nvidia" not in k}; json.dump(d, open(sys.argv[1], "w"))' "$FAKEKUBE/objects.json"
	run status
	[ "$status" -eq 0 ]
	[[ $output == *"karpenter   waiting"*"NodePool 'perceiver-g5': not Ready"* ]]
	[[ $output == *"devices     waiting"*"it does not exist"* ]]
}

@test "status: prices that are none are told with their line" {
	running
	printf 'trn1.32xlarge: cheap\n' >bad.yaml
	run status --prices bad.yaml
	[ "$status" -eq 3 ]
	[[ $output == *"bad.yaml:1:16"*"is not a price for 'trn1.32xlarge'"* ]]
	printf 'type,price\ntrn1.32xlarge,21.5\ntrn1.32xlarge/spot,6.5\n' >prices.csv
	run status --prices prices.csv
	[ "$status" -eq 0 ]
	[[ $output == *"cost        28.00 USD an hour, plus 1 item of unknown price"* ]]
}

@test "status: a cluster that cannot be asked is an error, a log that cannot is not" {
	running
	fault "get nodes" "Error from server (Forbidden): nodes is forbidden: User u cannot list resource nodes"
	run status
	[ "$status" -eq 4 ]
	[[ $output == *"list the fleet's nodes"* ]]
	fault "logs" "Error from server (Forbidden): pods is forbidden: User u cannot get resource pods/log" ', "times": 2'
	run status
	[ "$status" -eq 0 ]
	[[ $output == *"step        unknown: "*"pods/log"* ]]
}

@test "status: --watch off a terminal prints changes only, and ends with the job" {
	running
	"$SLIPWAY" status --watch --interval 1 >seen 2>/dev/null &
	pid=$!
	wait_for seen
	sleep 1.5
	job Completed
	wait "$pid"
	[ "$(grep -c 'job perceiver-trn1: running' seen)" -eq 1 ]
	[ "$(tail -n 2 seen | grep -c 'job perceiver-trn1: succeeded')" -eq 1 ]
	[ "$(grep -c 'pod perceiver-trn1-worker-0' seen)" -eq 1 ]
}

@test "status: --watch on a terminal redraws in place, and Ctrl-C ends it well" {
	need script
	running
	cat >interrupted <<-SH
		set -m
		"$SLIPWAY" status --watch --interval 1 &
		until [ "\$(grep -oF \$'\033[H' seen | wc -l)" -ge 2 ]; do sleep 0.1; done
		kill -INT \$!
		wait \$!
		echo rc=\$?
	SH
	timeout 120 script -qefc "bash interrupted" seen >/dev/null </dev/null
	grep -q 'step        412 of epoch 1' seen
	grep -q 'rc=0' seen
}

# A log of two ranks whose lines interleave.
two_logs() {
	running
	printf '2026-11-21T10:00:00.1Z one\n2026-11-21T10:00:02.000000003Z three\n' >"$FAKEKUBE/logs/perceiver-trn1-worker-0"
	printf '2026-11-21T10:00:01Z two\n2026-11-21T10:00:02.000000004Z \033[31mfour\n' >"$FAKEKUBE/logs/perceiver-trn1-worker-1"
}

@test "logs: ranks are merged by time, control bytes are not let through" {
	two_logs
	run logs
	[ "$status" -eq 0 ]
	[ "$output" = $'[0] one\n[1] two\n[0] three\n[1] ?[31mfour' ]
	run logs --rank 1 --tail 1
	[ "$output" = "[1] ?[31mfour" ]
}

@test "logs: what kubectl is asked" {
	two_logs
	printf '2026-11-21T10:00:01Z old\n' >"$FAKEKUBE/logs/perceiver-trn1-worker-0.previous"
	run logs --rank 0 --since 1h30m --tail 5 --previous
	[ "$output" = "[0] old" ]
	[ "$(grep ^logs "$FAKEKUBE/calls")" = "logs -n perceiver perceiver-trn1-worker-0 -c trainer --timestamps --previous --since=1h30m --tail=5" ]
}

@test "logs: JSON is one object a line" {
	two_logs
	logs --output json >lines
	[ "$(wc -l <lines)" -eq 4 ]
	[ "$(sed -n 3p lines)" = '{"rank":0,"pod":"perceiver-trn1-worker-0","time":"2026-11-21T10:00:02.000000003Z","text":"three","cut":false}' ]
}

@test "logs: a rank that fails is named, and the others are shown" {
	two_logs
	rm "$FAKEKUBE/logs/perceiver-trn1-worker-0"
	run logs
	[ "$status" -eq 0 ]
	[[ $output == *"rank 0 (perceiver-trn1-worker-0): "*"waiting to start"* ]]
	[[ $output == *"[1] two"* ]]
	rm "$FAKEKUBE/logs/perceiver-trn1-worker-1"
	run logs
	[ "$status" -eq 1 ]
	[[ $output == *"no rank's log could be read"* ]]
}

@test "logs: a line without end is cut" {
	two_logs
	{ printf '2026-11-21T10:00:00Z '; head -c 100000 /dev/zero | tr '\0' x; echo; } >"$FAKEKUBE/logs/perceiver-trn1-worker-0"
	logs --rank 0 >seen
	[ "$(wc -c <seen)" -lt 17000 ]
	grep -q ' \[cut\]$' seen
}

@test "logs: --follow merges what comes, and ends with the pods" {
	two_logs
	rm "$FAKEKUBE/logs/perceiver-trn1-worker-1"
	"$SLIPWAY" logs --follow >seen 2>problems &
	pid=$!
	wait_for problems
	wait_for seen
	printf '2026-11-21T10:00:05Z five\n' >>"$FAKEKUBE/logs/perceiver-trn1-worker-0"
	printf '2026-11-21T10:00:06Z six\n' >"$FAKEKUBE/logs/perceiver-trn1-worker-1"
	touch "$FAKEKUBE/logs/perceiver-trn1-worker-1.end"
	sleep 3.5
	touch "$FAKEKUBE/logs/perceiver-trn1-worker-0.end"
	wait "$pid"
	grep -q 'rank 1 .*waiting to start' problems
	[ "$(cat seen)" = $'[0] one\n[0] three\n[0] five\n[1] six' ]
}

@test "logs: Ctrl-C ends --follow and its children" {
	two_logs
	"$SLIPWAY" logs --follow >seen 2>/dev/null &
	pid=$!
	wait_for seen
	children=$(pgrep -P "$pid" | paste -sd,)
	[ -n "$children" ]
	kill -INT "$pid"
	wait "$pid"
	run ! ps -o pid= -p "$children"
}

@test "logs: no job, no such rank, no such duration" {
	run logs
	[ "$status" -eq 1 ]
	[[ $output == *"the cluster has no job of 'perceiver'"* ]]
	running
	run logs --rank 7
	[ "$status" -eq 1 ]
	[[ $output == *"no pod of rank 7"* ]]
	run logs --since yesterday
	[ "$status" -eq 2 ]
	[[ $output == *"Write it as 90s"* ]]
}

@test "prices: undeploy tells what the kept file system costs" {
	deploy >/dev/null
	printf 'fsx-gib-month: 0.146\n' >prices.yaml
	run "$SLIPWAY" undeploy --yes --keep-data --prices prices.yaml
	[ "$status" -eq 0 ]
	[[ $output == *"the file system behind the claim perceiver-data: kept because of --keep-data, 0.24 USD an hour"* ]]
}

# on_terminal FILE COMMAND...: runs it on a terminal of its own; what that showed goes to FILE.
on_terminal() {
	need script
	local file=$1
	shift
	timeout 60 script -qec "stty cols 100; $*" "$file" >/dev/null </dev/null || true
}

@test "table: deploy redraws its stages in place and leaves the table behind" {
	on_terminal seen "$SLIPWAY deploy --image-digest $DIGEST"
	grep -qF $'\033[1A\033[2K' seen
	grep -q 'namespace    applying ' seen
	grep -q '^jobs         pending ' seen
	# The last frame is whole, and the result stands below it.
	tail -n 12 seen | tr -d '\r' | sed 's/.*\x1b\[2K//' | sed -n '/^namespace/,/^job trn1/p' | sed -E 's/ [0-9]+:[0-9]{2} / TIME /' >last
	diff "$GOLDEN/table-deploy" last
}

@test "table: a stage that does not become ready says what it waits for" {
	echo NodePool >"$FAKEKUBE/stuck"
	on_terminal seen "$SLIPWAY deploy --image-digest $DIGEST --timeout 8"
	grep -q "^karpenter    waiting .*8 created, 0 changed, 0 unchanged; NodePool 'perceiver-trn1': not" seen
	tail -n 12 seen | grep -q '^karpenter    failed '
	# Rows are cut, so that none takes two lines.
	[ "$(tr -d '\r' <seen | sed 's/\x1b\[[0-9]*[A-Z]//g' | grep '^karpenter' | wc -L)" -le 99 ]
}

@test "table: undeploy shows what is gone; off a terminal there is no table" {
	deploy >/dev/null
	on_terminal seen "$SLIPWAY undeploy --yes"
	tail -n 12 seen | grep -q '^node classes gone '
	tail -n 7 seen | grep -q '^32 objects deleted'
	run deploy
	[[ $output == *"namespace   2 created, 0 changed, 0 unchanged"* ]]
	[[ $output != *$'\033'* ]]
}

@test "status: whether the ranks talk over EFA is read from the beginning of the log" {
	deploy >/dev/null
	job Running
	pod 0 Running
	pod 1 Running
	printf '2026-11-21T10:00:00Z x\n' >"$FAKEKUBE/logs/perceiver-trn1-worker-0"
	run status
	[[ $output == *"network     unknown: the log does not name the provider"* ]]
	printf '2026-11-21T10:00:00Z CCOM INFO NET/OFI Selected Provider is efa\n' >"$FAKEKUBE/logs/perceiver-trn1-worker-0"
	run status
	[[ $output == *"network     EFA"* ]]
	[ "$(status --output json | json 'd["training"]["network"]')" = efa ]
	printf '2026-11-21T10:00:00Z CCOM INFO Using network Socket\n' >"$FAKEKUBE/logs/perceiver-trn1-worker-0"
	seq -f '2026-11-21T10:00:01Z line %g' 1000 >>"$FAKEKUBE/logs/perceiver-trn1-worker-0"
	run status
	[[ $output == *"network     sockets: EFA is not used"* ]]
}

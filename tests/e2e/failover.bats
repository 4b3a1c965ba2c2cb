#!/usr/bin/env bats
# The job finds a place: failover by weight, its state, one writer at a time, and every call to
# kubectl. BLESS=1 renews tests/golden/deploy.

load lib
DIGEST=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
setup() {
	common_setup
	own_spec >whole.yaml
	# Less to wait for: the four targets and their job are what this is about.
	sed '/^storage:/,/^job:/{/^job:/!d}; /^monitoring:/,$d; s/  network_test:.*//' whole.yaml >slipway.yaml
	export KUBECTL=$ROOT/tests/servers/fakekubectl FAKEKUBE=$WORK/kube
	mkdir "$FAKEKUBE"
}
teardown() { common_teardown; }

# A deploy whose clock is short: no pause between two looks, nothing has to last.
QUICK=(--interval 0s --set fleet.failover.after=0s --set fleet.failover.backoff=0s)
deploy() { "$SLIPWAY" deploy --image-digest "$DIGEST" "${QUICK[@]}" "$@"; }
objects() { json "$1" <"$FAKEKUBE/objects.json"; }
fault() { printf '[{"match": "%s", "stderr": "%s"%s}]' "$1" "$2" "${3:-}" >"$FAKEKUBE/faults.json"; }
# capacity trn1=none ...: what becomes of the job on each target.
capacity() {
	python3 -c 'import json, sys
print(json.dumps({k: v.split(",") for k, _, v in (w.partition("=") for w in sys.argv[1:])}))' "$@" \
		>"$FAKEKUBE/capacity.json"
}
state() { objects 'd["configmaps|perceiver|perceiver-deploy-state"]["live"]["data"]["state.json"]' | json "$1"; }
jobs_there() { objects 'sorted(k.split("|")[2] for k in d if k.startswith("jobs.batch.volcano.sh"))'; }
attempts() { state '" ".join(a["target"] + ":" + a["outcome"] for a in d["attempts"])'; }
# What the cluster holds, without times, versions and the lease.
settled() {
	objects 'json.dumps({re.sub("-[^-]{5}$", "", k): v["live"] for k, v in d.items() if k.split("|")[0] not in (
		"leases.coordination.k8s.io", "events") }, indent=1, sort_keys=True)' |
		sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]+Z/TIME/g; s/(perceiver-p4d(-[0-9])?)-[a-z0-9]{5}"/\1-END"/
			/"(resourceVersion|generation|uid|(batch.kubernetes.io.)?controller-uid)"/d'
}
# golden NAME: standard input is tests/golden/deploy/NAME.
golden() {
	cat >got
	[ -z "${BLESS:-}" ] || cp got "$ROOT/tests/golden/deploy/$1"
	diff "$ROOT/tests/golden/deploy/$1" got
}
calls() { golden "$1.calls" <"$FAKEKUBE/calls"; }
# refused NAME STATUS [ARGS...]: deploy fails with that status and the golden message.
refused() {
	local name=$1 wanted=$2
	shift 2
	run --separate-stderr deploy --progress none "$@"
	# shellcheck disable=SC2154  # bats sets stderr
	sed -E "s|$WORK|WORK|g; s/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]+Z/TIME/g" <<<"$stderr" | golden "$name.err"
	[ "$status" -eq "$wanted" ]
}

@test "calls: a first deploy" {
	cp whole.yaml slipway.yaml
	deploy
	calls first
}

@test "calls: a deploy that has nothing to do" {
	deploy
	: >"$FAKEKUBE/calls"
	deploy
	calls again
}

@test "calls: a target that left the spec" {
	deploy
	sed -i '/^  g5g:/d' slipway.yaml
	: >"$FAKEKUBE/calls"
	deploy
	calls prune
}

@test "calls: failover over four targets" {
	capacity trn1=none p4d=none g5=none
	deploy
	calls failover
}

@test "calls: undeploy" {
	deploy
	: >"$FAKEKUBE/calls"
	"$SLIPWAY" undeploy --yes
	calls undeploy
}

@test "failover: the fourth target has capacity, and the others are told with their causes" {
	capacity trn1=none p4d=none g5=none
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"job g5g: "* ]]
	[[ $output == *"InsufficientInstanceCapacity"* ]]
	[ "$(jobs_there)" = "['perceiver-g5g']" ]
	[ "$(attempts)" = "trn1:no-capacity p4d:no-capacity g5:no-capacity g5g:running" ]
	[[ $(state 'd["reason"]') == "after g5: no capacity for 0s: "* ]]
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"nothing to do"* ]]
}

@test "failover: no target has capacity: status 6, a table, and no job left" {
	capacity trn1=none p4d=none g5=none g5g=none
	run deploy
	[ "$status" -eq 6 ]
	[[ $output == *"none of the 4 targets has capacity"* ]]
	[ "$(grep -c 'no-capacity  *no capacity for 0s: ' <<<"$output")" -eq 4 ]
	[ "$(jobs_there)" = "[]" ]
	run --separate-stderr deploy --output json
	[ "$status" -eq 6 ]
	[ "$(json 'd["error"]["code"], d["moves"], d["state"]["attempts"][-1]["outcome"]' <<<"$output")" = "('capacity', 4, 'no-capacity')" ]
}

@test "failover: --keep-trying goes round until one has capacity" {
	capacity trn1=none,none,none p4d=none,none,runs g5=none g5g=none
	run deploy --keep-trying
	[ "$status" -eq 0 ]
	[ "$(jobs_there)" = "['perceiver-p4d']" ]
	[ "$(state 'd["cycle"]')" = 2 ]
	[ "$(grep -c 'starting over in 0 s' <<<"$output")" -eq 2 ]
}

@test "failover: --keep-trying ends at --timeout" {
	capacity trn1=none p4d=none g5=none g5g=none
	run deploy --keep-trying --timeout 1 --set fleet.failover.backoff=1h
	[ "$status" -eq 6 ]
}

@test "failover: pods that have no node for long are enough, whoever says why" {
	capacity trn1=silent p4d=boot
	run deploy --set fleet.failover.unschedulable=0s --set fleet.failover.boot=0s
	[ "$status" -eq 0 ]
	[ "$(attempts)" = "trn1:no-capacity p4d:no-capacity g5:running" ]
	[[ $output == *"nodes did not become ready for 0s: Registered: Node not registered with cluster"* ]]
}

@test "failover: pods that cannot start are no matter of capacity" {
	capacity trn1=image
	run deploy --set fleet.failover.boot=0s
	[ "$status" -eq 1 ]
	[[ $output == *"ErrImagePull: manifest unknown"*"Another target would not help"* ]]
	[ "$(jobs_there)" = "['perceiver-trn1']" ]
}

@test "failover: a job that has begun is never moved" {
	capacity trn1=half
	run deploy --set fleet.failover.boot=0s --set fleet.failover.unschedulable=0s
	[ "$status" -eq 5 ]
	[[ $output == *"1 of 2 pods run"* ]]
	[ "$(jobs_there)" = "['perceiver-trn1']" ]
	# Even when none of its pods are left and there is no capacity for new ones.
	printf '[{"match": "get -f", "set": {"pods|perceiver|perceiver-trn1-worker-0": null}}]' >"$FAKEKUBE/faults.json"
	run deploy --set fleet.failover.boot=0s --set fleet.failover.unschedulable=0s
	[ "$status" -eq 5 ]
	[ "$(attempts)" = "trn1:running" ]
}

@test "failover: --job, --no-failover and the spec stay with one target until --timeout" {
	capacity trn1=none g5=none
	run deploy --job g5 --timeout 1
	[ "$status" -eq 6 ]
	[[ $output == *"g5: not running in time: "*"InsufficientInstanceCapacity"* ]]
	[ "$(jobs_there)" = "['perceiver-g5']" ]
	rm "$FAKEKUBE/objects.json"
	run deploy --no-failover --timeout 1
	[ "$status" -eq 6 ]
	run deploy --set fleet.failover.enabled=false --timeout 1
	[ "$status" -eq 6 ]
	[ "$(jobs_there)" = "['perceiver-trn1']" ]
	# Without that it goes on with the next.
	run deploy
	[ "$status" -eq 0 ]
	[ "$(attempts)" = "trn1:no-capacity p4d:running" ]
}

@test "failover: --no-wait returns when the job is started" {
	capacity trn1=none
	run deploy --no-wait
	[ "$status" -eq 0 ]
	[ "$(attempts)" = "trn1:starting" ]
}

@test "failover: --wait tells how the job ended" {
	capacity trn1=ends
	run deploy --wait
	[ "$status" -eq 0 ]
	[[ $output == *"trn1        has succeeded"* ]]
	[ "$(attempts)" = "trn1:succeeded" ]
	run deploy --wait
	[ "$status" -eq 0 ]
	rm "$FAKEKUBE"/*.json
	capacity trn1=fails
	run deploy --wait
	[ "$status" -eq 8 ]
	[[ $output == *"the job has failed: BackoffLimitExceeded; pod perceiver-trn1-worker-0: OOMKilled, exit status 137"* ]]
	[ "$(attempts)" = "trn1:failed" ]
	# The end of its log, where there is one.
	mkdir "$FAKEKUBE/logs"
	seq -f 'step %g' 1 20 >"$FAKEKUBE/logs/perceiver-trn1-worker-0"
	printf 'out of\033[31m memory\n' >>"$FAKEKUBE/logs/perceiver-trn1-worker-0"
	run deploy --wait
	[ "$status" -eq 8 ]
	[[ $output == *"trn1        perceiver-trn1-worker-0 | step 20"*"perceiver-trn1-worker-0 | out of?[31m memory"* ]]
	[[ $output != *"| step 11"* ]]
}

@test "failover: each kind of job is understood" {
	local kind
	for kind in job jobset mpi; do
		rm -f "$FAKEKUBE"/*.json
		capacity trn1=none
		run deploy --set "job.scheduler=$kind" --set 'job.command=[trainer]'
		[ "$status" -eq 0 ]
		[ "$(attempts)" = "trn1:no-capacity p4d:running" ]
		[ "$(objects '[k for k in d if k.endswith("|perceiver-trn1") and k.split("|")[1]]')" = "[]" ]
	done
}

@test "failover: without the right to see nodes and events, time alone tells" {
	capacity trn1=none
	printf '[%s, %s]' '{"match": "get nodeclaims", "times": 9, "stderr": "Error from server (Forbidden): no"}' \
		'{"match": "get events", "times": 9, "stderr": "Error from server (Forbidden): no"}' >"$FAKEKUBE/faults.json"
	run deploy --set fleet.failover.unschedulable=0s
	[ "$status" -eq 0 ]
	[ "$(attempts)" = "trn1:no-capacity p4d:running" ]
}

@test "resume: killed after any call, the next run ends where an undisturbed one does" {
	# A smaller fleet yet, for every call is tried; the failover is in the middle of it.
	sed -i '/^  g5/d; s/volcano/job/' slipway.yaml
	capacity trn1=none
	deploy
	settled >wanted
	n=$(wc -l <"$FAKEKUBE/calls")
	[ "$n" -gt 25 ]
	for ((i = 1; i < n; i += n / $(series "$n"))); do
		rm -f "$FAKEKUBE"/*
		capacity trn1=none
		FAKEKUBE_KILL=$i run deploy
		[ "$status" -eq 137 ]
		run deploy
		[ "$status" -eq 0 ] || { echo "after call $i: $output"; false; }
		settled >got
		diff wanted got || { echo "after call $i"; false; }
	done
}

@test "one writer: two deploys at once: the second says who is at work, and does nothing" {
	capacity trn1=silent
	"$SLIPWAY" deploy --image-digest "$DIGEST" --interval 100ms >first.out 2>&1 3>&- &
	first=$!
	PIDS+=("$first")
	for ((i = 0; i < 100; i++)); do
		grep -q 'get pods' "$FAKEKUBE/calls" 2>/dev/null && break
		sleep 0.1
	done
	run deploy
	[ "$status" -eq 7 ]
	[[ $output == *"$(hostname)/$first holds the lease of 'perceiver' until "* ]]
	run "$SLIPWAY" undeploy --yes
	[ "$status" -eq 7 ]
	# Ctrl-C gives the lease back, and the state says where to go on.
	kill -INT "$first"
	wait "$first" || true
	[ "$(objects 'd["leases.coordination.k8s.io|perceiver|perceiver-deploy"]["live"]["spec"]["holderIdentity"]')" = "" ]
	[ "$(attempts)" = "trn1:starting" ]
	capacity trn1=runs
	run "$SLIPWAY" undeploy --yes
	[ "$status" -eq 0 ]
}

@test "one writer: of two deploys that start together, one does it and the other says so" {
	deploy >a.out 2>&1 3>&- &
	a=$!
	deploy >b.out 2>&1 3>&- &
	b=$!
	rc_a=0 rc_b=0
	wait "$a" || rc_a=$?
	wait "$b" || rc_b=$?
	# One may also come after the other.
	[[ "$rc_a $rc_b" =~ ^(0 0|0 7|7 0)$ ]]
	[ "$(jobs_there)" = "['perceiver-trn1']" ]
}

@test "one writer: a lease that is taken away stops the deploy" {
	capacity trn1=silent
	deploy --no-wait
	python3 - "$FAKEKUBE/objects.json" <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		spec = d["leases.coordination.k8s.io|perceiver|perceiver-deploy"]["live"]["spec"]
		spec |= {"holderIdentity": "ci-7/42/1/00000000", "renewTime": "2020-01-01T00:00:00.000000Z", "leaseDurationSeconds": 60}
		json.dump(d, open(sys.argv[1], "w"))
	END
	# Somebody else takes the expired lease between our look and our taking it.
	printf '[{"match": "replace", "set": {"leases.coordination.k8s.io|perceiver|perceiver-deploy":
		{"spec": {"holderIdentity": "ci-8/43/1/00000000", "renewTime": "2990-01-01T00:00:00.000000Z"}}}}]' >"$FAKEKUBE/faults.json"
	refused two-deploys 7
}

@test "faults: each is a message with the next step" {
	fault version "error: current-context is not set"
	refused no-cluster 2
	fault version "error: You must be logged in to the server (Unauthorized)"
	refused expired 4
	fault apply 'Error from server (Forbidden): nodepools.karpenter.sh is forbidden: User u cannot patch resource nodepools' ', "nth": 2'
	refused forbidden 4
	rm -f "$FAKEKUBE"/*
	fault apply 'Error from server: admission webhook p.example.com denied the request: no' ', "nth": 3, "after": 2'
	refused webhook 1
	fault apply 'error: Apply failed with 1 conflict: conflict with helm using v1: .spec'
	refused field-manager 1
	FAKEKUBE_MISSING=karpenter refused missing-crds 1
	FAKEKUBE_MINOR=20 refused kubectl-old 1
	KUBECTL=$WORK/none refused kubectl-missing 1
}

@test "faults: a busy server and lost connections are asked again, then told" {
	fault apply 'Error from server (TooManyRequests): the server has received too many requests' ', "times": 2'
	deploy
	fault 'get pods' 'Unable to connect to the server: unexpected EOF'
	deploy
	fault 'get pods' 'error: http2: client connection lost' ', "times": 500'
	refused connection-lost 5 --timeout 3
	fault apply 'Error from server (TooManyRequests): the server has received too many requests' ', "times": 500'
	refused busy-server 5 --timeout 3
}

@test "faults: the job is deleted under our feet" {
	capacity trn1=silent
	printf '[{"match": "get pods", "nth": 2, "set": {"jobs.batch.volcano.sh|perceiver|perceiver-trn1": null}}]' \
		>"$FAKEKUBE/faults.json"
	refused job-deleted 1
	[ "$(attempts)" = "trn1:gone" ]
	capacity trn1=runs
	deploy
	[ "$(attempts)" = "trn1:gone trn1:running" ]
}

@test "faults: a state that cannot be read, another owner's state" {
	deploy
	cp "$FAKEKUBE/objects.json" good.json
	sed -i 's/\\"version\\": 1/\\"version\\": 9/g' "$FAKEKUBE/objects.json"
	refused state-newer 1
	python3 - good.json >"$FAKEKUBE/objects.json" <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		d["configmaps|perceiver|perceiver-deploy-state"]["live"]["metadata"]["labels"]["slipway/owner"] = "other"
		print(json.dumps(d))
	END
	refused state-foreign 1
}

# What the Job in the cluster is told to run, a word a line.
in_pod() { objects '"\n".join(d["jobs.batch|perceiver|perceiver-deploy"]["live"]["spec"]["template"]["spec"]["containers"][0]["args"])'; }

@test "in-cluster: rights, spec and Job are applied, and what the Job runs does the rest" {
	capacity trn1=none
	IMAGE=example.com/deployer@$DIGEST
	run "$SLIPWAY" deploy --image-digest "$DIGEST" --in-cluster --keep-trying --interval 0s \
		--set "fleet.failover.image=$IMAGE" --set fleet.failover.after=0s
	[ "$status" -eq 0 ]
	[[ $output == *"the deploy continues in the cluster"* ]]
	[ "$(jobs_there)" = "[]" ]
	objects 'd["configmaps|perceiver|perceiver-deploy"]["live"]["data"]["slipway.yaml"]' | diff -B - slipway.yaml
	objects 'json.dumps([v["live"]["rules"] for k, v in sorted(d.items()) if "roles.rbac" in k.split("|")[0] and
		k.endswith("-deploy")], indent=1)' | golden in-cluster.rules
	# As the pod would: its spec is elsewhere, the rest is the same.
	in_pod | grep -qFx -- --job-only
	mkdir pod
	objects 'd["configmaps|perceiver|perceiver-deploy"]["live"]["data"]["slipway.yaml"]' >pod/slipway.yaml
	mapfile -t words < <(in_pod | sed "s|/etc/slipway|$WORK/pod|")
	: >"$FAKEKUBE/calls"
	run timeout 300 "$SLIPWAY" "${words[@]}" 3>&- &
	pid=$!
	until [ "$(attempts 2>/dev/null)" = "trn1:no-capacity p4d:running" ] || ! kill -0 "$pid"; do sleep 0.1; done
	# It waits for the job's end.
	printf '[{"match": "get -f", "set": {"jobs.batch.volcano.sh|perceiver|perceiver-p4d":
		{"status": {"state": {"phase": "Completed"}}}}}]' >"$FAKEKUBE/faults.json"
	wait "$pid"
	[ "$(attempts)" = "trn1:no-capacity p4d:succeeded" ]
	# Nothing that its rights do not allow.
	run ! grep -E '^get (namespaces|.* -A)|^api-resources' "$FAKEKUBE/calls"
	run "$SLIPWAY" undeploy --yes
	[ "$status" -eq 0 ]
	[ "$(objects '[k for k in d if "deploy" in k]')" = "[]" ]
}

@test "in-cluster: a second one takes the place of the first" {
	capacity trn1=silent
	IMAGE=example.com/deployer@$DIGEST
	deploy --in-cluster --set "fleet.failover.image=$IMAGE"
	run deploy --in-cluster --set "fleet.failover.image=$IMAGE" --keep-trying
	[ "$status" -eq 0 ]
	in_pod | grep -qFx -- --keep-trying
	grep -q '^delete --raw /apis/batch/v1/namespaces/perceiver/jobs/perceiver-deploy ' "$FAKEKUBE/calls"
}

@test "in-cluster: what a pod cannot do is refused" {
	refused in-cluster-image 2 --in-cluster
	refused in-cluster-tag 2 --in-cluster --set fleet.failover.image=example.com/deployer:v1
	# shellcheck disable=SC2016  # the spec's variable, not ours
	sed -i 's/args: \[train/args: ["${env:HOME}"/' slipway.yaml
	refused in-cluster-env 1 --in-cluster --set "fleet.failover.image=example.com/deployer@$DIGEST"
	[ ! -e "$FAKEKUBE/calls" ]
}

@test "options: what contradicts itself is refused" {
	refused wait-no-wait 2 --wait --no-wait
	refused keep-trying-one 2 --keep-trying --job g5
	refused interval 2 --interval soon
	[ ! -e "$FAKEKUBE/calls" ]
}

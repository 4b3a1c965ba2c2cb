#!/usr/bin/env bats
# deploy and undeploy against a stand-in for kubectl that keeps its objects on disk.

load lib
DIGEST=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
setup() {
	common_setup
	own_spec >slipway.yaml
	export KUBECTL=$ROOT/tests/servers/fakekubectl FAKEKUBE=$WORK/kube
	mkdir "$FAKEKUBE"
}
teardown() { common_teardown; }

deploy() { "$SLIPWAY" deploy --image-digest "$DIGEST" "$@"; }
calls() { cat "$FAKEKUBE/calls"; }
objects() { json "$1" <"$FAKEKUBE/objects.json"; }
# All objects, without the lease: who holds it changes with every run.
but_the_lease() { objects 'json.dumps({k: v for k, v in d.items() if not k.startswith("leases")}, indent=1)'; }
# fault MATCH STDERR [MORE]: kubectl fails there; MORE is a piece of JSON.
fault() { printf '[{"match": "%s", "stderr": "%s"%s}]' "$1" "$2" "${3:-}" >"$FAKEKUBE/faults.json"; }

@test "deploy: every stage in order, one job, by digest" {
	run deploy
	[ "$status" -eq 0 ]
	[ "$(awk '/ created, / {print $1}' <<<"$output" | paste -sd' ')" = "namespace karpenter devices storage monitoring jobs" ]
	[[ $output == *"job trn1: "*"@$DIGEST"* ]]
	[ "$(objects '[k.split("|")[2] for k in d if k.startswith("jobs.batch.volcano.sh")]')" = "['perceiver-trn1']" ]
	[ "$(objects '[k for k in d if k.startswith("mpijobs")]')" = "[]" ]
	objects 'json.dumps(d)' | grep -qF "@$DIGEST"
}

@test "deploy: a second run changes nothing and says so" {
	deploy
	but_the_lease >before
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"nothing to do: the cluster matches the spec"* ]]
	but_the_lease | cmp before -
}

@test "deploy: what left the spec goes, its data does not" {
	deploy
	sed -i '/^  g5g:/d' slipway.yaml
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"NodePool perceiver-g5g is no longer in the spec: deleted"* ]]
	sed -i '/^storage:/,/^job:/{/^job:/!d}' slipway.yaml
	run deploy
	[ "$status" -eq 0 ]
	[ "$(objects '"persistentvolumeclaims|perceiver|perceiver-data" in d')" = True ]
	[ "$(objects '"nodepools.karpenter.sh||perceiver-g5g" in d')" = False ]
}

@test "deploy: a changed job is a new run, which rollback takes back, and a Job's pods are never changed in place" {
	local kind
	for kind in job volcano; do
		rm -f "$FAKEKUBE"/*
		deploy --set "job.scheduler=$kind"
		run deploy --set "job.scheduler=$kind" --set job.grace=77 --diff
		[ "$status" -eq 1 ]
		[[ $output == *"replace Job perceiver/perceiver-trn1 (jobs): run 2 takes the place of run 1"*"terminationGracePeriodSeconds"*"- 120"*"+ 77"* ]]
		run deploy --set "job.scheduler=$kind" --set job.grace=77
		[ "$status" -eq 0 ]
		[[ $output == *"trn1        run 2 takes the place of run 1"* ]]
		run "$SLIPWAY" rollback
		[ "$status" -eq 0 ]
		[[ $output == *"job trn1: run 3: "*"@$DIGEST"*"the spec has not changed"* ]]
		run "$SLIPWAY" rollback --to 3
		[ "$status" -eq 0 ]
		[[ $output == *"run 3, as it was"* ]]
		run "$SLIPWAY" rollback --list
		[ "$(awk 'NR > 1 {print $1}' <<<"$output" | paste -sd' ')" = "1 2 3" ]
	done
	run "$SLIPWAY" rollback --to 9
	[ "$status" -eq 1 ]
	[[ $output == *"run 9 is not recorded: the last 5 runs are kept"* ]]
}

@test "deploy: a new image renews a preparation that has it too, and a dry run says so" {
	local other=sha256:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff
	sed -i 's|^    mount: /data|&\n    prepare: {command: [slipway-trainer, prepare]}|' slipway.yaml
	deploy
	cp "$FAKEKUBE/objects.json" before
	run "$SLIPWAY" deploy --image-digest "$other" --diff
	[ "$status" -eq 1 ]
	[[ $output == *"create Job perceiver/perceiver-prepare (storage)"*"replace Job perceiver/perceiver-trn1 (jobs)"* ]]
	cmp before "$FAKEKUBE/objects.json"
	run "$SLIPWAY" deploy --image-digest "$other"
	[ "$status" -eq 0 ]
	[[ $output == *"storage     1 created, 0 changed, "*"run 2 takes the place of run 1"* ]]
	[ "$(objects '[k for k in d if "dry-run" in k]')" = "[]" ]
}

@test "deploy: another target's job is refused while one is there, and a plain run stays with it" {
	deploy --job g5
	run deploy --job p4d
	[ "$status" -eq 1 ]
	[[ $output == *"the job of 'g5' is in the cluster"* ]]
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"nothing to do"* ]]
}

@test "deploy: --dry-run=client asks nobody, --dry-run=server changes nothing" {
	run "$SLIPWAY" deploy --dry-run=client
	[ "$status" -eq 0 ]
	[ ! -e "$FAKEKUBE/calls" ]
	run deploy --dry-run=server
	[ "$status" -eq 0 ]
	[[ $output == *"would run trn1"* ]]
	[ ! -e "$FAKEKUBE/objects.json" ]
	run deploy --dry-run=sometimes
	[ "$status" -eq 2 ]
}

@test "deploy: missing operators are named with their command, and nothing is applied" {
	FAKEKUBE_MISSING=karpenter run deploy
	[ "$status" -eq 1 ]
	[[ $output == *"Karpenter is missing: "*"helm upgrade --install karpenter"* ]]
	[ ! -e "$FAKEKUBE/objects.json" ]
}

@test "deploy: no cluster, expired credentials, no right: told with the next step" {
	fault version "error: current-context is not set"
	run deploy
	[ "$status" -eq 2 ]
	[[ $output == *"Choose a cluster"* ]]
	fault version "error: You must be logged in to the server (Unauthorized)"
	run deploy
	[ "$status" -eq 4 ]
	[[ $output == *"access entry"* ]]
	fault apply 'Error from server (Forbidden): x is forbidden: User u cannot patch resource nodepools' ', "nth": 2'
	run deploy
	[ "$status" -eq 4 ]
	[[ $output == *"stage karpenter: 0 of 8 objects applied"*"cannot patch resource nodepools"* ]]
}

@test "deploy: kubectl that is missing or too old is told" {
	KUBECTL=$WORK/none run deploy
	[ "$status" -eq 1 ]
	[[ $output == *"Install kubectl 1.24 or newer"* ]]
	FAKEKUBE_MINOR=20 run deploy
	[ "$status" -eq 1 ]
	[[ $output == *"kubectl 1.20 is too old"* ]]
}

@test "deploy: a busy server is asked again" {
	fault apply "Error from server (TooManyRequests): the server has received too many requests"
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"trying again in 1 s"* ]]
}

@test "deploy: another manager's field is a conflict that names it, and can be taken" {
	fault apply "error: Apply failed with 1 conflict: conflict with helm using v1: .spec"
	run deploy
	[ "$status" -eq 1 ]
	[[ $output == *"conflict with helm"*"--force-conflicts"* ]]
	deploy --force-conflicts
	calls | grep -qF -- "-o json --force-conflicts"
}

@test "deploy: a webhook's refusal is told with how far it came, and the next run goes on" {
	fault apply "Error from server: admission webhook p.example.com denied the request: no" ', "nth": 3, "after": 2'
	run deploy
	[ "$status" -eq 1 ]
	[[ $output == *"stage devices: 2 of 6 objects applied"* ]]
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"devices     4 created, 0 changed, 2 unchanged"* ]]
}

@test "deploy: an object of another owner is refused before its stage is sent" {
	deploy
	sed -i 's/"slipway\/owner": "perceiver"/"slipway\/owner": "other"/g' "$FAKEKUBE/objects.json"
	: >"$FAKEKUBE/calls"
	run deploy
	[ "$status" -eq 1 ]
	[[ $output == *"Namespace 'perceiver' belongs to 'other'"* ]]
	run ! grep -q '^apply' "$FAKEKUBE/calls"
}

@test "deploy: what does not become ready in time is named, and the next run goes on" {
	echo NodePool >"$FAKEKUBE/stuck"
	run deploy --timeout 1
	[ "$status" -eq 5 ]
	[[ $output == *"stage karpenter: not ready in time: NodePool 'perceiver-trn1': not Ready"* ]]
	rm "$FAKEKUBE/stuck" "$FAKEKUBE/objects.json"
	deploy
}

@test "deploy: a run that was killed is gone on with" {
	killed_after 0.6 "$SLIPWAY" deploy --image-digest "$DIGEST"
	run deploy
	[ "$status" -eq 0 ]
	run deploy
	[[ $output == *"nothing to do"* ]]
}

@test "undeploy: shows and refuses without --yes" {
	deploy
	cp "$FAKEKUBE/objects.json" before
	run "$SLIPWAY" undeploy
	[ "$status" -eq 2 ]
	[[ $output == *"nothing was deleted"* ]]
	cmp before "$FAKEKUBE/objects.json"
}

@test "undeploy: the job, the claim, the pools, the plugins, the namespace, in this order" {
	deploy
	run "$SLIPWAY" undeploy --yes
	[ "$status" -eq 0 ]
	[[ $output == *"eksctl delete cluster --name perceiver"* ]]
	# The claim's class retains its volume: what is in it outlives the fleet, and is told.
	[[ $output == *"file system fs-0123456789abcdef0 (volume pvc-"*" is retained)"* ]]
	[ "$(objects '[k.split("|")[0] for k in d]')" = "['persistentvolumes']" ]
	order=$(calls | awk -F'[/ ]' '$1 == "delete" {kind = $2 == "--raw" ? $(NF - 3) : $2; sub(/[.].*/, "", kind); print kind} /^get nodes/ {print "awaited-nodes"}' | uniq | paste -sd' ')
	[[ $order == *jobs*persistentvolumeclaims*nodepools*awaited-nodes*ec2nodeclasses*daemonsets*namespaces* ]]
}

@test "undeploy: --keep-data leaves the claim, its driver and the namespace" {
	deploy
	run "$SLIPWAY" undeploy --yes --keep-data
	[ "$status" -eq 0 ]
	[[ $output == *"kept because of --keep-data"* ]]
	[ "$(objects '"persistentvolumeclaims|perceiver|perceiver-data" in d and "namespaces||perceiver" in d')" = True ]
	[ "$(objects '"daemonsets.apps|kube-system|fsx-csi-node" in d')" = True ]
	[ "$(objects '[k for k in d if k.startswith("nodepools")]')" = "[]" ]
}

@test "undeploy: what others put into the namespace keeps it, untouched" {
	deploy
	python3 - "$FAKEKUBE/objects.json" <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		o = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "guest", "namespace": "perceiver"}}
		d["pods|perceiver|guest"] = {"live": o}
		json.dump(d, open(sys.argv[1], "w"))
	END
	run "$SLIPWAY" undeploy --yes
	[ "$status" -eq 0 ]
	[[ $output == *"namespace perceiver: it holds objects of other owners"* ]]
	[ "$(objects '[k for k in sorted(d) if "|perceiver" in k]')" = "['configmaps|perceiver|kube-root-ca.crt', 'namespaces||perceiver', 'pods|perceiver|guest', 'serviceaccounts|perceiver|default']" ]
}

@test "deploy: the real kubectl understands the call and finds no cluster" {
	need kubectl
	KUBECTL=kubectl KUBECONFIG=$WORK/none run deploy
	[ "$status" -eq 2 ]
	[[ $output == *"aws eks update-kubeconfig"* ]]
}

#!/usr/bin/env bats
# What Trainium runs is compiled before a node of it is paid for: deploy, fail-over and status, against a stand-in for
# kubectl. Nothing compiles here: the stand-in says how the Job ends.

load lib
DIGEST=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
CARRIED='fleet.trn1.compiler={image: "h.io/compiler:1", slipway: "h.io/slipway:1"}'

setup() {
	common_setup
	sed '/^monitoring:/,$d; s/  network_test:.*//; s/scheduler: volcano/scheduler: job/; /^  g5/d' "$ROOT/slipway.yaml" >slipway.yaml
	export KUBECTL=$ROOT/tests/servers/fakekubectl FAKEKUBE=$WORK/kube
	mkdir -p "$FAKEKUBE/logs/job"
}
teardown() { common_teardown; }

deploy() { "$SLIPWAY" deploy --image-digest "$DIGEST" --interval 1s "$@"; }
objects() { json "$1" <"$FAKEKUBE/objects.json"; }
jobs() { objects '[k.split("|")[2] for k in d if k.startswith("jobs.batch|") and "owner" not in k]'; }
fails() { echo '"fails"' >"$FAKEKUBE/compile.json"; }

@test "compile ahead: the Job is there and has ended before the training's is made, and once is enough" {
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"trn1        what its devices run is compiled ahead"* ]]
	made() { objects "d['jobs.batch|perceiver|perceiver-trn1$1']['live']['metadata']['uid']"; }
	[[ $(made -compile) < $(made "") ]]
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"nothing to do"* && $output != *"compiled ahead"* ]]
	# Its time to live is over: a job that runs needs it no more.
	"$KUBECTL" delete job -n perceiver perceiver-trn1-compile >/dev/null
	run deploy
	[[ $output == *"nothing to do"* ]]
}

@test "compile ahead: a compiler that fails is told with its log, and neither this target nor the next is rented" {
	fails
	printf 'slipway-trainer: module 1 of 3: step\nslipway-trainer: error: compiling step failed with status 70\n' \
		>"$FAKEKUBE/logs/job/perceiver-trn1-compile"
	run deploy
	[ "$status" -eq 8 ]
	[[ $output == *"compiling ahead has failed: Job 'perceiver-trn1-compile': it failed"* ]]
	[[ $output == *"its log ends: slipway-trainer: error: compiling step failed with status 70"* ]]
	[[ $output == *'kubectl logs -n perceiver job/perceiver-trn1-compile --all-containers'* ]]
	[[ $(jobs) == *"'perceiver-trn1-compile'"* && $(jobs) != *"'perceiver-trn1'"* && $(jobs) != *p4d* ]]
	# Repaired, and asked for again.
	rm "$FAKEKUBE/compile.json"
	"$KUBECTL" delete job -n perceiver perceiver-trn1-compile >/dev/null
	run deploy
	[ "$status" -eq 0 ]
}

@test "compile ahead: a job that moves there is compiled for then, and not before" {
	sed -i 's/weight: 80/weight: 100/; 0,/weight: 100/s//weight: 80/' slipway.yaml
	echo '{"p4d": "none"}' >"$FAKEKUBE/capacity.json"
	run deploy --set fleet.failover.after=1s
	[ "$status" -eq 0 ]
	[[ $output == *"p4d"*"trn1        what its devices run is compiled ahead"* ]]
	[[ $(jobs) == *"'perceiver-trn1'"* ]]
}

@test "compile ahead: status says how far it is" {
	echo '"runs"' >"$FAKEKUBE/compile.json"
	printf 'slipway-trainer: module 2 of 3: update\n' >"$FAKEKUBE/logs/job/perceiver-trn1-compile"
	run deploy --timeout 1
	[ "$status" -eq 5 ]
	[[ $output == *"not ready in time: Job 'perceiver-trn1-compile': it has not finished: compiling 2 of 3"* ]]
	run "$SLIPWAY" status
	[ "$status" -eq 9 ]
	[[ $output == *"compile"*"compiling 2 of 3"* ]]
	"$SLIPWAY" status --output json | json '[s["why"] for s in d["stages"] if s["name"] == "compile"]' | grep -qx "\['compiling 2 of 3'\]"
}

@test "compile ahead: through the registry, each pod fetches before it trains" {
	run deploy --set "$CARRIED"
	[ "$status" -eq 0 ]
	pod='["live"]["spec"]["template"]["spec"]'
	[ "$(objects "[c['name'] for c in d['jobs.batch|perceiver|perceiver-trn1-compile']$pod['initContainers']]")" = "['fetch', 'program', 'compile']" ]
	[ "$(objects "d['jobs.batch|perceiver|perceiver-trn1']$pod['initContainers'][0]['args'][:2]")" = "['neff', 'pull']" ]
	objects "d['jobs.batch|perceiver|perceiver-trn1']$pod['containers'][0]['args']" | grep -q "'--device', 'neuron', '--local_ranks', '32', '--cache_dir', '/neff'"
}

@test "compile ahead: undeploy takes the Job and its pool" {
	deploy
	[ "$(objects '"nodepools.karpenter.sh||perceiver-compile" in d')" = True ]
	run "$SLIPWAY" undeploy --yes
	[ "$status" -eq 0 ]
	[ "$(objects '[k for k in d if "compile" in k]')" = "[]" ]
}

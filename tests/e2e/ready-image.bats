#!/usr/bin/env bats
# Jobs of images that others have built, and patches of rendered objects.

load lib
DIGEST=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
setup() {
	common_setup
	export KUBECTL=$ROOT/tests/servers/fakekubectl FAKEKUBE=$WORK/kube
	mkdir "$FAKEKUBE"
}
teardown() { common_teardown; }

deploy() { "$SLIPWAY" deploy --image-digest "$DIGEST" --interval 0s --progress none "$@"; }
objects() { json "$1" <"$FAKEKUBE/objects.json"; }
# recipes: the specifications of docs/HOWTO.md that have no section image, as NAME.yaml.
recipes() {
	awk '/^```yaml$/ {n++; on = 1; next} /^```$/ {on = 0} on {print >n ".txt"}' "$ROOT/docs/HOWTO.md"
	local file
	grep -LE '^image:' ./*.txt | while read -r file; do
		mv "$file" "$(sed -n 's/^name: //p' "$file").yaml"
	done
	rm ./*.txt
}
# fleet: this repository's own, without storage and exporters, and with patches.
fleet() {
	sed '/^storage:/,/^job:/{/^job:/!d}; /^monitoring:/,$d; s/  network_test:.*//; s/scheduler: volcano/scheduler: job/' \
		<(own_spec) >slipway.yaml
	cat >>slipway.yaml
}

@test "ready image: every recipe of docs/HOWTO.md is rendered and deployed" {
	recipes
	[ "$(ls ./*.yaml)" = "$(printf './%s.yaml\n' bert compile-ahead llm nccl notebooks vision)" ]
	local file name
	for file in *.yaml; do
		name=${file%.yaml}
		"$SLIPWAY" render -f "$file" --job all >"$name.out"
		run deploy -f "$file" --no-wait
		echo "$file: $output"
		[ "$status" -eq 0 ]
		[[ $output == *"job "*"@$DIGEST"* ]]
	done
	# What makes each of them what it is.
	# shellcheck disable=SC2016 # the kubelet's variable
	grep -q -- '--nproc-per-node=$(NPROC_PER_NODE)' vision.out
	grep -q 'aws.amazon.com/neuron: "16"' bert.out
	grep -q 'sshAuthMountPath: /root/.ssh' nccl.out
	[ "$(grep -c 'name: http' llm.out)" -eq 2 ]
	grep -q 'nvidia.com/gpu.shared: "1"' notebooks.out
}

@test "ready image: what builds or pushes says that there is nothing to build" {
	recipes
	local command
	for command in "build" "push" "iam push"; do
		# shellcheck disable=SC2086 # two words
		run "$SLIPWAY" $command -f vision.yaml
		echo "$output"
		[ "$status" -eq 2 ]
		[[ $output == *"'vision.yaml' describes no image: its job runs the ready image"* ]]
	done
}

@test "patches: a move to the next target keeps them" {
	fleet <<-'YAML'
		patches:
		  - {kind: Job, name: perceiver-*, merge: {spec: {template: {metadata: {annotations: {example.com/team: vision}}}}}}
		  - {kind: NodePool, name: perceiver-*, json: [{op: replace, path: /spec/disruption/consolidateAfter, value: 2h}]}
	YAML
	echo '{"trn1": ["none"], "p4d": ["runs"]}' >"$FAKEKUBE/capacity.json"
	run deploy --set fleet.failover.after=0s --set fleet.failover.backoff=0s
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(objects 'sorted(k.split("|")[2] for k in d if k.startswith("jobs.batch|"))')" = "['perceiver-p4d']" ]
	[ "$(objects 'd["jobs.batch|perceiver|perceiver-p4d"]["live"]["spec"]["template"]["metadata"]["annotations"]["example.com/team"]')" = vision ]
	[ "$(objects '{v["live"]["spec"]["disruption"]["consolidateAfter"] for k, v in d.items() if k.startswith("nodepools")}')" = "{'2h'}" ]
	# And what is there is what the spec says.
	run deploy
	[[ $output == *"nothing to do"* ]]
}

@test "patches: one that names nothing, and one that a job could not live with, are refused before the cluster is asked" {
	fleet <<-'YAML'
		patches:
		  - {kind: Job, name: perceiver-trn9, merge: {spec: {suspend: true}}}
	YAML
	local line command
	line=$(grep -n trn9 slipway.yaml | cut -d: -f1)
	for command in render deploy explain "deploy --dry-run=client"; do
		# shellcheck disable=SC2086 # several words
		run "$SLIPWAY" $command
		echo "$output"
		[ "$status" -eq 3 ]
		[[ $output == *"slipway.yaml:$line:23: error: patches[0].name: no Job is called 'perceiver-trn9'"*"did you mean 'perceiver-trn1'?"* ]]
	done
	run "$SLIPWAY" render --set 'patches=[{kind: NodePool, name: "*", json: [{op: add, path: /spec/template/spec/taints/0, value: {key: a, effect: NoExecute}}]}]'
	[ "$status" -eq 3 ]
	[[ $output == *"patches[0]: the job would never start on trn1: its pods do not tolerate the taint 'a' of the nodes"* ]]
	[ ! -e "$FAKEKUBE/calls" ]
}

@test "patches: what is rendered in part is patched, and says which line of the spec did it" {
	fleet <<-'YAML'
		patches:
		  - {kind: NodePool, name: perceiver-g5, merge: {spec: {weight: 7}}}
	YAML
	"$SLIPWAY" render --only karpenter >pools.yaml
	grep -q "^  weight: 7  # slipway.yaml:$(grep -n 'weight: 7' slipway.yaml | cut -d: -f1) patches\[0\].merge$" pools.yaml
	"$SLIPWAY" render -o out >/dev/null
	grep -q '^  weight: 7 ' out/10-karpenter/g5.yaml
	"$SLIPWAY" render --only jobs >jobs.yaml
}

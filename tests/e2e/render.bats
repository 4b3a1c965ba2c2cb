#!/usr/bin/env bats
# The fleet on the command line: render, explain, instances.

load lib
setup() { common_setup; cp "$ROOT/tests/golden/fleet/all.yaml" slipway.yaml; }
teardown() { common_teardown; }

# tree DIR: every file's name and content, as one text.
tree() { (cd "$1" && find . -type f | LC_ALL=C sort | xargs sha256sum); }

@test "render: standard output is what kubectl applies, without what is for others" {
	run "$SLIPWAY" render
	[ "$status" -eq 0 ]
	[[ $output == *"kind: NodePool"* ]]
	[[ $output != *"eksctl.io"* ]]
	[[ $output != *"AWSTemplateFormatVersion"* ]]
}

@test "render: --only cluster shows the cluster for eksctl" {
	run "$SLIPWAY" render --only cluster
	[ "$status" -eq 0 ]
	[[ $output == *"kind: ClusterConfig"* ]]
	[[ $output != *"kind: NodePool"* ]]
}

@test "render: --only with a wrong name exits 2 and names the nearest" {
	run "$SLIPWAY" render --only karpentr
	[ "$status" -eq 2 ]
	[[ $output == *"Did you mean --only karpenter?"* ]]
}

@test "render: every form holds the same objects" {
	"$SLIPWAY" render --format list >list.json
	"$SLIPWAY" render --format json >objects.json
	"$SLIPWAY" render >objects.yaml
	n=$(json 'len(d["items"])' <list.json)
	[ "$n" -gt 10 ]
	[ "$(grep -c '^kind: ' objects.yaml)" -eq "$n" ]
	[ "$(grep -c '^  "kind": ' objects.json)" -eq "$n" ]
}

@test "render: a folder per concern, in order, with a kustomization in each" {
	"$SLIPWAY" render -o out
	[ -f out/kustomization.yaml ]
	[ -f out/10-karpenter/trn1.yaml ]
	mapfile -t folders < <(sed -n 's/^  - //p' out/kustomization.yaml)
	[ "${#folders[@]}" -gt 5 ]
	for folder in "${folders[@]}"; do
		mapfile -t files < <(sed -n 's/^  - //p' "out/$folder/kustomization.yaml")
		[ "${#files[@]}" -gt 0 ]
		for file in "${files[@]}"; do [ -f "out/$folder/$file" ]; done
	done
	sed -n 's/^  - //p' out/kustomization.yaml | LC_ALL=C sort -c
}

@test "render: the same spec gives the same bytes, from any folder" {
	"$SLIPWAY" render -o one
	mkdir elsewhere
	(cd elsewhere && "$SLIPWAY" render -f ../slipway.yaml -o two)
	diff -r one elsewhere/two
}

@test "render: a wrong spec exits 3, tells every problem and writes nothing" {
	cp "$ROOT/tests/golden/fleet-errors/all-at-once.yaml" slipway.yaml
	run "$SLIPWAY" render -o out
	[ "$status" -eq 3 ]
	[[ $output == *"slipway.yaml:4:36: error: cluster.zone"* ]]
	[[ $output == *"job.scheduler"* ]]
	[ ! -e out ]
}

@test "render: a wrong spec leaves an earlier rendering as it was" {
	"$SLIPWAY" render -o out
	before=$(tree out)
	run "$SLIPWAY" render -o out --set fleet.g5.weight=200
	[ "$status" -eq 3 ]
	[ "$(tree out)" = "$before" ]
}

@test "render: a smaller fleet removes its own old files and no others" {
	"$SLIPWAY" render -o out
	echo mine >out/60-jobs/mine.yaml
	cp "$ROOT/tests/golden/fleet/minimal.yaml" slipway.yaml
	"$SLIPWAY" render -o out
	[ ! -e out/10-karpenter/trn1.yaml ]
	[ "$(ls out/60-jobs)" = mine.yaml ]
}

@test "render: --only with a folder leaves the other concerns as they were" {
	"$SLIPWAY" render -o out
	before=$(tree out | grep -v karpenter)
	"$SLIPWAY" render -o out --only karpenter --set fleet.g5.weight=55
	[ "$(tree out | grep -v karpenter)" = "$before" ]
	grep -q 'weight: 55' out/10-karpenter/g5.yaml
	"$SLIPWAY" render -o out -f "$ROOT/tests/golden/fleet/minimal.yaml"
	[ ! -e out/60-jobs ]
}

@test "render: a stranger's file in the way exits 1 and stays" {
	mkdir -p out/10-karpenter
	echo mine >out/10-karpenter/p4d.yaml
	run "$SLIPWAY" render -o out
	[ "$status" -eq 1 ]
	[[ $output == *"was not written by slipway"* ]]
	[ "$(cat out/10-karpenter/p4d.yaml)" = mine ]
	[ "$(find out -type f | wc -l)" -eq 1 ]
}

@test "render: a symbolic link in the way is not followed" {
	echo mine >victim
	mkdir -p out
	ln -s ../victim out/kustomization.yaml
	run "$SLIPWAY" render -o out
	[ "$status" -eq 1 ]
	[ "$(cat victim)" = mine ]
}

@test "render: a spec without a cluster is told so" {
	printf 'apiVersion: slipway/v1\nname: a\nimage: {base: docker.io/library/debian:12}\n' >slipway.yaml
	run "$SLIPWAY" render
	[ "$status" -eq 2 ]
	[[ $output == *"Add the sections cluster and fleet, or pipeline."* ]]
}

@test "render: takes under 50 ms" {
	best=$(python3 - "$SLIPWAY" <<-'END'
		import subprocess, sys, time
		times = []
		for _ in range(9):
		    start = time.monotonic()
		    subprocess.run([sys.argv[1], "render"], check=True, stdout=subprocess.DEVNULL)
		    times.append(time.monotonic() - start)
		print(int(min(times) * 1000))
	END
	)
	echo "best of nine: $best ms"
	[ "$best" -lt 50 ]
}

@test "render: of the jobs only the first target's is applied, or the one that is asked for" {
	[ "$("$SLIPWAY" render | grep -c '^kind: Job$')" -eq 2 ] # the job, and the file system's preparation
	"$SLIPWAY" render | grep -q '^  name: perceiver-trn1$'
	"$SLIPWAY" render --only jobs | grep -q '^  name: perceiver-trn1$'
	[ "$("$SLIPWAY" render --only jobs --job g5g | grep '^  name: ')" = "  name: perceiver-g5g" ]
	[ "$("$SLIPWAY" render --only jobs --job all | grep -c '^kind: Job$')" -eq 4 ]
	run "$SLIPWAY" render --job p5
	[ "$status" -eq 2 ]
	"$SLIPWAY" render -o out
	[ "$(sed -n 's/^  - //p' out/60-jobs/kustomization.yaml)" = trn1.yaml ]
	[ -f out/60-jobs/g5g.yaml ]
}

@test "render: no file's name can end a remark" {
	cp slipway.yaml $'x\nkind: Evil'
	run "$SLIPWAY" render -f $'x\nkind: Evil'
	[ "$status" -eq 0 ]
	[[ $output == *"x?kind: Evil"* ]]
	[[ $output != *$'\nkind: Evil'* ]]
}

@test "render: what --set changed is said to be from there" {
	"$SLIPWAY" render --set fleet.g5.weight=55 | grep -q '  weight: 55  # --set fleet.g5.weight$'
}

@test "render: the network test, which would start at once, is rendered by its name alone" {
	[ "$("$SLIPWAY" render | grep -c MPIJob)" -eq 0 ]
	[ "$("$SLIPWAY" render --job all -o out | grep -c nettest)" -eq 0 ]
	"$SLIPWAY" render --only nettest | grep -q '^kind: MPIJob$'
}

@test "render: the end of EKS's support is told by the day, and no byte depends on it" {
	sed 's/  version: "1.35"/  version: "1.34"/' "$ROOT/slipway.yaml" >slipway.yaml
	SOURCE_DATE_EPOCH=$(date -ud 2026-09-01 +%s) "$SLIPWAY" render >early 2>said
	[ ! -s said ]
	SOURCE_DATE_EPOCH=$(date -ud 2026-11-22 +%s) "$SLIPWAY" render >late 2>said
	cmp early late
	grep -q 'slipway.yaml:[0-9]*:[0-9]*: warning: cluster.version: Kubernetes 1.34 leaves EKS.s standard support on 2026-12-02, in 10 days' said
	SOURCE_DATE_EPOCH=$(date -ud 2027-11-22 +%s) "$SLIPWAY" explain 2>&1 >/dev/null | grep -q 'left EKS.s standard support on 2026-12-02'
	SOURCE_DATE_EPOCH=$(date -ud 2026-11-22 +%s) "$SLIPWAY" deploy --dry-run client 2>&1 >/dev/null | grep -q 'leaves EKS.s standard support'
	SOURCE_DATE_EPOCH=tomorrow run "$SLIPWAY" render
	[ "$status" -eq 2 ]
}

@test "explain: tells what a target gets and what comes next" {
	run "$SLIPWAY" explain p4d
	[ "$status" -eq 0 ]
	[[ $output == *"nvidia.com/gpu: 8"* ]]
	[[ $output == *"vpc.amazonaws.com/efa: 4"* ]]
	[[ $output == *"g5 (weight 50), when p4d has no capacity."* ]]
	run "$SLIPWAY" explain trn2
	[ "$status" -eq 2 ]
	[[ $output == *"It has trn1, p4d, g5, g5g"* ]]
}

@test "explain: the figures as JSON, in the order of weight" {
	"$SLIPWAY" explain --output json >targets.json
	[ "$(json '[t["target"] for t in d]' <targets.json)" = "['trn1', 'p4d', 'g5', 'g5g']" ]
	[ "$(json 'd[0]["pod"]["devices"]' <targets.json)" -eq 16 ]
	[ "$("$SLIPWAY" explain g5g --output json | json 'len(d)')" -eq 1 ]
}

@test "instances: filters, as a table and as JSON" {
	run "$SLIPWAY" instances --target g5g
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 7 ]
	n=$("$SLIPWAY" instances --arch arm64 --output json | json 'len(d)')
	[ "$n" -eq 6 ]
	[ "$("$SLIPWAY" instances --device a100 --output json | json 'd[0]["efa"]')" -eq 4 ]
	run "$SLIPWAY" instances --target m5
	[ "$status" -eq 1 ]
}

@test "fleet: every command explains itself" {
	for command in render explain instances; do
		run "$SLIPWAY" "$command" --help
		[ "$status" -eq 0 ]
		[[ $output == *"Usage: slipway $command"* ]]
	done
}

#!/usr/bin/env bats
# What the fleet renders, seen by those who know nothing of slipway: the API servers' schemas, npm's models,
# kubectl, and a reader that checks whether the objects fit each other.

load lib
# Every spec that has a cluster: the other one renders nothing for kubectl (tests/e2e/pipeline.bats reads it).
setup() {
	local spec
	common_setup
	SPECS=("$ROOT"/slipway.yaml)
	for spec in "$ROOT"/tests/golden/fleet/*.yaml; do
		[[ $spec == */pipeline-plain.yaml ]] || SPECS+=("$spec")
	done
}
teardown() { common_teardown; }

# lists: every spec's objects as NAME.json, with the platforms of its image as NAME.platforms.
lists() {
	local spec name
	for spec in "${SPECS[@]}"; do
		name=$(basename "$spec" .yaml)
		"$SLIPWAY" render -f "$spec" --job all --format list "${EVERYTHING[@]}" >"$name.json"
		sed -n 's/^# brought: //p' "$spec" | tr ' ' , >"$name.brought"
		sed -n 's/^ *platforms: *\[\(.*\)\].*/\1/p' "$spec" | tr -d ' ' >"$name.platforms"
	done
	"$SLIPWAY" instances --output json >instances
}

# checked COMMAND...: status 77 of validate-npm means that npm's models are not here.
checked() {
	run "$@"
	echo "$output" | tail -n 20
	[ "$status" -ne 77 ] || skip "${output##*$'\n'}"
	[ "$status" -eq 0 ]
}

@test "objects: every object of every spec is valid by the API servers' schemas, unknown fields refused" {
	lists
	checked "$ROOT/tests/k8s/validate" ./*.json
}

@test "objects: an unknown field, a wrong type and a missing field are found" {
	lists
	checked "$ROOT/tests/k8s/validate" all.json
	for break in 's/"completionMode"/"completionMod"/' 's/"replicas": 2/"replicas": "2"/' 's/"nodeClassRef"/"nodeClassReference"/'; do
		sed "$break" scheduler-job.json all.json | python3 -c 'import json, sys
s, d, items = sys.stdin.read(), json.JSONDecoder(), []
while s.strip():
    doc, end = d.raw_decode(s.lstrip()); s = s.lstrip()[end:]; items += doc["items"]
print(json.dumps({"items": items}))' >broken.json
		run "$ROOT/tests/k8s/validate" broken.json
		[ "$status" -eq 1 ]
	done
}

@test "objects: the cluster is valid by eksctl's schema, templates by CloudFormation's" {
	for spec in "${SPECS[@]}"; do
		"$SLIPWAY" render -f "$spec" --format json -o "out/$(basename "$spec")" >/dev/null
	done
	files=(out/*/00-cluster/*.json out/*/01-account/*.json out/*/30-storage/s3-association.json out/*/40-monitoring/alarms.json)
	[ -e "${files[0]}" ] && [ "${#files[@]}" -gt 40 ]
	checked "$ROOT/tests/k8s/validate" --foreign "${files[@]}"
}

@test "objects: every object is valid by npm's models, unknown fields refused" {
	command -v node >/dev/null || skip "node is not installed"
	run "$ROOT/tests/k8s/install-npm"
	[ "$status" -ne 77 ] || skip "$output"
	lists
	checked "$ROOT/tests/k8s/validate-npm" ./*.json
}

@test "objects: an unknown field is found by npm's models" {
	command -v node >/dev/null || skip "node is not installed"
	run "$ROOT/tests/k8s/install-npm"
	[ "$status" -ne 77 ] || skip "$output"
	"$SLIPWAY" render -f "$ROOT/tests/golden/fleet/all.yaml" --job all --format list | sed 's/"updateStrategy"/"updateStrateg"/' >broken.json
	run "$ROOT/tests/k8s/validate-npm" broken.json
	[ "$status" -ne 77 ] || skip "$output"
	[ "$status" -eq 1 ]
	[[ $output == *updateStrateg* ]]
}

@test "objects: tolerations, devices, platforms, volumes, accounts, selectors and sizes fit each other" {
	lists
	for name in *.platforms; do
		platforms=$(cat "$name")
		run "$ROOT/tests/k8s/consistent" --instances instances --platforms "${platforms:-linux/amd64,linux/arm64}" \
			--brought "$(cat "${name%.platforms}.brought")" "${name%.platforms}.json"
		echo "$output" | tail -n 5
		[ "$status" -eq 0 ]
	done
}

@test "objects: the reader finds each of forty contradictions" {
	lists
	run "$ROOT/tests/k8s/consistent-test" instances all.json
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "objects: a stream has one reader: kubectl, eksctl or CloudFormation" {
	spec=$ROOT/tests/golden/fleet/fsx-association.yaml
	[ "$("$SLIPWAY" render -f "$spec" --only cluster | grep -c '^kind: ')" -eq 1 ]
	[ "$("$SLIPWAY" render -f "$spec" --only account | grep -c '^AWSTemplateFormatVersion: ')" -eq 1 ]
	"$SLIPWAY" render -f "$spec" --only storage --only cluster >stream
	grep -q '^kind: PersistentVolume$' stream
	run grep -E '^AWSTemplateFormatVersion|eksctl.io' stream
	[ "$status" -eq 1 ]
}

@test "objects: random specs render, are valid and fit together" {
	[ -x "$ROOT/${BUILD:-build}/unit/test_fleet" ] || skip "unit tests are not built"
	local n spec
	n=$(series 500)
	mkdir random lists
	(cd "$ROOT" && SLIPWAY_RANDOM_DIR=$WORK/random "${BUILD:-build}/unit/test_fleet" >/dev/null)
	for spec in $(find random -name '*.yaml' | sort | head -n "$n"); do
		"$SLIPWAY" render -f "$spec" --job all --format list "${EVERYTHING[@]}" >"lists/$(basename "$spec" .yaml).json"
	done
	[ "$(find lists -name '*.json' | wc -l)" -eq "$n" ]
	"$SLIPWAY" instances --output json >instances
	run "$ROOT/tests/k8s/consistent" --instances instances lists/*.json
	echo "$output" | tail -n 5
	[ "$status" -eq 0 ]
	checked "$ROOT/tests/k8s/validate" lists/*.json
}

@test "objects: kubectl builds every folder's kustomization, with the same objects as the stream" {
	need kubectl
	for spec in "${SPECS[@]}"; do
		rm -rf out
		"$SLIPWAY" render -f "$spec" -o out >/dev/null
		kubectl kustomize out >built.yaml
		[ "$(grep -c '^kind: ' built.yaml)" -eq "$("$SLIPWAY" render -f "$spec" | grep -c '^kind: ')" ]
	done
}

@test "objects: kubectl reads and names each of them, without a cluster" {
	need kubectl
	# kubectl asks which kinds there are even for a client-side dry run: a stand-in tells it.
	lists
	for spec in "${SPECS[@]}"; do
		name=$(basename "$spec" .yaml)
		rm -f ready
		"$ROOT/tests/servers/kubediscovery" --ready ready "$name.json" 3>&- &
		PIDS+=($!)
		wait_for ready
		"$SLIPWAY" render -f "$spec" --job all "${EVERYTHING[@]}" |
			kubectl --server "http://127.0.0.1:$(cat ready)" --cache-dir "$PWD/kube-$name" create --dry-run=client \
				--validate=false -f - >named.txt
		[ "$(grep -c '(dry run)' named.txt)" -eq "$(json 'len(d["items"])' <"$name.json")" ]
	done
}

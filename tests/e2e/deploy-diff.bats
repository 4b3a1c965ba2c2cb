#!/usr/bin/env bats
# deploy --diff: what deploy would change in the cluster, against the stand-in for kubectl.

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
fault() { printf '[{"match": "%s", "stderr": "%s"%s}]' "$1" "$2" "${3:-}" >"$FAKEKUBE/faults.json"; }

@test "diff: an empty cluster gets everything, and nothing is made" {
	run deploy --diff
	[ "$status" -eq 1 ]
	[[ $output == *"create NodePool perceiver-trn1 (karpenter)"* ]]
	[[ $output == *"create Job perceiver/perceiver-trn1 (jobs)"* ]]
	[ ! -e "$FAKEKUBE/objects.json" ]
}

@test "diff: nothing to change is status 0" {
	deploy >/dev/null
	run deploy --diff
	[ "$status" -eq 0 ]
	[ "$output" = "no difference: the cluster matches the spec" ]
	[ "$(deploy --diff --output json | json 'd["unchanged"], d["changes"], d["pruned"]')" = "(True, [], [])" ]
}

@test "diff: changed fields by path, what is new, what would be pruned; the server's noise is not told" {
	deploy >/dev/null
	python3 - "$FAKEKUBE/objects.json" <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		pool = d["nodepools.karpenter.sh||perceiver-g5"]
		pool["live"]["spec"]["weight"] = 7
		pool["live"]["metadata"]["managedFields"] = [{"manager": "slipway"}]
		json.dump(d, open(sys.argv[1], "w"))
	END
	cp "$FAKEKUBE/objects.json" before
	sed -i '/^  g5g:/d' slipway.yaml
	run deploy --diff
	[ "$status" -eq 1 ]
	diff "$ROOT/tests/golden/deploy/diff" <(printf '%s\n' "$output")
	cmp before "$FAKEKUBE/objects.json"
	run deploy --diff --output json
	[ "$status" -eq 1 ]
	[ "$(json 'd["changes"][0]["fields"], d["pruned"]' <<<"$output")" = "([{'path': 'spec.weight', 'was': 7, 'is': 50}], ['perceiver-g5g', 'perceiver-g5g'])" ]
}

@test "diff: a failure is not taken for a difference" {
	fault version "error: You must be logged in to the server (Unauthorized)"
	run deploy --diff
	[ "$status" -eq 4 ]
	fault apply "Error from server: admission webhook p.example.com denied the request: no"
	run deploy --diff
	[ "$status" -eq 11 ]
	run deploy --diff --dry-run=client
	[ "$status" -eq 2 ]
}

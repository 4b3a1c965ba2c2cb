#!/usr/bin/env bats
# Every object of every spec, as a real API server takes it.

load lib
setup() { plane_setup; }
teardown() { plane_teardown; }

# applied SPEC [JOB]: the server validates every object of a spec as if it were applied; their count goes to the file
# count. Namespaces are
# made for real, since even a dry run looks for them. Objects of an older Karpenter have no definition here: left out.
applied() {
	"$SLIPWAY" render -f "$1" --job all --format list "${EVERYTHING[@]}" | python3 -c '
import json, sys
OLD = ("karpenter.sh/v1beta1", "karpenter.sh/v1alpha5", "karpenter.k8s.aws/v1beta1", "karpenter.k8s.aws/v1alpha1")
items = [o for o in json.load(sys.stdin)["items"] if o["apiVersion"] not in OLD]
spaces = {o["metadata"].get("namespace") for o in items} | {o["metadata"]["name"] for o in items if o["kind"] == "Namespace"}
json.dump({"apiVersion": "v1", "kind": "List", "items": items}, open("objects.json", "w"))
print(len(items))
with open("namespaces", "w") as out:
    out.writelines(f"{s}\n" for s in spaces if s)' >count
	while read -r space; do
		kubectl get namespace "$space" >/dev/null 2>&1 || kubectl create namespace "$space" >/dev/null
	done <namespaces
	kubectl apply --server-side --force-conflicts --validate=strict --dry-run=server -f objects.json >said || return 1
	[ "$(wc -l <said)" -eq "$(cat count)" ]
}

@test "objects: the server takes every object of every spec, unknown fields refused" {
	local spec failed=0 total=0
	for spec in "$ROOT"/slipway.yaml "$ROOT"/tests/golden/fleet/*.yaml; do
		[[ $spec == */pipeline-plain.yaml ]] && continue
		applied "$spec" 2>why || { failed=1 && echo "$(basename "$spec"): $(cat why)"; }
		total=$((total + $(cat count)))
	done
	echo "$total objects"
	[ "$failed" -eq 0 ]
	[ "$total" -gt 300 ]
}

@test "objects: a field that does not exist is refused" {
	"$SLIPWAY" render -f "$ROOT/slipway.yaml" --only karpenter --format list | sed 's/"nodeClassRef"/"nodeClassReference"/' >broken.json
	run kubectl apply --server-side --validate=strict --dry-run=server -f broken.json
	[ "$status" -ne 0 ]
	[[ $output == *nodeClassReference* || $output == *nodeClassRef* ]]
}

@test "tests: none sets a status or makes a pod by hand" {
	run grep -nE -- '[-]-subresource|kind"?: "?Po[d]\b|kubectl ru[n]' "$ROOT"/tests/cluster/*.ba[ts]* "$ROOT"/tests/cluster/*.yaml
	[ "$(grep -v 'resourceRef: {apiGroup: v1' <<<"$output")" = "" ]
}

#!/usr/bin/env bats
# Every object of every spec, as a real API server takes it.

load lib
setup() { plane_setup; }
teardown() { plane_teardown; }

# applied SPEC [JOB]: the server validates every object of a spec as if it were applied; prints how many. Namespaces are
# made for real, since even a dry run looks for them. Objects of an older Karpenter have no definition here: left out.
applied() {
	"$SLIPWAY" render -f "$1" --job all --format list | python3 -c '
import json, sys
items = [o for o in json.load(sys.stdin)["items"] if not o["apiVersion"].endswith(("/v1beta1", "/v1alpha5"))
         or "karpenter" not in o["apiVersion"]]
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
	cat count
}

@test "objects: the server takes every object of every spec, unknown fields refused" {
	local spec failed=0 total=0
	for spec in "$ROOT"/slipway.yaml "$ROOT"/tests/golden/fleet/*.yaml; do
		[[ $spec == */pipeline-plain.yaml ]] && continue
		applied "$spec" >n 2>why || { failed=1 && echo "$(basename "$spec"): $(cat why)"; }
		total=$((total + $(tail -n 1 n)))
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
	run ! grep -nE -- '--subresource[= ]status|kind: Pod$|"kind": "Pod"|kubectl run' "$ROOT"/tests/cluster/*.ba[ts]*
}

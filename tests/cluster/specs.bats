#!/usr/bin/env bats
# Specs that no example shows, and specs that somebody got wrong, as a real API server and scheduler take them. They are
# the same ones each time: tests/cluster/specs writes them. A tenth of each runs in CI, all in the long run.
#
# Alone: what it applies for real is shared by all fleets, and deleted again.

load lib
setup() { plane_setup; }
teardown() {
	taken_back
	kubectl delete namespace amazon-cloudwatch --ignore-not-found
	plane_teardown wait
}

# numbers OF: those of a series that run now.
numbers() {
	local i n step
	n=$(series "$1") step=$(($1 / n))
	for ((i = 0; i < n; i++)); do printf '%02d\n' $((i * step + i % step)); done
}

# objects FILE [OPTIONS...]: what a spec renders, in objects.json and list; the older Karpenters' objects, which have no
# definitions here, are left out.
objects() {
	"$SLIPWAY" render -f "$1" "${@:2}" --format list "${EVERYTHING[@]}" >rendered.json || return
	python3 -c '
import json, sys
old = ("karpenter.sh/v1beta1", "karpenter.sh/v1alpha5", "karpenter.k8s.aws/v1beta1", "karpenter.k8s.aws/v1alpha1")
items = [o for o in json.load(open("rendered.json"))["items"] if o["apiVersion"] not in old]
json.dump({"apiVersion": "v1", "kind": "List", "items": items}, open("objects.json", "w"))
spaces = {o["metadata"].get("namespace") for o in items} | {o["metadata"]["name"] for o in items if o["kind"] == "Namespace"}
print(*sorted(s for s in spaces if s), sep="\n", file=open("namespaces", "w"))
print(len(items))' >count
}

# spaces: the namespaces of objects.json are there, since even a dry run looks for them.
spaces() {
	local space
	while read -r space; do
		kubectl get namespace "$space" >/dev/null 2>&1 || kubectl create namespace "$space" >/dev/null
	done <namespaces
}

# sent [OPTIONS...]: the server takes every object of objects.json, unknown fields refused.
sent() {
	kubectl apply --server-side --force-conflicts --validate=strict "$@" -f objects.json >said || return
	[ "$(wc -l <said)" -eq "$(cat count)" ]
}

# on_pool FLEET TARGET NODES: so many of the job's pods have nodes, all of the target's pool.
on_pool() {
	local i nodes
	for ((i = 0; i < 60; i++)); do
		nodes=$(kubectl get pods -n "$1" -l "slipway/target=$2" -o jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}' | grep -c "^$1-$2" || true)
		((nodes >= $3)) && return
		sleep 1
	done
	echo "$1: $nodes of $3 pods on the pool of $2"
	kubectl get events -A --field-selector type=Warning -o custom-columns=M:.message | grep -F "$1" | tail -n 5
	kubectl get pods -n "$1" -o wide
	return 1
}

# taken_back: what objects.json has goes; a namespace that other specs use as well stays for them.
taken_back() {
	[[ -e objects.json ]] || return 0
	json 'json.dumps(d | {"items": [o for o in d["items"] if o["kind"] != "Namespace" or o["metadata"]["name"] != "amazon-cloudwatch"]})' \
		<objects.json | kubectl delete -f - --wait=false --ignore-not-found >/dev/null
}

# taken FILE: one spec, from its dry run to its pods.
taken() {
	local word target nodes
	objects "$1" --job all && spaces && sent --dry-run=server || return
	read -r _ word target nodes <"$1"
	[[ $word == placed: ]] || target=all
	objects "$1" --job "$target" && sent || return
	[[ $word != placed: ]] || on_pool "$FLEET-$(basename "$1" .yaml)" "$target" "$nodes"
	taken_back
}

@test "specs: the server takes every object of sixty specs, applied for real, and the pods find their nodes" {
	local i failed=0 total=0
	mkdir valid
	"$ROOT/tests/cluster/specs" valid 60 valid "$FLEET"
	for i in $(numbers 60); do
		taken "valid/$i.yaml" 2>why || { failed=$((failed + 1)) && echo "$i: $(grep -v '^Warning' why)"; }
		total=$((total + $(cat count)))
	done
	echo "$total objects, $failed specs refused"
	[ "$failed" -eq 0 ]
	[ "$total" -gt "$(series 600)" ]
}

@test "specs: of a hundred that somebody got wrong, none passes in silence, and none renders what the server refuses" {
	local i how failed=0 refused=0 rendered=0 status
	mkdir mutated
	"$ROOT/tests/cluster/specs" mutated 100 mutated "$FLEET"
	for i in $(numbers 100); do
		how=$(head -n 1 "mutated/$i.yaml")
		status=0
		objects "mutated/$i.yaml" --job all 2>why || status=$?
		if [[ $status == 0 && $how == "# broken"* ]]; then
			failed=$((failed + 1)) && echo "$i: nothing is said of $how"
		elif [[ $status == 0 ]]; then
			rendered=$((rendered + 1))
			{ spaces && sent --dry-run=server; } 2>why || { failed=$((failed + 1)) && echo "$i: $how: $(grep -v '^Warning' why)"; }
		else
			refused=$((refused + 1))
			grep -qE "^mutated/$i.yaml:[0-9]+:[0-9]+: error: " why || { failed=$((failed + 1)) && echo "$i: $how: $(cat why)"; }
		fi
	done
	echo "$refused refused with their place, $rendered rendered, $failed wrongly"
	rm -f objects.json
	[ "$failed" -eq 0 ]
	[ $((refused + rendered)) -eq "$(series 100)" ]
	[ "$refused" -ge "$(series 60)" ]
	[ "$rendered" -gt 0 ]
}

#!/usr/bin/env bats
# The stand-in of the end-to-end tests against what it stands for.

load lib
setup() { plane_setup; }
teardown() {
	kubectl get namespaces -o name | grep contract- | xargs -r kubectl delete --wait=false
	plane_teardown
}

# same STAND-IN [GROUP...]: makes the calls to both, with the ordinary nodes of the plane in the stand-in's cluster too.
same() {
	export FAKEKUBE=$WORK/kube
	mkdir -p "$FAKEKUBE"
	kubectl get nodes ordinary-amd64 ordinary-arm64 -o json | python3 -c '
import json, sys
print(json.dumps([{"apiVersion": "v1", "kind": "Node", "metadata": {k: o["metadata"][k] for k in ("name", "labels")}, "status": o["status"]}
                  for o in json.load(sys.stdin)["items"]]))' | "$ROOT/tests/servers/kubeset"
	"$ROOT/tests/cluster/contract" "$1" kubectl "${@:2}"
}

@test "contract: what the stand-in answers to the same calls, the server answers too" {
	run same "$ROOT/tests/servers/fakekubectl"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(sed -n 's/ calls, 0 answered otherwise//p' <<<"$output")" -ge 60 ]
}

@test "contract: a stand-in that lies is found out" {
	mkdir liar
	cp "$ROOT"/tests/servers/fakekube* liar
	# Whoever applies last is right, what is deleted is gone, and a report is a new generation.
	sed -i 's/^    if found:$/    if False:/' liar/fakekube_apply.py
	sed -i 's/^        stays = meta.*/        stays = False/; s/^        o\["status"\] = status$/&; o["metadata"]["generation"] = self.version/' \
		liar/fakekube_store.py
	CONTRACT_PATIENCE=2 run same "$PWD/liar/fakekubectl" namespaces fields deletion workloads
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"another manager, another value: a conflict"* ]]
	[[ $output == *"it is Terminating"* ]]
	[[ $output == *"they count nodes: no new generation"*"metadata.generation: the server says 1"* ]]
}

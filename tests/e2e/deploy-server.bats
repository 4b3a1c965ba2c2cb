#!/usr/bin/env bats
# deploy against what a server does of its own accord: it refuses pods, takes its time, loses answers. The stand-in does
# here as the server does on the live plane (tests/cluster/contract.bats).

load lib
DIGEST=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
setup() {
	common_setup
	# Less to wait for: the job, its pools and its namespace are what this is about.
	own_spec | sed '/^storage:/,/^job:/{/^job:/!d}; /^monitoring:/,$d; s/  network_test:.*//; /^  g5/d; s/volcano/job/' >slipway.yaml
	export KUBECTL=$ROOT/tests/servers/fakekubectl FAKEKUBE=$WORK/kube
	mkdir "$FAKEKUBE"
}
teardown() { common_teardown; }

# shellcheck disable=SC2119,SC2120 # "run deploy ..." passes them
deploy() { "$SLIPWAY" deploy --image-digest "$DIGEST" --interval 0s "$@"; }
objects() { json "$1" <"$FAKEKUBE/objects.json"; }
live() { objects "d['$1']['live']$2"; }
# lost MATCH NTH: this call is carried out, and its answer is lost.
lost() { printf '[{"match": "%s", "nth": %d, "lost": true, "stderr": "Unable to connect to the server: unexpected EOF"}]' "$1" "$2" >"$FAKEKUBE/faults.json"; }
# applied MANAGER OBJECT: what somebody else applies.
applied() { "$KUBECTL" apply --server-side --field-manager="$1" -f - -o name <<<"$2"; }

@test "deploy: an answer that is lost after the work was done changes nothing" {
	local call
	deploy
	objects '{k: v["live"].get("spec") for k, v in d.items() if k.split("|")[0] in ("nodepools.karpenter.sh", "jobs.batch")}' >wanted
	for call in "create -f:1" "replace -f:1" "apply:4"; do
		rm "$FAKEKUBE"/*
		lost "${call%:*}" "${call#*:}"
		run deploy
		[ "$status" -eq 0 ]
		[ "$(json 'd[0]["times"]' <"$FAKEKUBE/faults.json")" = 0 ]
		objects '{k: v["live"].get("spec") for k, v in d.items() if k.split("|")[0] in ("nodepools.karpenter.sh", "jobs.batch")}' | diff wanted -
	done
}

@test "deploy: a policy that refuses the pods ends at once" {
	printf '[{"resource": "pods", "webhook": "house.example.com", "message": "not of this house"}]' >"$FAKEKUBE/admission.json"
	run deploy --timeout 60
	[ "$status" -ne 0 ]
	[[ $output == *"not of this house"*"A policy of the cluster refuses the pods"* ]]
	[[ $output != *p4d* ]]
}

@test "deploy: a former run that takes its time to leave is awaited" {
	deploy
	uid=$(live "jobs.batch|perceiver|perceiver-trn1" '["metadata"]["uid"]')
	echo Job=4 >"$FAKEKUBE/slow"
	run deploy --set job.grace=77
	[ "$status" -eq 0 ]
	[[ $output == *"run 2 takes the place of run 1"* ]]
	[ "$(live "jobs.batch|perceiver|perceiver-trn1" '["metadata"]["uid"]')" != "$uid" ]
	[ "$(objects '[k for k, v in d.items() if "deletionTimestamp" in v["live"]["metadata"]]')" = "[]" ]
}

@test "deploy: a field that a person has set is a conflict with their name, and is taken when asked to" {
	deploy
	applied a-person '{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "perceiver-trn1"}, "spec": {"limits": {"nodes": "99"}}}' || true
	"$KUBECTL" patch nodepools.karpenter.sh perceiver-p4d --type=merge -p '{"spec": {"weight": 3}}'
	run deploy
	[ "$status" -eq 1 ]
	[[ $output == *'conflict with "kubectl-patch" using karpenter.sh/v1: .spec.weight'*"--force-conflicts"* ]]
	[ "$(live "nodepools.karpenter.sh||perceiver-p4d" '["spec"]["weight"]')" = 3 ]
	deploy --force-conflicts
	[ "$(live "nodepools.karpenter.sh||perceiver-p4d" '["spec"]["weight"]')" != 3 ]
}

@test "deploy: a namespace that is on its way out is awaited, and made anew" {
	"$SLIPWAY" render --only namespace --format list | "$KUBECTL" apply --server-side -f - >/dev/null
	applied others '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "held", "namespace": "perceiver", "finalizers": ["example.com/held"]}}'
	"$KUBECTL" delete namespace perceiver --wait=false
	printf '[{"match": "get namespaces perceiver", "nth": 2, "set": {"configmaps|perceiver|held": null}}]' >"$FAKEKUBE/faults.json"
	run deploy --timeout 60
	[ "$status" -eq 0 ]
	[ "$(live "namespaces||perceiver" '["status"]["phase"]')" = Active ]
	[ "$(objects '"configmaps|perceiver|held" in d')" = False ]
}

@test "deploy: who has no rights is told so, and who has those that rbac prints deploys with no others" {
	FAKEKUBE_USER=alice run deploy
	[ "$status" -eq 4 ]
	[[ $output == *"may be listed"*"slipway rbac"* ]]
	[ ! -e "$FAKEKUBE/objects.json" ]
	"$SLIPWAY" rbac deploy --subject user:alice | python3 -c 'import json, sys, yaml
print(json.dumps({"apiVersion": "v1", "kind": "List", "items": [d for d in yaml.safe_load_all(sys.stdin) if d]}))' |
		"$KUBECTL" apply --server-side -f - >/dev/null
	FAKEKUBE_USER=alice run deploy
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output != *orbidden* ]]
	FAKEKUBE_USER=bob run deploy
	[ "$status" -eq 4 ]
}

@test "deploy: what its controllers report is no change of an object" {
	deploy
	before=$(live "daemonsets.apps|kube-system|neuron-device-plugin" '["metadata"]["generation"]')
	[ "$(live "daemonsets.apps|kube-system|neuron-device-plugin" '["status"]["desiredNumberScheduled"]')" = 2 ]
	[ "$(live "daemonsets.apps|kube-system|nvidia-device-plugin" '["status"]["desiredNumberScheduled"]')" = 0 ]
	run deploy
	[[ $output == *"nothing to do"* ]]
	[ "$(live "daemonsets.apps|kube-system|neuron-device-plugin" '["metadata"]["generation"]')" = "$before" ]
}

@test "deploy: a fleet that comes or leaves while another deploys is not counted as that one's change" {
	local plugin
	deploy
	plugin=$(objects '[k for k in d if k.startswith("daemonsets")][0]')
	printf '[{"match": "apply", "nth": 3, "set": {"%s": {"metadata": {"annotations": {"used-by.slipway/other": "elsewhere"}}}}}]' "$plugin" >"$FAKEKUBE/faults.json"
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"nothing to do"* ]]
	live "$plugin" '["metadata"]["annotations"]' | grep -q used-by.slipway/other
}

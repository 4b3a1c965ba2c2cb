#!/usr/bin/env bats
# Taking a fleet out of a live cluster: what is in the way is named, and time limits hold.

load lib
setup() { plane_setup; }
teardown() { plane_teardown; }

# hold RESOURCE NAME FINALIZER: what a controller that is no more has left on an object.
hold() { kubectl patch "$1" "$2" --type=merge -p "{\"metadata\": {\"finalizers\": [\"$3\"]}}"; }

# holder NAME SECONDS: somebody else holds the fleet's lease from now on, for so long.
holder() {
	kubectl patch lease -n "$FLEET" "$FLEET-deploy" --type=merge -p "{\"spec\": {\"holderIdentity\": \"$1\",
		\"leaseDurationSeconds\": $2, \"renewTime\": \"$(date -u +%Y-%m-%dT%H:%M:%S.000000Z)\"}}"
}

@test "undeploy: each object is told once" {
	spec job
	deploy
	"$SLIPWAY" undeploy --yes >said 2>&1
	[ "$(grep -c "NodePool $FLEET-trn1" said)" -eq 1 ]
	[ -z "$(sed -n 's/^delete //p' said | sort | uniq -d)" ]
	[ "$(grep -c '^delete ' said)" -eq "$(sed -n 's/ objects deleted//p' said)" ]
}

@test "undeploy: the lease of a deploy that was killed elsewhere is waited for, and taken" {
	spec job
	deploy
	holder ci-7/42/1/00000000 20
	run "$SLIPWAY" undeploy --yes
	[ "$status" -eq 0 ]
	[[ $output == *"waiting for a sign of life"* ]]
	[ -z "$(leftovers)" ]
}

@test "undeploy: a deploy that renews its lease elsewhere is not disturbed" {
	spec job
	deploy
	holder ci-7/42/1/00000000 300
	while sleep 2; do holder ci-7/42/1/00000000 300; done >renewed 3>&- &
	PIDS+=($!)
	run "$SLIPWAY" undeploy --yes
	[ "$status" -eq 7 ]
	[[ $output == *"ci-7/42 holds the lease"* ]]
	kubectl get nodepool "$FLEET-trn1"
}

@test "undeploy: --timeout ends the wait, and the finalizer is named with whose it is" {
	spec job
	deploy
	hold nodepool "$FLEET-g5" example.com/audit
	SECONDS=0
	run "$SLIPWAY" undeploy --yes --timeout 20
	[ "$status" -eq 5 ]
	[ "$SECONDS" -lt 60 ]
	[[ $output == *"NodePool '$FLEET-g5': finalizer example.com/audit, for a controller of example.com to remove"* ]]
	# What comes before is gone, what comes after is there.
	run ! kubectl get job -n "$FLEET" "$FLEET-trn1"
	kubectl get ec2nodeclass "$FLEET-g5"
	kubectl patch nodepool "$FLEET-g5" --type=json -p '[{"op": "remove", "path": "/metadata/finalizers"}]'
	run "$SLIPWAY" undeploy --yes
	[ "$status" -eq 0 ]
	[ -z "$(leftovers)" ]
}

@test "undeploy: --force-finalizers removes what nobody serves any more" {
	spec job
	deploy
	hold nodepool "$FLEET-g5" example.com/audit
	run "$SLIPWAY" undeploy --force-finalizers --timeout 5
	[ "$status" -eq 2 ]
	run "$SLIPWAY" undeploy --yes --force-finalizers --timeout 5
	[ "$status" -eq 0 ]
	[[ $output == *"by force: NodePool '$FLEET-g5'"* ]]
	[ -z "$(leftovers)" ]
}

@test "undeploy: a namespace that cannot end says what is left in it" {
	spec job
	deploy
	kubectl create configmap -n "$FLEET" keepsake
	kubectl label configmap -n "$FLEET" keepsake "slipway/owner=$FLEET" app.kubernetes.io/component=jobs
	kubectl create secret generic -n "$FLEET" held
	kubectl patch secret -n "$FLEET" held --type=merge -p '{"metadata": {"finalizers": ["example.com/audit"]}}'
	"$SLIPWAY" undeploy --yes --timeout 300 >said 2>&1 3>&- &
	local undeploy=$!
	# The controller says so when it has deleted the rest.
	kubectl wait --for=condition=NamespaceFinalizersRemaining --timeout=120s "namespace/$FLEET" || { cat said && false; }
	kill -TERM $undeploy
	wait $undeploy || true
	run "$SLIPWAY" undeploy --yes --timeout 5
	[ "$status" -eq 5 ]
	[[ $output == *"Namespace '$FLEET': "*"example.com/audit in 1 resource instances"* ]]
	kubectl patch secret -n "$FLEET" held --type=json -p '[{"op": "remove", "path": "/metadata/finalizers"}]'
}

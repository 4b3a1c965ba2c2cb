#!/usr/bin/env bats
# The roles of `slipway rbac`, used by somebody who has no others: a ServiceAccount with its token.

load lib
setup() { plane_setup; }
teardown() { plane_teardown; }

# grant ACCOUNT PURPOSE...: the roles, applied by the administrator; $PERSON is the account's kubeconfig from now on.
grant() {
	local account=$1 server
	shift
	kubectl create namespace people 2>/dev/null || true
	kubectl create serviceaccount -n people "$account"
	"$SLIPWAY" rbac "$@" --subject "serviceaccount:people/$account" >roles.yaml
	kubectl create namespace "$FLEET" --dry-run=client -o yaml | kubectl apply -f - >applied 2>&1
	kubectl apply --server-side -f roles.yaml >>applied
	server=$(kubectl config view --minify -o jsonpath='{.clusters[0].cluster.server}')
	PERSON=$PWD/$account.kubeconfig
	cat >"$PERSON" <<-YAML
		apiVersion: v1
		kind: Config
		current-context: it
		contexts: [{name: it, context: {cluster: it, user: it}}]
		clusters: [{name: it, cluster: {server: "$server", certificate-authority: $PLANE/certs/apiserver.crt}}]
		users: [{name: it, user: {token: $(kubectl create token -n people "$account")}}]
	YAML
}

# as_person COMMAND...: with the rights of that account alone.
as_person() { KUBECONFIG=$PERSON "$@"; }

# allowed VERB RESOURCE [OPTION...]: may the account do that?
allowed() { as_person kubectl auth can-i "$@" >/dev/null; }

@test "rbac: deploy, status, logs and undeploy run as somebody who has these roles alone" {
	spec job
	grant "$FLEET-all"
	run as_person "$SLIPWAY" deploy --image-digest "$DIGEST" --interval 1s --timeout 300
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output != *[Ff]orbidden* ]]
	run as_person "$SLIPWAY" status
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"2 of 2"* || $output == *running* ]]
	run as_person "$SLIPWAY" logs
	[[ $output != *[Ff]orbidden* ]]
	# Again, without the pools' namesake in the spec: pruning needs rights too.
	run as_person "$SLIPWAY" deploy --image-digest "$DIGEST" --interval 1s --timeout 300
	[[ $output == *"nothing to do"* ]]
	run as_person "$SLIPWAY" undeploy --yes --timeout 300
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output != *[Ff]orbidden* ]]
	# The namespace was the administrator's.
	kubectl get namespace "$FLEET"
	[ "$(leftovers)" = "namespace/$FLEET" ]
}

@test "rbac: fail-over sees what Karpenter reports" {
	no_capacity trn1.32xlarge trn1n.32xlarge
	spec job
	grant "$FLEET-all" deploy
	run as_person "$SLIPWAY" deploy --image-digest "$DIGEST" --interval 1s --timeout 300 --set fleet.failover.after=5s
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"job p4d: "* ]]
	[[ $output == *nsufficient* ]]
	[[ $output != *[Ff]orbidden* ]]
}

@test "rbac: who may look cannot change, and sees the same as the administrator" {
	spec job
	deploy
	grant "$FLEET-eye" status logs
	run as_person "$SLIPWAY" status --output json
	[ "$status" -eq 0 ]
	cat >eye <<<"$output"
	"$SLIPWAY" status --output json >whole
	[ "$(json 'd["stages"]' <eye)" = "$(json 'd["stages"]' <whole)" ]
	[ "$(json 'len(d["job"]["pods"])' <eye)" = 2 ]
	[[ $output != *[Ff]orbidden* ]]
	run as_person "$SLIPWAY" deploy --image-digest "$DIGEST" --set job.priority=10
	[ "$status" -ne 0 ]
	run as_person "$SLIPWAY" undeploy --yes
	[ "$status" -ne 0 ]
	[[ $output == *orbidden* || $output == *"slipway rbac"* ]]
	run ! allowed delete "nodepools.karpenter.sh/$FLEET-trn1"
	run ! allowed get secrets -n "$FLEET"
	kubectl get nodepool "$FLEET-trn1"
}

@test "rbac: the roles reach no other fleet and no secret" {
	spec job
	grant "$FLEET-all"
	allowed patch "nodepools.karpenter.sh/$FLEET-trn1"
	run ! allowed patch nodepools.karpenter.sh/other-trn1
	run ! allowed delete nodes
	run ! allowed get secrets -n "$FLEET"
	run ! allowed create pods -n "$FLEET"
	run ! allowed delete "namespace/$FLEET"
	run ! allowed list secrets -n kube-system
	run ! allowed create rolebindings -n kube-system
	run ! allowed patch clusterroles/cluster-admin
	allowed watch pods -n "$FLEET"
}

@test "rbac: who has no roles is told where they are printed" {
	spec job
	grant "$FLEET-none"
	kubectl delete -f roles.yaml --ignore-not-found >gone
	kubectl create namespace "$FLEET" || true
	run as_person "$SLIPWAY" undeploy --yes
	[ "$status" -eq 4 ]
	[[ $output == *"slipway rbac"* ]]
}

#!/usr/bin/env bats
# Jobs that the cluster does not let run, on a live control plane: quotas, policies, nodes, registries; and how a job that
# failed is told.

load lib
setup() { plane_setup; }
teardown() {
	no_policy
	kubectl delete validatingwebhookconfiguration "$FLEET" --ignore-not-found
	plane_teardown
}

# quota RESOURCE=LIMIT: of the fleet's namespace, which is made with it; in force when this returns.
quota() {
	namespace
	kubectl create quota limited -n "$FLEET" --hard="$1"
	until [ -n "$(kubectl get quota limited -n "$FLEET" -o jsonpath='{.status.hard}')" ]; do sleep 0.2; done
}
# hears TEXT: an event of the fleet's namespace says so.
hears() { kubectl get events -n "$FLEET" -o custom-columns=M:.message | grep -qF "$1"; }
namespace() { kubectl get namespace "$FLEET" || kubectl create namespace "$FLEET"; }

@test "admission: a quota that no target can meet ends at once, is told as what it is, and its cure is enough" {
	spec job
	quota pods=1
	run deploy
	[ "$status" -eq 1 ]
	[[ $output == *"stage jobs: trn1: the cluster refuses its pods: "*"exceeded quota: limited"*"Raise the ResourceQuota"* ]]
	[ "$(attempts)" = "[('trn1', 'refused')]" ]
	# The command as it is printed.
	command=$(printed "kubectl describe ")
	[ "$command" = "kubectl describe -n $FLEET jobs.batch $FLEET-trn1" ]
	$command | grep -q 'exceeded quota'
	kubectl patch quota limited -n "$FLEET" --type=merge -p '{"spec": {"hard": {"pods": "9"}}}'
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"trn1        2 of 2 pods run"* ]]
}

@test "admission: a quota of one target's devices is met by the next target" {
	spec job
	quota requests.aws.amazon.com/neuron=0
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"job p4d: "* ]]
	[ "$(attempts)" = "[('trn1', 'refused'), ('p4d', 'running')]" ]
	[[ $output == *"refused      the cluster refuses its pods: "*"exceeded quota"* ]]
}

@test "admission: a policy that refuses the pods ends at once, whoever makes them" {
	local kind
	for kind in job jobset; do
		spec "$kind"
		namespace
		policy pods "!has(object.metadata.labels) || !('slipway/target' in object.metadata.labels)"
		run deploy
		[ "$status" -eq 1 ]
		[[ $output == *"trn1: the cluster refuses its pods: "*"not of this house"*"change the spec, or ask who owns it"* ]]
		[ "$(attempts)" = "[('trn1', 'refused')]" ]
		no_policy
		"$SLIPWAY" undeploy --yes --timeout 300
		kubectl delete namespace "$FLEET"
	done
}

@test "admission: a webhook that does not answer is waited for, and no other target is tried" {
	spec job
	namespace
	kubectl apply -f - <<-YAML
		apiVersion: admissionregistration.k8s.io/v1
		kind: ValidatingWebhookConfiguration
		metadata: {name: $FLEET}
		webhooks:
		  - name: asleep.example.com
		    clientConfig: {url: "https://127.0.0.1:1/"}
		    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $FLEET}}
		    rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
		    failurePolicy: Fail
		    sideEffects: None
		    admissionReviewVersions: [v1]
	YAML
	deploy --no-wait
	within 120 hears 'failed calling webhook'
	run deploy --timeout 20 --set fleet.failover.unschedulable=5s
	[ "$status" -eq 5 ]
	[[ $output == *"trn1: not running in time: "*'failed calling webhook "asleep.example.com"'* ]]
	[ "$(attempts)" = "[('trn1', 'starting')]" ]
	kubectl delete validatingwebhookconfiguration "$FLEET"
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"trn1        2 of 2 pods run"* ]]
}

@test "admission: pods pass where the namespace enforces the restricted level" {
	spec job
	namespace
	kubectl label namespace "$FLEET" pod-security.kubernetes.io/enforce=restricted
	run deploy
	[ "$status" -eq 0 ]
}

@test "deploy: a namespace that is on its way out is awaited, and made anew" {
	spec job
	namespace
	kubectl create configmap -n "$FLEET" guest
	kubectl patch configmap -n "$FLEET" guest --type=merge -p '{"metadata": {"finalizers": ["example.com/guest"]}}'
	kubectl delete namespace "$FLEET" --wait=false
	run deploy --timeout 3
	[ "$status" -eq 5 ]
	[[ $output == *"stage namespace: Namespace '$FLEET' is still being deleted"* ]]
	deploy >said 2>&1 3>&- &
	local deploy=$!
	within 60 grep -q "waiting for Namespace '$FLEET' to be deleted" said
	kubectl patch configmap -n "$FLEET" guest --type=merge -p '{"metadata": {"finalizers": null}}'
	wait $deploy
	grep -q "job trn1: " said
}

@test "fail-over: nodes that have no device for the pods they were given are left for the next target" {
	spec job
	annotate no-device-on trn1
	run deploy --set fleet.failover.after=5s
	[ "$status" -eq 0 ]
	[[ $output == *"nodes refused the pods for "*"UnexpectedAdmissionError"* ]]
	[ "$(attempts)" = "[('trn1', 'no-capacity'), ('p4d', 'running')]" ]
}

@test "deploy: an image that the registry does not have ends at once" {
	spec job
	annotate no-image 'Back-off pulling image: failed to resolve reference: not found'
	run deploy
	[ "$status" -eq 1 ]
	[[ $output == *"trn1: the image cannot be had: ImagePullBackOff: "*"not found"* ]]
	# The command as it is printed.
	command=$(printed "kubectl describe pods ")
	$command | grep -q ImagePullBackOff
}

@test "deploy: --wait tells how the first pod of a failed job ended" {
	ENDS=3s spec job
	annotate exit-code 137 reason OOMKilled
	run deploy --wait --set job.retries=0
	[ "$status" -eq 8 ]
	[[ $output == *"the job has failed: "*"pod $FLEET-trn1-"*": OOMKilled, exit status 137"* ]]
	spec job
	ENDS=3s spec job
	annotate exit-code 137 pod-reason Evicted
	run deploy --wait --set job.retries=0
	[ "$status" -eq 8 ]
	[[ $output == *": Evicted: The node was low on resource: memory."* ]]
}

@test "deploy: what keeps the storage from being prepared is told, with the command that starts it again" {
	spec job
	with_storage
	namespace
	policy pods "!has(object.metadata.labels) || !('job-name' in object.metadata.labels)"
	run deploy
	[ "$status" -eq 1 ]
	[[ $output == *"stage storage: Job '$FLEET-prepare': it has not finished: the cluster refuses its pod: "*"not of this house"* ]]
	# The command as it is printed.
	command=$(printed "kubectl delete ")
	[ "$command" = "kubectl delete -n $FLEET jobs.batch $FLEET-prepare" ]
	$command
	no_policy
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"job trn1: "* ]]
	# Another image is another preparation.
	run "$SLIPWAY" deploy --image-digest "sha256:$(printf "f%.0s" {1..64})" --interval 1s --timeout 300
	[ "$status" -eq 0 ]
	[[ $output == *"run 2 takes the place of run 1"* ]]
}

#!/usr/bin/env bats
# Ready images, as the recipes of docs/HOWTO.md have them, and patches, on a live control plane.

load lib
setup() { plane_setup; }
teardown() {
	plane_teardown
	kubectl delete pv -l "test/fleet=$FLEET" --wait=false
}

# recipe NAME: the specification of this name, as $FLEET's.
recipe() {
	awk -v name="name: $1" '/^```yaml$/ {on = 1; text = ""; found = 0; next} /^```$/ {if (on && found) printf "%s", text; on = 0}
		on {text = text $0 "\n"; if ($0 == name) found = 1}' "$ROOT/docs/HOWTO.md" >recipe.yaml
	sed "s/^name: $1\$/name: $FLEET/; s/\b$1-\*/$FLEET-*/" recipe.yaml >slipway.yaml
}

# named KEY: the objects that the recipe names under a key.
named() { grep -oP "\b$1: \K[a-z-]+" slipway.yaml | sort -u; }

# belongings: what a team has in the namespace before it deploys, its Secrets, ConfigMaps and claims, as the recipe names them.
belongings() {
	"$SLIPWAY" render --only namespace | kubectl apply --server-side -f -
	local name
	named secret | while read -r name; do
		kubectl create secret generic -n "$FLEET" "$name" --from-literal token=x
	done
	named config_map | while read -r name; do
		kubectl create configmap -n "$FLEET" "$name" --from-literal train.py=x
	done
	named claim | while read -r name; do
		kubectl apply -f - <<-YAML
			apiVersion: v1
			kind: PersistentVolume
			metadata: {name: $FLEET-$name, labels: {test/fleet: $FLEET}}
			spec:
			  accessModes: [ReadWriteMany]
			  capacity: {storage: 1Gi}
			  claimRef: {namespace: $FLEET, name: $name}
			  hostPath: {path: /srv}
			  persistentVolumeReclaimPolicy: Retain
			---
			apiVersion: v1
			kind: PersistentVolumeClaim
			metadata: {name: $name, namespace: $FLEET}
			spec: {accessModes: [ReadWriteMany], storageClassName: "", volumeName: $FLEET-$name, resources: {requests: {storage: 1Gi}}}
		YAML
	done
}

job() { kubectl get jobs.batch -n "$FLEET" "$FLEET-$1" -o "jsonpath=$2"; }
# running TARGET N: so many pods of the target run, each on a node of its pool.
running() {
	local nodes
	[ "$(kubectl get pods -n "$FLEET" -l "slipway/target=$1" --field-selector status.phase=Running -o name | wc -l)" -eq "$2" ]
	for nodes in $(kubectl get pods -n "$FLEET" -l "slipway/target=$1" -o jsonpath='{.items[*].spec.nodeName}'); do
		[ "$(kubectl get node "$nodes" -o jsonpath='{.metadata.labels.karpenter\.sh/nodepool}')" = "$FLEET-$1" ]
	done
}

@test "image: torchrun on p4d, with a token, code and checkpoints, runs as nobody's user" {
	recipe vision
	belongings
	run deploy
	echo "$output"
	[ "$status" -eq 0 ]
	running p4d 2
	[ "$(job p4d '{.spec.template.spec.containers[0].command[0]}')" = torchrun ]
	[ "$(job p4d '{.spec.template.spec.containers[0].env[?(@.name=="HF_TOKEN")].valueFrom.secretKeyRef.name}')" = hugging-face ]
	[ "$(job p4d '{.spec.template.spec.containers[0].env[?(@.name=="HOME")].value}')" = /tmp ]
	[ "$(job p4d '{.spec.template.spec.securityContext.runAsUser}')" = 65532 ]
	run deploy
	[[ $output == *"nothing to do"* ]]
}

@test "image: torch-neuronx on trn1 runs on all cores of two nodes" {
	recipe bert
	belongings
	run deploy
	echo "$output"
	[ "$status" -eq 0 ]
	running trn1 2
	[ "$(job trn1 '{.spec.template.spec.containers[0].env[?(@.name=="NPROC_PER_NODE")].value}')" = 32 ]
}

@test "image: nccl-tests is taken as an MPIJob of root" {
	recipe nccl
	run deploy --no-wait
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(kubectl get mpijob -n "$FLEET" "$FLEET-p4d" -o jsonpath='{.spec.mpiReplicaSpecs.Worker.template.spec.securityContext.runAsUser}')" = 0 ]
	[[ $(kubectl get mpijob -n "$FLEET" "$FLEET-p4d" -o jsonpath='{.spec.mpiReplicaSpecs.Worker.template.metadata.annotations}') == *slipway/root* ]]
}

@test "image: a server moves to the next target with its patches, and a changed patch is a new run" {
	recipe llm
	belongings
	no_capacity g5.12xlarge
	run deploy --set fleet.failover.after=5s --set fleet.failover.backoff=2s
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(attempts)" = "[('g5', 'no-capacity'), ('p4d', 'running')]" ]
	running p4d 1
	[ "$(job p4d '{.spec.template.spec.containers[0].readinessProbe.httpGet.path}')" = /health ]
	[ "$(kubectl get service -n "$FLEET" "$FLEET-p4d" -o jsonpath='{.spec.ports[*].name} {.spec.publishNotReadyAddresses}')" = "rendezvous http " ]
	sed -i 's/failureThreshold: 3/failureThreshold: 9/' slipway.yaml
	run deploy --diff
	[ "$status" -eq 1 ]
	[[ $output == *"run 2 takes the place of run 1"*"failureThreshold"* ]]
	run deploy
	[ "$status" -eq 0 ]
	[ "$(job p4d '{.metadata.labels.slipway/run} {.spec.template.spec.containers[0].readinessProbe.failureThreshold}')" = "2 9" ]
	"$SLIPWAY" rollback --interval 1s --timeout 300
	[ "$(job p4d '{.spec.template.spec.containers[0].readinessProbe.failureThreshold}')" = 3 ]
}

@test "image: six pods share two nodes' devices in turns" {
	recipe notebooks
	belongings
	run deploy
	echo "$output"
	[ "$status" -eq 0 ]
	running g5 6
	[ "$(kubectl get nodes -l "karpenter.sh/nodepool=$FLEET-g5" -o name | wc -l)" -le 2 ]
	[ "$(kubectl get daemonset -n kube-system nvidia-device-plugin-slices-4 -o jsonpath='{.status.desiredNumberScheduled}')" -ge 1 ]
}

@test "image: every key of a ready image is one that the server knows, init containers and sidecars run" {
	sed "s/^name: torch/name: $FLEET/; s/scheduler: job/&\n  annotations: {slipway.test\/runs-for: 2s}/" "$ROOT/tests/golden/fleet/ready-image.yaml" >slipway.yaml
	belongings
	run deploy --wait
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(job p4d '{.status.succeeded} {.spec.template.spec.initContainers[*].name}')" = "2 logs fetch" ]
}

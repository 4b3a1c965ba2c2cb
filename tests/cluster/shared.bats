#!/usr/bin/env bats
# Several fleets in one cluster, and fleets beside what Helm installed: they share device plugins, and nobody touches
# what is another's.
# Alone on the plane: it counts what all fleets share.

load lib

setup() {
	plane_setup
	BASE=$FLEET
}

teardown() {
	local code=0 fleet
	for fleet in "$WORK"/*/slipway.yaml; do
		(cd "${fleet%/*}" && "$SLIPWAY" undeploy --yes --timeout 300 2>&1) || code=$?
	done
	kubectl delete daemonset -A -l app.kubernetes.io/managed-by=Helm --ignore-not-found
	plane_teardown || code=$?
	return $code
}

# fleet NAME: changes to the folder of a fleet of that name, whose spec it writes the first time.
fleet() {
	FLEET=$BASE-$1
	mkdir -p "$WORK/$1" && cd "$WORK/$1" || return
	[[ -e slipway.yaml ]] || spec job
}

undeploy() { "$SLIPWAY" undeploy --yes --timeout 300; }

# users KIND NAME: the fleets that use a shared object, by their folders' names.
users() {
	kubectl get "$1" -n kube-system "$2" -o json | python3 -c '
import json, sys
print(*sorted(k.rpartition("-")[2] for k in json.load(sys.stdin)["metadata"]["annotations"] if k.startswith("used-by.slipway/")))'
}

uid() { kubectl get daemonset -n "$1" "$2" -o jsonpath='{.metadata.uid}/{.metadata.generation}'; }

# shared_left: every shared object that the API server has.
shared_left() {
	local kinds
	kinds=$(kubectl api-resources --verbs=list -o name | grep -vE '^(events|componentstatuses|pods|controllerrevisions)' | paste -sd,)
	kubectl get "$kinds" -A -l slipway/owner=shared.fleets -o name
}

# helm_plugin [TOLERATED]: NVIDIA's device plugin, as its chart installs it.
helm_plugin() {
	kubectl create namespace nvidia-device-plugin 2>/dev/null || true
	kubectl apply -f - <<-YAML
		apiVersion: apps/v1
		kind: DaemonSet
		metadata:
		  name: nvidia-device-plugin-daemonset
		  namespace: nvidia-device-plugin
		  labels: {helm.sh/chart: nvidia-device-plugin-0.20.0, app.kubernetes.io/name: nvidia-device-plugin,
		    app.kubernetes.io/instance: nvdp, app.kubernetes.io/version: 0.20.0, app.kubernetes.io/managed-by: Helm}
		spec:
		  selector: {matchLabels: {app.kubernetes.io/name: nvidia-device-plugin, app.kubernetes.io/instance: nvdp}}
		  updateStrategy: {type: RollingUpdate}
		  template:
		    metadata: {labels: {app.kubernetes.io/name: nvidia-device-plugin, app.kubernetes.io/instance: nvdp}}
		    spec:
		      priorityClassName: system-node-critical
		      tolerations: [{key: CriticalAddonsOnly, operator: Exists}, {key: ${1:-nvidia.com/gpu}, operator: Exists, effect: NoSchedule}]
		      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
		        {matchExpressions: [{key: nvidia.com/gpu.present, operator: In, values: ["true"]}]}]}}}
		      containers:
		      - {name: nvidia-device-plugin-ctr, image: registry.example/mirror/k8s-device-plugin:v0.20.0, command: [nvidia-device-plugin]}
	YAML
}

# pulls_always MANAGER: somebody takes a field of the shared plugin over.
pulls_always() {
	kubectl apply --server-side --force-conflicts --field-manager="$1" -f - <<-YAML
		{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: nvidia-device-plugin, namespace: kube-system}, spec: {template: {spec: {containers: [
		  {name: nvidia-device-plugin, imagePullPolicy: Always}]}}}}
	YAML
}

@test "fleets: two share the device plugins, and the last one to leave takes them with it" {
	fleet a
	deploy --no-wait
	plugin=$(uid kube-system neuron-device-plugin)
	fleet b
	run deploy
	[ "$status" -eq 0 ]
	[ "$(users daemonset neuron-device-plugin)" = "a b" ]
	[ "$(users serviceaccount neuron-device-plugin)" = "a b" ]
	[ "$(uid kube-system neuron-device-plugin)" = "$plugin" ]
	fleet a
	run deploy --no-wait
	[[ $output == *"nothing to do"* ]]
	run "$SLIPWAY" undeploy
	[[ $output == *"DaemonSet neuron-device-plugin stays: used by "*-b* ]]
	undeploy
	[ -z "$(leftovers)" ]
	[ "$(users daemonset neuron-device-plugin)" = b ]
	fleet b
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"nothing to do"* ]]
	[ "$(uid kube-system neuron-device-plugin)" = "$plugin" ]
	run "$SLIPWAY" status
	[ "$status" -eq 0 ]
	undeploy
	[ -z "$(leftovers)" ]
	[ -z "$(shared_left)" ]
}

@test "fleets: one that comes while the other leaves has its device plugins" {
	local round leaving
	for ((round = 1; round <= $(series 3); round++)); do
		fleet a
		deploy --no-wait
		undeploy >"$WORK/left-$round" 2>&1 &
		leaving=$!
		fleet b
		deploy --no-wait
		wait "$leaving"
		[ "$(users daemonset neuron-device-plugin)" = b ]
		[ "$(users clusterrole neuron-device-plugin)" = b ]
		undeploy
		[ -z "$(shared_left)" ]
	done
}

@test "fleets: what Helm installed is used, and left as it is" {
	helm_plugin
	theirs=$(uid nvidia-device-plugin nvidia-device-plugin-daemonset)
	fleet a
	run deploy --no-wait
	[ "$status" -eq 0 ]
	[[ $output == *"uses        DaemonSet nvidia-device-plugin-daemonset in nvidia-device-plugin: installed by others"* ]]
	run ! kubectl get daemonset -n kube-system nvidia-device-plugin
	[ "$(users daemonset neuron-device-plugin)" = a ]
	run deploy --no-wait
	[[ $output == *"nothing to do"* ]]
	run "$SLIPWAY" status
	[[ $output != *"nvidia-device-plugin': it does not exist"* ]]
	undeploy
	[ "$(uid nvidia-device-plugin nvidia-device-plugin-daemonset)" = "$theirs" ]
	[ -z "$(shared_left)" ]
}

@test "fleets: when Helm's plugin goes, the next deploy brings one, and when it comes, the fleet's leaves" {
	fleet a
	deploy --no-wait
	[ "$(users daemonset nvidia-device-plugin)" = a ]
	helm_plugin
	run deploy --no-wait
	[[ $output == *"DaemonSet nvidia-device-plugin is no longer in the spec: deleted"* ]]
	kubectl delete daemonset -n nvidia-device-plugin nvidia-device-plugin-daemonset
	deploy --no-wait
	[ "$(users daemonset nvidia-device-plugin)" = a ]
}

@test "fleets: a plugin of Helm's that would not run on the fleet's nodes is an error that names the taint" {
	helm_plugin example.com/other
	fleet a
	run deploy --no-wait
	[ "$status" -ne 0 ]
	[[ $output == *"DaemonSet 'nvidia-device-plugin-daemonset' in nvidia-device-plugin does not tolerate the taint nvidia.com/gpu"* ]]
	run deploy --no-wait --set cluster.devices=none
	[ "$status" -eq 0 ]
	[ -z "$(shared_left)" ]
}

@test "fleets: a plugin that an older slipway made for one fleet becomes the shared one" {
	fleet a
	kubectl create namespace "$FLEET"
	"$SLIPWAY" render --only devices --format list | sed "s/\"shared.fleets\"/\"$FLEET\"/g; s/\"app.kubernetes.io\/instance\":\( *\)\"slipway\"/\"app.kubernetes.io\/instance\":\1\"$FLEET\"/g; s/used-by.slipway\//former\//g" >old.json
	kubectl apply --server-side --field-manager=slipway -f old.json
	run deploy --no-wait
	[ "$status" -eq 0 ]
	[ "$(users daemonset nvidia-device-plugin)" = a ]
	[ "$(users serviceaccount neuron-device-plugin)" = a ]
	[ "$(kubectl get daemonset -n kube-system nvidia-device-plugin -o jsonpath='{.spec.selector.matchLabels.app\.kubernetes\.io/instance}')" = slipway ]
	undeploy
	[ -z "$(shared_left)" ]
	kubectl delete namespace "$FLEET"
}

@test "fleets: what another version of slipway wrote is replaced, and what a person changed is not" {
	fleet a
	deploy --no-wait
	pulls_always slipway-other
	run deploy --no-wait
	[ "$status" -eq 0 ]
	[ "$(kubectl get daemonset -n kube-system nvidia-device-plugin -o jsonpath='{.spec.template.spec.containers[0].imagePullPolicy}')" = IfNotPresent ]
	pulls_always a-person
	run deploy --no-wait
	[ "$status" -ne 0 ]
	[[ $output == *a-person* ]]
}

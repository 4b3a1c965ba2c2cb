#!/usr/bin/env bats
# The fleet's own specification on trn1 on a live control plane: what is compiled ahead, then the training. Karpenter
# launches the nodes of both, KWOK plays their kubelets; nothing runs in the containers.

load lib
setup() { plane_setup; }
teardown() { plane_teardown; }

# whole_spec: as `spec job`, but trn1 computes on its devices; modules go through the registry.
whole_spec() {
	spec job
	sed -i 's|^    args: \[--device, cpu\]|    compiler: {image: "h.io/compiler:1", slipway: "h.io/slipway:1", cpu: "4", memory: 8Gi}|' slipway.yaml
}

# of JOB JSONPATH: of the Job $FLEET-JOB.
of() { kubectl get job -n "$FLEET" "$FLEET-$1" -o jsonpath="$2"; }

@test "compile: a Job on a node without devices ends before the training's is made, from one specification" {
	whole_spec
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"trn1        what its devices run is compiled ahead"* ]]
	[ "$(of trn1-compile '{.status.succeeded}')" = 1 ]
	[[ ! $(of trn1 '{.metadata.creationTimestamp}') < $(of trn1-compile '{.status.completionTime}') ]]
	# Karpenter made its node in the pool of its own, of the type without devices.
	kubectl get events -A -o jsonpath='{range .items[*]}{.involvedObject.name}{"\n"}{end}' | grep -q "^$FLEET-compile-"
	[[ $(of trn1 '{.spec.template.spec.containers[0].args}') == *'"--device","neuron","--local_ranks","32","--cache_dir","/neff"'* ]]
	run deploy
	[[ $output == *"nothing to do"* ]]
	run "$SLIPWAY" undeploy --yes --timeout 300
	[ "$status" -eq 0 ]
	[ -z "$(leftovers)" ]
}

@test "compile: a module that is missing ends the deploy at once, and no device is asked for" {
	whole_spec
	sed -i 's|image: "h.io/compiler:1"|compiled: true|' slipway.yaml
	echo 'patches: [{kind: Job, name: "*-compile", merge: {spec: {template: {metadata: {annotations: {slipway.test/exit-code: "1"}}}}}}]' >>slipway.yaml
	run deploy
	[ "$status" -eq 8 ]
	[[ $output == *"compiling ahead has failed: Job '$FLEET-trn1-compile'"* ]]
	run ! kubectl get job -n "$FLEET" "$FLEET-trn1"
	[ "$(attempts)" = "[('trn1', 'failed')]" ]
}

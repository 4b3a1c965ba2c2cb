#!/usr/bin/env bats
# What is rendered, applied by kubectl alone, and what a server makes of a spec's own words.
# Alone on the plane: kubectl by itself takes what fleets share over from them.

load lib
setup() { plane_setup; }
teardown() { plane_teardown wait; }

@test "render: applied as it is, it starts the job and no network test" {
	spec job
	printf '  network_test: {nodes: 4}\n' >>slipway.yaml
	"$SLIPWAY" render --only namespace | kubectl apply --server-side -f -
	"$SLIPWAY" render >all.yaml
	kubectl apply --server-side --force-conflicts --validate=strict -f all.yaml
	[ "$(kubectl get jobs -n "$FLEET" -o name)" = "job.batch/$FLEET-trn1" ]
	[ "$(kubectl get mpijobs -n "$FLEET" -o name)" = "" ]
	"$SLIPWAY" render --only nettest | kubectl apply --server-side --validate=strict --dry-run=server -f - | grep -q "mpijob.kubeflow.org/$FLEET-p4d-nettest"
}

@test "render: a spec's own labels, tags and annotations take the place of ours, and no key is there twice" {
	spec job
	"$SLIPWAY" render --only namespace | kubectl apply --server-side -f -
	"$SLIPWAY" render --set 'cluster.tags={Name: mine}' --set 'fleet.p4d.labels={nvidia.com/gpu.present: "yes"}' --job p4d \
		--set 'job.annotations={karpenter.sh/do-not-disrupt: "false"}' --set 'cluster.annotations={prometheus.io/scrape: "false"}' \
		--set 'fleet.p4d.volume={size: 200Gi, throughput: 1000}' --set 'cluster.subnets={example.com/tier: nodes}' >all.yaml
	kubectl apply --server-side --force-conflicts --validate=strict --dry-run=server -f all.yaml
}

@test "pods: a namespace that enforces 'restricted' takes the job's pods" {
	ENDS=2s spec job
	sed -i 's/^  karpenter: v1$/&\n  pod_security: restricted/' slipway.yaml
	run deploy --wait
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(kubectl get namespace "$FLEET" -o jsonpath='{.metadata.labels.pod-security\.kubernetes\.io/enforce}')" = restricted ]
	[ "$(kubectl get job -n "$FLEET" "$FLEET-trn1" -o jsonpath='{.status.succeeded}')" -eq 2 ]
}

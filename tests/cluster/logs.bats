#!/usr/bin/env bats
# What the pods say, on a live control plane: through the API server from a kubelet's endpoint.

load lib
setup() { plane_setup; }
teardown() {
	rm -rf "${PLANE:?}/logs/$FLEET"
	plane_teardown
}

chatter() { "$ROOT/tests/cluster/chatter" "$@"; }

@test "logs: of all ranks they are complete and in order, and the parts that are asked for are those" {
	local pod
	spec job
	deploy --set job.nodes=8
	# Pods that have said nothing.
	[ -z "$("$SLIPWAY" logs)" ]
	run "$SLIPWAY" status
	[ "$status" -eq 0 ]
	[[ $output == *"the log is still empty"* ]]
	chatter write "$PLANE" "$FLEET" trn1 8
	"$SLIPWAY" logs >all
	chatter check 8 8 <all
	diff <("$SLIPWAY" logs --rank 5 | sed 's/^.*] //') <(grep -F '"rank":5,' all | sed 's/^.*] //')
	"$SLIPWAY" logs --tail 3 >last
	[ "$(wc -l <last)" -eq 24 ]
	for rank in 0 1 2 3 4 5 6 7; do
		diff <(grep -F "\"rank\":$rank," last) <(grep -F "\"rank\":$rank," all | tail -n 3)
	done
	# One that cannot be read is named, and the others are shown.
	pod=$(kubectl get pods -n "$FLEET" -l batch.kubernetes.io/job-completion-index=2 -o jsonpath='{.items[0].metadata.name}')
	rm "$PLANE/logs/$FLEET/$pod" && mkdir "$PLANE/logs/$FLEET/$pod"
	"$SLIPWAY" logs >others 2>why
	diff others <(grep -vF '"rank":2,' all)
	grep -q 'rank 2' why
}

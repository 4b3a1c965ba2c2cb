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

# ranks: the pods of the job's two ranks, once both are there, rank 0 first, in the array pods; $said is the folder of
# what they say.
ranks() {
	local i
	for ((i = 0; i < 300; i++)); do
		mapfile -t pods < <(kubectl get pods -n "$FLEET" -l slipway/target=trn1 -o json |
			json '"\n".join(sorted((p["metadata"]["name"] for p in d["items"]), key=lambda n: n.rpartition("-")[0]))')
		[[ -z ${pods[1]:-} ]] || break
		sleep 0.2
	done
	said=$PLANE/logs/$FLEET
	mkdir -p "$said"
}

# says RANK TEXT [SUFFIX]: in the file of that pod, with the time of now.
says() { printf '%s %s\n' "$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)" "$2" >>"$said/${pods[$1]}${3:-}"; }

# shows TEXT: the file shown has that line, within a minute.
shows() {
	local i
	for ((i = 0; i < 600; i++)); do
		! grep -qF "$1" shown || return 0
		sleep 0.1
	done
	cat shown why
	return 1
}

@test "logs: what is said is followed as it is said, until its pods have ended" {
	spec job
	deploy
	ranks
	says 0 before
	"$SLIPWAY" logs --follow >shown 2>why 3>&- &
	local logs=$!
	shows '[0] before'
	says 1 'rank 1 speaks'
	shows '[1] rank 1 speaks'
	says 0 'rank 0 answers'
	shows '[0] rank 0 answers'
	: >"$said/${pods[0]}.ended"
	says 1 'the last word'
	shows '[1] the last word'
	kill -0 $logs
	: >"$said/${pods[1]}.ended"
	wait $logs
	[ "$(wc -l <shown)" -eq 4 ]
}

@test "logs: what a container said before it was started again, and a rank that was not" {
	spec job
	deploy
	ranks
	says 0 'I fall' .previous
	says 0 'I rise'
	[ "$("$SLIPWAY" logs --previous --rank 0)" = '[0] I fall' ]
	"$SLIPWAY" logs --previous >shown 2>why
	[ "$(<shown)" = '[0] I fall' ]
	grep -q 'rank 1.*previous terminated container' why
}

@test "logs: a deploy that waits for a job ends with what the failed pod said last" {
	ENDS=3s spec job
	annotate exit-code 137 reason OOMKilled
	run deploy --set job.retries=0
	ranks
	says 0 'the loss is nan'
	says 1 'the loss is nan'
	run deploy --wait --set job.retries=0
	echo "$output"
	[ "$status" -eq 8 ]
	[[ $output == *"| the loss is nan"*"OOMKilled, exit status 137"* ]]
}

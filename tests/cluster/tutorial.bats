#!/usr/bin/env bats
# docs/TUTORIAL.md from the first deploy on: the page's own commands, as they stand, against a live API server. Volcano's
# controllers and a file system are not here, so the job is Kubernetes' own and has no storage.

load lib
setup() {
	plane_setup
	# shellcheck disable=SC2034 # lib.bash reads it
	FLEET=perceiver
}
teardown() { plane_teardown wait; }

# section NUMBER: the commands of its blocks that talk to a cluster.
section() {
	awk -v head="## $1. " '/^## / {at = index($0, head) == 1} /^```sh$/ && at {on = 1; next} /^```$/ {on = 0} on' "$ROOT/docs/TUTORIAL.md" |
		grep -E '^(slipway (deploy|status|undeploy)|kubectl)( |$)'
}

# typed NUMBER COMMANDS: a section, of so many of them, is typed into a shell that stops at the first failure.
typed() {
	section "$1" | sed 's/^kubectl delete vcjob /kubectl delete jobs.batch /' >script
	[ "$(wc -l <script)" = "$2" ]
	PATH=$WORK/bin:$PATH run bash -euxo pipefail script
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "tutorial: the plan, both runs and the way back, by the page's own commands" {
	spec job
	mkdir bin
	# Which image it is, no registry is here to say.
	cat >bin/slipway <<-EOS
		#!/bin/bash
		case \$1 in
		deploy) exec "$SLIPWAY" "\$@" --image-digest "$DIGEST" --interval 1s --timeout 300 ;;
		*) exec "$SLIPWAY" "\$@" ;;
		esac
	EOS
	chmod +x bin/slipway
	typed 8 4
	[[ $output == *"would run trn1"*"job trn1: "* ]]
	[ "$(kubectl get pods -n perceiver -l slipway/target=trn1 -o jsonpath='{.items[*].status.phase}')" = "Running Running" ]
	# The page says jobs by Volcano's short name, which the server has to know.
	section 9 | grep -oE '^kubectl delete [a-z]+' | cut -d ' ' -f 3 >kind
	kubectl get "$(cat kind)" -n perceiver --ignore-not-found
	# --job moves no job that runs, as the page says.
	run bin/slipway deploy --job g5g
	[ "$status" -ne 0 ]
	typed 9 3
	[[ $output == *"job g5g: "*"nothing to do: the cluster matches the spec"* ]]
	[ -z "$(kubectl get pods -n perceiver -l slipway/target=trn1 -o name)" ]
	[ "$(kubectl get pods -n perceiver -l slipway/target=g5g -o jsonpath='{.items[*].status.phase}')" = "Running Running" ]
	typed 11 2
	# Another story may have been here in a namespace of this name, which then stays.
	leftovers | grep -v '^namespace/' >left || true
	[ ! -s left ]
}

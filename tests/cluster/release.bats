#!/usr/bin/env bats
# Releases on a live control plane: a changed job is a new run in the place of the former one, and a former one comes back.

load lib
setup() { plane_setup; }
teardown() {
	no_policy
	plane_teardown
}

# Two images of the same job.
OTHER=sha256:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff
release() { "$SLIPWAY" deploy --interval 1s --timeout 300 --image-digest "$@"; }
rollback() { "$SLIPWAY" rollback --interval 1s --timeout 300 "$@"; }

job() { kubectl get "$1" -n "$FLEET" "$FLEET-trn1" -o "jsonpath=$2"; }
pods() { kubectl get pods -n "$FLEET" -l "slipway/target=trn1" -o "jsonpath=$1"; }
# runs_on DIGEST RUN: the plain Job in the cluster, and both of its pods.
runs_on() {
	[ "$(job jobs.batch '{.metadata.labels.slipway/run}')" = "$2" ]
	[ "$(pods '{.items[*].spec.containers[0].image}' | tr ' ' '\n' | grep -c "@$1")" -eq 2 ]
}

@test "release: a new image takes the place of the job, the former run comes back, and the Service is the same" {
	spec job
	release "$DIGEST"
	runs_on "$DIGEST" 1
	service=$(kubectl get service -n "$FLEET" "$FLEET-trn1" -o jsonpath='{.metadata.uid}')
	run release "$OTHER" --diff
	[ "$status" -eq 1 ]
	[[ $output == *"replace Job $FLEET/$FLEET-trn1 (jobs): run 2 takes the place of run 1"*"image"*"$DIGEST"*"$OTHER"* ]]
	run release "$OTHER"
	[ "$status" -eq 0 ]
	[[ $output == *"trn1        run 2 takes the place of run 1"* ]]
	runs_on "$OTHER" 2
	[ "$(attempts)" = "[('trn1', 'replaced'), ('trn1', 'running')]" ]
	run release "$OTHER"
	[[ $output == *"nothing to do"* ]]
	run rollback --diff
	[ "$status" -eq 1 ]
	[[ $output == *"run 3 takes the place of run 2"* ]]
	run rollback
	[ "$status" -eq 0 ]
	[[ $output == *"job trn1: run 3: "*"@$DIGEST"* ]]
	runs_on "$DIGEST" 3
	run rollback --list
	[ "$status" -eq 0 ]
	[[ $output == *"   3  "*"trn1        rollback to run 1"*"@$DIGEST"* ]]
	[ "$(kubectl get service -n "$FLEET" "$FLEET-trn1" -o jsonpath='{.metadata.uid}')" = "$service" ]
}

@test "release: a new run of a JobSet, and of kinds whose server takes any change in silence" {
	local kind resource
	# Volcano's configuration is in the namespace of its installation.
	kubectl get namespace volcano-system || kubectl create namespace volcano-system
	for kind in jobset volcano mpi; do
		spec "$kind"
		[[ $kind != mpi ]] || sed -i 's/^job:/job:\n  command: [slipway-trainer]/' slipway.yaml
		release "$DIGEST" --no-wait
		run release "$OTHER" --no-wait
		[ "$status" -eq 0 ]
		[[ $output == *"takes the place of run "* ]]
		case $kind in
		jobset) resource=jobsets.jobset.x-k8s.io ;;
		volcano) resource=jobs.batch.volcano.sh ;;
		mpi) resource=mpijobs.kubeflow.org ;;
		esac
		job "$resource" '{.spec}' | grep -qF "@$OTHER"
		run ! grep -qF "@$DIGEST" <<<"$(job "$resource" '{.spec}')"
	done
}

@test "release: a job that the server refuses leaves the former run as it was" {
	spec job
	release "$DIGEST"
	uid=$(job jobs.batch '{.metadata.uid}')
	policy jobs "!object.spec.template.spec.containers[0].image.contains('$OTHER')"
	run release "$OTHER"
	[ "$status" -eq 1 ]
	[[ $output == *"stage jobs: trn1: the former run goes on: the new job: "*"not of this house"* ]]
	[ "$(job jobs.batch '{.metadata.uid}')" = "$uid" ]
	runs_on "$DIGEST" 1
	[ "$(rollback --list --output json | json '[r["run"] for r in d["runs"]]')" = "[1]" ]
}

@test "release: what a running job takes is changed in place" {
	spec job
	release "$DIGEST"
	uid=$(job jobs.batch '{.metadata.uid}')
	run release "$DIGEST" --set job.ttl=1234
	[ "$status" -eq 0 ]
	[[ $output == *"0 created, 1 changed"* ]]
	[ "$(job jobs.batch '{.metadata.uid} {.spec.ttlSecondsAfterFinished}')" = "$uid 1234" ]
}

@test "release: one that is killed at any moment is gone on with, to the same run on the same target" {
	spec job
	release "$DIGEST"
	for seconds in 1 2 3 4 5; do
		timeout --signal=KILL "$seconds" "$SLIPWAY" deploy --interval 1s --image-digest "$OTHER" || true
	done
	run release "$OTHER"
	[ "$status" -eq 0 ]
	runs_on "$OTHER" 2
	[ "$(attempts)" = "[('trn1', 'replaced'), ('trn1', 'running')]" ]
}

@test "release: the last five runs are kept, and one that is not is told" {
	spec job
	for n in 1 2 3 4 5 6 7; do
		release "$DIGEST" --no-wait --set "job.args=[train, --seed, $n]"
	done
	[ "$(rollback --list --output json | json '[r["run"] for r in d["runs"]]')" = "[3, 4, 5, 6, 7]" ]
	run rollback --to 2
	[ "$status" -eq 1 ]
	[[ $output == *"run 2 is not recorded"*"slipway rollback --list"* ]]
	run rollback --to 4 --no-wait
	[ "$status" -eq 0 ]
	[ "$(job jobs.batch '{.spec.template.spec.containers[0].args[2]}')" = 4 ]
}

@test "release: a failed job is told with the command that starts it again, and its Service stays" {
	ENDS=2s spec job
	annotate exit-code 2
	run release "$DIGEST" --wait
	[ "$status" -eq 8 ]
	service=$(kubectl get service -n "$FLEET" "$FLEET-trn1" -o jsonpath='{.metadata.uid}')
	# The command as it is printed.
	command=$(printed "kubectl delete ")
	[ "$command" = "kubectl delete -n $FLEET jobs.batch $FLEET-trn1" ]
	$command
	[ "$(kubectl get service -n "$FLEET" "$FLEET-trn1" -o jsonpath='{.metadata.uid}')" = "$service" ]
	sed -i "s|slipway.test/exit-code: '2', ||" slipway.yaml
	run release "$DIGEST" --wait
	[ "$status" -eq 0 ]
	# A changed job needs no command at all.
	run release "$OTHER"
	[ "$status" -eq 0 ]
	runs_on "$OTHER" 3
}

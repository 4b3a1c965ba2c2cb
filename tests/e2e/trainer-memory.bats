#!/usr/bin/env bats
# slipway-trainer: memory against time, and sums over ranks during the backward pass.

load trainer

MID=(--config_file_path mid --max_steps 3 --attention_dropout 0.1 --preset paper --logdir logs --lr 1e-3)

@test "memory: every --activation_checkpointing ends with the same weights, from the memory that --estimate says" {
	python3 - "$TRAINER" "${MID[@]}" <<-'PY'
		import os, re, subprocess, sys
		def memory(setting):
		    words = [sys.argv[1], "train", *sys.argv[2:], "--batch_size", "4", "--activation_checkpointing", setting]
		    text = subprocess.run(words + ["--estimate"], check=True, capture_output=True, text=True).stdout
		    said = float(re.search(r"^all, per rank +([0-9.]+) MB$", text, re.M).group(1))
		    run = subprocess.Popen(words + ["--output_dir", setting], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		    _, status, usage = os.wait4(run.pid, 0)
		    assert status == 0, (setting, status)
		    return said, usage.ru_maxrss * 1024 / 1e6
		said, took = zip(*map(memory, ("none", "selective", "2", "full")))
		print(said, took)
		assert list(said) == sorted(said, reverse=True) and said[3] < said[0] - 10, said
		assert all(abs((took[0] - took[i]) - (said[0] - said[i])) < 0.25 * (said[0] - said[i]) + 4 for i in range(1, 4)), (said, took)
	PY
	for setting in selective 2 full; do same_weights none "$setting" step-00000003; done
}

@test "memory: a run that kept all is resumed by one that computes again, to the same weights" {
	train whole --max_steps 4 >/dev/null
	train parts --max_steps 4 --stop_after 2 >/dev/null || [ $? -eq 75 ]
	train parts --max_steps 4 --resume --activation_checkpointing full >/dev/null
	same_weights whole parts step-00000004
}

@test "memory: what cannot be computed again is refused; a run that is too large is told what to compute again" {
	run "$TRAINER" train "${TINY[@]}" --activation_checkpointing some
	[ "$status" -eq 2 ]
	[[ "$output" == *"--activation_checkpointing is 'some', expected none, selective, full or a number from 1 to "* ]]
	[[ "$output" == *"every second layer"* ]]

	# A twentieth more than fits with all kept.
	run "$TRAINER" train --batch_size 60000 --estimate
	fits=$(sed -n 's/.*--batch_size \([0-9]*\) fits.*/\1/p' <<<"$output")
	[ "$fits" -gt 0 ]
	run "$TRAINER" train --batch_size $((fits + fits / 20)) --output_dir large
	[ "$status" -eq 78 ]
	[[ "$output" == *"--activation_checkpointing "*" fits, with the same results."*"--batch_size "*" fits"* ]]
	[ ! -e large ]
}

# overlap N OUTPUT MPIRUN...: N ranks of three micro-steps, summed during the backward pass and after it.
overlap() {
	local n=$1 out=$2
	shift 2
	for how in during after; do
		[[ $how == during ]] && option=() || option=(--no_overlap)
		"$@" -n "$n" "$TRAINER" train "${MID[@]}" --max_steps 2 --batch_size 1 --accumulate 3 --threads 1 \
			--output_dir "$out-$how" "${option[@]}" >"log-$how" 2>&1
	done
	same_weights "$out-during" "$out-after" step-00000002
}

@test "memory: sums during the backward pass have the bits of sums after it, on 2 and 4 ranks of Open MPI" {
	openmpi
	for n in 2 4; do overlap "$n" "open$n" mpirun --oversubscribe; done
	grep "^4 ranks (Open MPI)" log-during
}

@test "memory: and on 2 and 4 ranks of MPICH" {
	mpich
	for n in 2 4; do overlap "$n" "mpich$n" "$MPIEXEC"; done
	grep "^4 ranks (MPICH)" log-during
}

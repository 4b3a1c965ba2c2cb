#!/usr/bin/env bats
# Evaluation in the course of a run: what is reported, which checkpoint is the best, averaged weights, the early end.

load trainer

# Sixteen val clips after every fifth step.
EVALUATE=(--eval_every 5 --eval_steps 2)

same_run() {
	same_weights "$1" "$2" "$3"
	cmp "$1/$3/ema.safetensors" "$2/$3/ema.safetensors"
	cmp "$1/$3/trainer_state.json" "$2/$3/trainer_state.json"
	cmp "$1/best" "$2/best"
	cmp "$1/$(cat "$1/best")/ema.safetensors" "$2/$(cat "$2/best")/ema.safetensors"
}

# best_is_right OUT: best names a whole checkpoint, which says so itself.
best_is_right() {
	[ -e "$1/best" ] || return 0
	python3 - "$1" <<-'PY'
		import hashlib, json, sys
		folder = sys.argv[1] + "/" + open(sys.argv[1] + "/best").read().strip()
		state = json.load(open(folder + "/trainer_state.json"))
		assert state["best_step"] == state["step"] == str(int(folder[-8:])), state
		for name, said in json.load(open(folder + "/manifest.json"))["files"].items():
		    data = open(folder + "/" + name, "rb").read()
		    assert len(data) == said["size"] and hashlib.sha256(data).hexdigest() == said["sha256"], name
	PY
}

@test "evaluation: its figures are in the log, in JSON and in TensorBoard's file, and eval of the best agrees" {
	train out "${EVALUATE[@]}" --max_steps 12 --ema_decay 0.9 --json_log log.jsonl >log
	[ "$(grep -c 'validation after step' log)" -eq 3 ]
	grep -Eq 'validation after step 12 \(averaged weights\): loss 0\.[0-9]+, image [0-9.]+ \(PSNR [0-9.]+ dB\), .*top-5' log
	best=$(cat out/best)
	grep -q "^best loss: 0\.[0-9]* after step $((10#${best#step-})), in out/$best\$" log
	"$TRAINER" eval --config_file_path tiny --checkpoint "out/$best" --eval_steps 2 --ema --preset paper \
		--json_log eval.jsonl >averaged
	# The name of the best stands for it, from within the folder, too.
	(cd out && "$TRAINER" eval --config_file_path tiny --checkpoint best --eval_steps 2 --preset paper \
		--json_log ../eval.jsonl >../raw)
	"$TRAINER" inspect out/best | head -n 1 | grep -q "^out/$best: "
	grep -q '^  16 clips (averaged weights): loss ' averaged
	grep -q '^  16 clips: loss ' raw
	python3 - "$best" <<-'PY'
		import glob, json, struct, sys
		lines = [json.loads(line) for line in open("log.jsonl")]
		steps = [d for d in lines if "loss" in d]
		vals = [d for d in lines if "val_loss" in d]
		assert [d["step"] for d in vals] == [5, 10, 12] and len(steps) + len(vals) == len(lines)
		step = int(sys.argv[1][5:])
		best = next(d for d in vals if d["step"] == step)
		assert best["val_loss"] == min(d["val_loss"] for d in vals) == vals[-1]["best"]
		assert vals[-1]["best_step"] == step and vals[-1]["best_metric"] == "loss"
		averaged, raw = (json.loads(line) for line in open("eval.jsonl"))
		names = "loss image audio label psnr psnr_audio snr top1 top5".split()
		for name in names:
		    assert averaged["val_" + name] == best["val_" + name], name
		assert raw["val_loss"] != averaged["val_loss"] and averaged["averaged_weights"]
		events = open(glob.glob("logs/*/events.out.*")[0], "rb").read()
		for name in names:
		    tag = b"Validation/" + name.encode()
		    value = struct.pack("<BBf", 21, 0, 0)[:1] + struct.pack("<f", best["val_" + name])
		    assert events.count(bytes([len(tag)]) + tag) == 3, name
		    assert bytes([len(tag)]) + tag + value in events, name
	PY
}

@test "evaluation: its figures are served to Prometheus" {
	port=$((20000 + RANDOM % 20000))
	"$TRAINER" train "${TINY[@]}" "${EVALUATE[@]}" --max_steps 99999999 --num_epochs 1000000 --output_dir out \
		--metrics_port $port >log 2>&1 3>&- &
	pid=$!
	for _ in $(seq 100); do
		curl -sf "http://127.0.0.1:$port/metrics" >metrics && grep -q validation metrics && break
		sleep 0.05
	done
	kill "$pid"
	status=0
	wait "$pid" || status=$?
	[ "$status" -eq 75 ]
	for name in loss image audio label psnr psnr_audio snr top1 top5 step clips; do
		grep -Eq "^slipway_trainer_validation_$name\{rank=\"0\"\} [-0-9.e]+\$" metrics
	done
	grep -q '^slipway_trainer_validation_clips{rank="0"} 16$' metrics
	grep -q '^slipway_trainer_loss{rank="0"}' metrics
}

@test "evaluation: without an improvement a run ends early with 0, and resumed it is complete" {
	options=("${EVALUATE[@]}" --max_steps 5000 --num_epochs 1000 --patience 3 --best top5 --min_delta 0.5)
	run train out "${options[@]}"
	[ "$status" -eq 0 ]
	[[ "$output" == *"stopped early after step 20: 3 evaluations in a row without an improvement of top5"* ]]
	[ "$(cat out/latest)" = step-00000020 ]
	best_is_right out
	cp -r out before
	run train out "${options[@]}" --resume
	[ "$status" -eq 0 ]
	[[ "$output" == *"the run in 'out' is complete: it stopped early after step 20"* ]]
	cmp {out,before}/step-00000020/model.safetensors
	run train out "${options[@]}" --patience 4 --resume
	[ "$status" -eq 0 ]
	[[ "$output" == *"patience was 3 and is 4"*"stopped early after step 25"* ]]
	run train other --best accuracy
	[ "$status" -eq 2 ]
	[[ "$output" == *"--best is 'accuracy', expected loss, image,"* ]]
	run train other --patience 3
	[ "$status" -eq 2 ]
	[[ "$output" == *"--patience"*"--eval_every"* ]]
	[ ! -e other ]
}

@test "evaluation: the best checkpoint is never pruned; a crash before its name is mended, a lost one forgotten" {
	options=("${EVALUATE[@]}" --eval_every 8 --max_steps 24 --checkpoint_steps 6 --keep 1)
	train whole "${options[@]}" --ema_decay 0.9 >/dev/null
	best=$(cat whole/best)
	best_is_right whole
	left=(whole/step-*)
	[ ${#left[@]} -le 2 ]
	# As a kill between the checkpoint and its name leaves it.
	train out "${options[@]}" --ema_decay 0.9 --stop_after 9 >/dev/null || [ $? -eq 75 ]
	[ "$(cat out/best)" = step-00000008 ]
	rm out/best
	train out "${options[@]}" --ema_decay 0.9 --resume --stop_after 1 >/dev/null || [ $? -eq 75 ]
	[ "$(cat out/best)" = step-00000008 ]
	rm -r out/step-00000008
	run train out "${options[@]}" --ema_decay 0.9 --resume
	[ "$status" -eq 0 ]
	[[ "$output" == *"the best checkpoint so far, of step 8, is not there"* ]]
	best_is_right out
	same_weights whole out step-00000024
	run "$TRAINER" eval --checkpoint whole/"$best" --ema --eval_steps 1
	[ "$status" -eq 0 ]
	train plain --max_steps 2 >/dev/null
	run "$TRAINER" eval --checkpoint plain/step-00000002 --ema --eval_steps 1
	[ "$status" -ne 0 ]
	[[ "$output" == *"ema.safetensors"*"--ema_decay"* ]]
	"$TRAINER" sample --checkpoint whole/"$best" --ema --out averaged >averaged.txt
	"$TRAINER" sample --checkpoint whole/"$best" --out raw >raw.txt
	run ! cmp -s averaged/frames.png raw/frames.png
}

@test "evaluation: averaged weights and the judgement have the same bits on any number of threads" {
	train one "${EVALUATE[@]}" --max_steps 15 --ema_decay 0.99 >/dev/null
	train two "${EVALUATE[@]}" --max_steps 15 --ema_decay 0.99 --threads 2 --num_workers 3 >/dev/null
	same_run one two step-00000015
}

@test "evaluation: two ranks share the clips out and get one rank's figures; they end early together" {
	openmpi
	train out --max_steps 3 >/dev/null
	"$TRAINER" eval --checkpoint out/step-00000003 --eval_steps 6 --test_batch_size 3 --json_log one.jsonl >/dev/null
	mpirun --oversubscribe -n 2 "$TRAINER" eval --checkpoint out/step-00000003 --eval_steps 3 --test_batch_size 3 \
		--threads 1 --json_log two.jsonl >/dev/null
	python3 - <<-'PY'
		import json
		one, two = json.load(open("one.jsonl")), json.load(open("two.jsonl"))
		for d in (one, two):
		    del d["time"], d["val_seconds"]
		assert one == two and one["val_clips"] == 18, (one, two)
	PY
	run mpirun --oversubscribe -n 2 "$TRAINER" train "${TINY[@]}" "${EVALUATE[@]}" --max_steps 5000 --num_epochs 1000 \
		--patience 2 --min_delta 0.5 --output_dir ranks --ema_decay 0.9
	[ "$status" -eq 0 ]
	[[ "$output" == *"stopped early after step 15"* ]]
	best_is_right ranks
}

@test "evaluation: killed at random moments, also in evaluations: the best is whole, the end is an unbroken run's" {
	kills=$(series 50)
	steps=$((10 * kills))
	options=(--eval_every 5 --eval_steps 8 --max_steps "$steps" --checkpoint_steps 8 --keep 1 --ema_decay 0.95)
	train whole "${options[@]}" >/dev/null
	RANDOM=$$
	echo "RANDOM=$$"
	at_work=0
	for i in $(seq "$kills"); do
		"$TRAINER" train "${TINY[@]}" --output_dir out "${options[@]}" --resume >log 2>&1 3>&- &
		pid=$!
		sleep "$(printf '0.%03d' $((40 + RANDOM % 300)))"
		if kill -0 "$pid" 2>/dev/null; then at_work=$((at_work + 1)); fi
		signal=$([ $((i % 3)) -eq 0 ] && echo TERM || echo KILL)
		kill "-$signal" "$pid" 2>/dev/null || true
		status=0
		wait "$pid" || status=$?
		echo "$i: $signal $status $(cat out/latest out/best 2>/dev/null)"
		[ "$status" -eq 0 ] || [ "$status" -eq 75 ] || [ "$status" -eq 137 ] || [ "$status" -eq 143 ]
		run ! grep -q '^skipped' log
		best_is_right out
	done
	echo "$at_work of $kills at work when stopped"
	[ "$at_work" -ge $((kills / 2)) ]
	train out "${options[@]}" --resume >/dev/null
	same_run whole out "$(printf 'step-%08d' "$steps")"
}

#!/usr/bin/env bats
# slipway-trainer end to end: its lines, stopping and resuming, checkpoints, what it refuses.

load trainer

@test "trainer: the PyTorch program's lines are printed" {
	run train out --log_steps 20
	[ "$status" -eq 0 ]
	grep -qx "==> Preparing data.FLAGS.dataset:synthetic,dataset_dir:'/dataset" <<<"$output"
	grep -qx "Successfully built the dataset" <<<"$output"
	grep -qx -- "--------TRAINING CONFIG----------" <<<"$output"
	grep -q "^Namespace(dataset='synthetic', dataset_dir='/dataset', " <<<"$output"
	grep -Eqx 'Epoch 1 train begin [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}(\.[0-9]{6})?' <<<"$output"
	[ "$(grep -Ecx '\| Training Device=cpu:0 Epoch=1 Step=(0|20|40) Learning_Rate=[-0-9.e]+ Loss=[0-9.]+ Throughput=[0-9.]+ Time=[-0-9 :.]+' <<<"$output")" -eq 3 ]
	grep -Eqx 'Average train throughput: [0-9]+\.[0-9]{4}' <<<"$output"
}

@test "trainer: the PyTorch program's main.yaml, options and environment are taken, what has no effect is said" {
	mkdir config
	{
		printf '%s\n' 'architectures: [PerceiverForMultimodalAutoencoding]' 'attention_probs_dropout_prob: 0.1' \
			'audio_samples_per_frame: 1920' 'cross_attention_shape_for_attention: kv' 'cross_attention_widening_factor: 1' \
			'd_latents: 512' 'd_model: 704' 'hidden_act: gelu' 'image_size: 56' 'initializer_range: 0.02' \
			'layer_norm_eps: 1.0e-12' 'max_position_embeddings: 2048' 'model_type: perceiver' \
			'num_blocks: 1' 'num_cross_attention_heads: 1' 'num_frames: 16' 'num_latents: 784' \
			'num_self_attends_per_block: 8' 'num_self_attention_heads: 8' 'output_shape: [1, 16, 224, 224]' \
			'qk_channels: null' 'samples_per_patch: 16' 'self_attention_widening_factor: 1' 'train_size: [368, 496]' \
			'use_query_residual: true' 'v_channels: null' 'vocab_size: 262' 'a_key_of_tomorrow: 1' 'id2label:'
		for i in $(seq 0 699); do printf '  %s: class %s\n' "$i" "$i"; done
	} >config/main.yaml
	export MAX_STEPS=1 BATCH_SIZE=1 DATASET_DIR=/data
	run "$TRAINER" train --dataset=synthetic --num_epochs=2 --num_workers=1 --log_steps=1 --image_dim=224 \
		--test_batch_size=1 --lr=5e-5 --momentum=0.9 --target_accuracy=0 --expected_average_throughput=0 \
		--drop_last --metrics_debug --enable_pt_autocast --logdir=logs --output-dir out
	[ "$status" -eq 0 ]
	[[ "$output" == *", 19858855 parameters"* ]]
	[[ "$output" == *"dataset_dir='/data', config_file_path='config/main.yaml', logdir='logs', batch_size=1,"*"max_steps=1,"* ]]
	for key in image_dim target_accuracy drop_last metrics_debug enable_pt_autocast; do
		grep -q -- "^--$key is accepted but not used: " <<<"$output"
	done
	for key in d_model initializer_range layer_norm_eps max_position_embeddings train_size vocab_size; do
		grep -qx "$key is not used by this model" <<<"$output"
	done
	[ "$(grep 'is not a key of' <<<"$output")" = "a_key_of_tomorrow is not a key of PerceiverConfig" ]
}

@test "trainer: stopped after any step and resumed, the weights are those of an unbroken run" {
	train whole >/dev/null
	for n in 1 7 30; do ends_with 75 train parts --resume --stop-after "$n"; done
	train parts --resume >/dev/null
	same_weights whole parts step-00000060
}

@test "trainer: stopped ten times by SIGTERM and ten by kill -9, at random moments, it ends with the same weights" {
	steps=1000
	train whole --max_steps $steps >/dev/null
	RANDOM=$$
	echo "RANDOM=$$"
	running=0
	for i in $(seq 20); do
		"$TRAINER" train "${TINY[@]}" --output_dir parts --max_steps $steps --checkpoint_steps 5 --resume >log 2>&1 3>&- &
		pid=$!
		sleep "$(printf '0.%03d' $((RANDOM % 500)))"
		# Still at work, neither done nor before its first word.
		if [ -s log ] && kill -0 "$pid"; then running=$((running + 1)); fi
		status=0
		if [ $((i % 2)) -eq 0 ]; then
			kill -TERM "$pid" || true
			wait "$pid" || status=$?
			# 143: before the handler was there, or 0: after the last step
			[ "$status" -eq 75 ] || [ "$status" -eq 143 ] || [ "$status" -eq 0 ]
		else
			kill -KILL "$pid" || true
			wait "$pid" || status=$?
			[ "$status" -eq 137 ] || [ "$status" -eq 0 ]
		fi
	done
	echo "$running of 20 at work when stopped; $(cat parts/latest) was the last checkpoint"
	[ "$running" -ge 10 ]
	train parts --max_steps $steps --resume >/dev/null
	same_weights whole parts "step-0000$steps"
}

@test "trainer: two trainers on one folder: the second is refused" {
	mkdir out
	exec 9>out/lock
	flock 9
	run train out
	[ "$status" -eq 1 ]
	[[ "$output" == *"another trainer is writing to 'out'"* ]]
}

@test "trainer: a full disk leaves the checkpoints before, and says so" {
	ends_with 75 train out --stop_after 5 --checkpoint_steps 5
	before=$(cat out/latest)
	ulimit -f 200
	trap '' XFSZ
	run train out --resume
	[ "$status" -eq 1 ]
	[[ "$output" == *"save checkpoint"* ]]
	[ "$(cat out/latest)" = "$before" ]
	for f in out/.tmp*; do [ ! -e "$f" ]; done
	true
}

@test "trainer: a file system that is full in mid-checkpoint: the run ends with an error, and goes on with more room" {
	[ "$EUID" -eq 0 ] || skip "mounting needs root"
	train whole >/dev/null
	mkdir small
	mount -t tmpfs -o size=4m none small 2>/dev/null || skip "no file system can be mounted here"
	rc=0
	# Two checkpoints of 1.6 MB have room; all are to be kept.
	run train small/out --checkpoint_steps 10 --keep 0
	[ "$status" -eq 1 ] || rc=1
	[[ "$output" == *"No space left on device"* ]] || rc=2
	[ "$(cat small/out/latest)" = step-00000020 ] || rc=3
	mount -o remount,size=16m small || rc=4
	train small/out --checkpoint_steps 10 --keep 0 --resume >/dev/null || rc=5
	same_weights whole small/out step-00000060 || rc=6
	umount small
	echo "$rc: $output"
	[ "$rc" -eq 0 ]
}

@test "trainer: damaged checkpoints are passed over by name; with none left the run says so and begins anew" {
	train whole >/dev/null
	ends_with 75 train parts --checkpoint_steps 10 --stop_after 30
	printf x | dd of=parts/step-00000030/model.safetensors bs=1 seek=5000 conv=notrunc status=none
	rm parts/step-00000020/manifest.json
	run train parts --resume
	[ "$status" -eq 0 ]
	[[ "$output" == *"step-00000030"*"resuming from parts/step-00000010"* ]]
	same_weights whole parts step-00000060
	for f in parts/step-*/config.json; do printf x >>"$f"; done
	run train parts --resume --max_steps 5
	[ "$status" -eq 0 ]
	[[ "$output" == *"nothing to resume from"* ]]
}

@test "trainer: a checkpoint that is not what its manifest says is read by no command, whatever is wrong with it" {
	train out --max_steps 4 --ema_decay 0.9 >/dev/null
	readers=("eval --eval_steps 1 --checkpoint" "sample --out pictures --checkpoint" "train --max_steps 1 --init_from"
		"export --out folder --checkpoint" "classify --source . --out classes.csv --checkpoint" inspect)
	refused() { # WORDS
		for reader in "${readers[@]}"; do
			# shellcheck disable=SC2086 # a command and its options
			run "$TRAINER" $reader damaged/step-00000004
			echo "$reader: $output"
			[ "$status" -eq 79 ]
			[[ "$output" == *"checkpoint 'damaged/step-00000004': "*"$1"* ]]
		done
		rm -rf damaged
	}
	# One bit of a weight, which is a number still.
	cp -r out damaged
	python3 - <<-'PY'
		path = "damaged/step-00000004/model.safetensors"
		data = bytearray(open(path, "rb").read())
		data[-4] ^= 1
		open(path, "wb").write(data)
	PY
	refused "model.safetensors' does not match its size and SHA-256"
	cp -r out damaged && rm damaged/step-00000004/optimizer.safetensors
	refused "optimizer.safetensors' is in the manifest, but there is no such file"
	cp -r out damaged && rm damaged/step-00000004/ema.safetensors && mkdir damaged/step-00000004/ema.safetensors
	refused "ema.safetensors' is in the manifest, but there is no such file"
	for unread in pictures folder classes.csv; do [ ! -e "$unread" ]; done
}

@test "trainer: weights that are not numbers are refused by name" {
	ends_with 75 train out --stop_after 1
	# The last four bytes of the file: the last value of the last tensor.
	printf '\0\0\300\177' | dd of=out/step-00000001/model.safetensors bs=1 conv=notrunc status=none \
		seek=$(($(stat -c %s out/step-00000001/model.safetensors) - 4))
	for command in "train --init_from" "eval --checkpoint" "sample --out pictures --checkpoint"; do
		# shellcheck disable=SC2086 # a command and its options
		run "$TRAINER" $command out/step-00000001/model.safetensors --config_file_path tiny
		[ "$status" -eq 79 ]
		[[ "$output" == *"'out/step-00000001/model.safetensors': value "*" is not a finite number"* ]]
	done
}

@test "trainer: unknown options and unusable files are refused with the next step" {
	run "$TRAINER" train --bach_size 3
	[ "$status" -eq 2 ]
	[[ "$output" == *"--batch_size"* ]]
	run "$TRAINER" train --config_file_path tiny --dataset kinetics --dataset_dir nowhere
	[ "$status" -eq 1 ]
	[[ "$output" == *"prepare"* ]]
	printf 'num_latents: -3\n' >main.yaml
	run "$TRAINER" train --config_file_path main.yaml
	[ "$status" -ne 0 ]
	[[ "$output" == *"num_latents"* ]]
	printf 'no safetensors' >weights.safetensors
	run train out --init_from weights.safetensors
	[ "$status" -eq 79 ]
	[[ "$output" == *"weights.safetensors"* ]]
}

@test "trainer: a checkpoint that is not there is said before anything is made for it" {
	train out --max_steps 1 >/dev/null
	run "$TRAINER" eval --checkpoint nowhere
	[ "$status" -eq 1 ]
	[ "${lines[0]}" = "slipway-trainer: error: --checkpoint 'nowhere' does not exist" ]
	[[ "${lines[1]}" == *"a run's --output_dir"* ]]
	for path in nowhere out/best; do
		run "$TRAINER" inspect "$path"
		[ "$status" -eq 1 ]
		[ "$output" = "slipway-trainer: error: '$path' does not exist" ]
	done
}

@test "trainer: bf16 says how it computes, resumes to the same weights, and bench shows each part" {
	train whole --precision bf16 >log 2>&1
	grep -Eq '^1 rank .*, bf16( by f32 arithmetic)?, [0-9]+ parameters$' log
	train parts --precision bf16 --stop_after 20 >/dev/null || [ $? -eq 75 ]
	train parts --precision bf16 --resume >/dev/null
	same_weights whole parts step-00000060
	train exact >/dev/null
	run cmp -s whole/step-00000060/model.safetensors exact/step-00000060/model.safetensors
	[ "$status" -eq 1 ]

	"$TRAINER" bench --config tiny --steps 3 --precision bf16 --output json >bench.json
	python3 - <<-'PY'
		import json
		b = json.load(open("bench.json"))
		assert b["precision"].startswith("bf16"), b["precision"]
		parts = {(row["part"], row["op"]) for row in b["layers"]}
		assert {("self attention", "attention backward"), ("cross attention", "attention forward"),
		        ("decoder", "linear forward"), ("heads", "linear backward"), ("step", "loss"),
		        ("step", "optimizer"), ("step", "gradient norm, clipping")} <= parts, parts
		flop = sum(row["gflop"] for row in b["layers"])
		assert abs(flop / b["gflop_per_step"] - 1) < 0.02, (flop, b["gflop_per_step"])
		assert sum(row["milliseconds"] for row in b["layers"]) > 0
		# Each step's share is of its own peak: the middle one, and the rest of them around it.
		shares = [b[key] for key in ("least_share_of_peak", "share_of_peak", "greatest_share_of_peak")]
		assert 0 < shares[0] <= shares[1] <= shares[2], shares
		assert all((row["share_of_peak"] > 0) == (row["gflop"] > 0) for row in b["layers"]), b["layers"]
	PY

	"$TRAINER" bench --steps 1 --warmup 0 --bounds >bounds
	cat bounds
	[ "$(grep -cE '^again and again: .* +[1-9][0-9]* % of the peak$' bounds)" -eq 5 ]
	[ "$(grep -cE '^where operands lie: .* +[1-9][0-9]* % of the peak$' bounds)" -eq 8 ]
	for part in 'cross attention' 'self attention' decoder; do
		[ "$(grep -cE "^$part +attention (for|back)ward .*( +[1-9][0-9]*(\.[0-9]*)? %){3,4}  (met|short; bound [1-9][0-9]* %)$" bounds)" -eq 2 ]
	done
	run "$TRAINER" bench --config tiny --bounds
	[ "$status" -eq 2 ]
	[[ "$output" == *"--bounds: what bounds a part is known of the full configuration alone"*"Leave --config"* ]]

	run train out --precision fp8
	[ "$status" -eq 2 ]
	[[ "$output" == *"--precision is 'fp8', expected f32, tf32, bf16 or f16"* ]]
	run "$TRAINER" train --config_file_path tiny --max_steps 1 --reference --precision bf16
	[ "$status" -eq 2 ]
	[[ "$output" == *"the reference arithmetic has no bf16"* ]]
}

@test "trainer: a build with flags of its own, as the sanitizers', finds the GPU kernels' texts" {
	run make -C "$ROOT" -n BUILD=elsewhere EXTRA_CFLAGS=-DMINE=1 "elsewhere/$(dpkg --print-architecture)/obj/trainer/cuda/kernels.o"
	[ "$status" -eq 0 ]
	[[ "$output" == *" -DMINE=1 -Wa,-Ielsewhere/ptx "*" trainer/cuda/kernels.c "* ]]
}

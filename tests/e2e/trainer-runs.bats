#!/usr/bin/env bats
# What a run must not lose: its folder, its settings, its weights, its words.

load trainer

digests() {
	(cd "$1" && find step-* -type f -print0 | sort -z | xargs -0 sha256sum)
}

@test "runs: a used folder is refused before anything is written" {
	train out >/dev/null
	cp -a out before
	run train out --json_log log.jsonl --logdir fresh
	[ "$status" -eq 2 ]
	[[ "$output" == *"'out' holds the checkpoints of another run"*"--resume"*"--overwrite"* ]]
	diff -r out before
	[ ! -e fresh ] && [ ! -e log.jsonl ]
	run train out --resume --overwrite
	[ "$status" -eq 2 ]
}

@test "runs: --overwrite begins anew, and a resumed run continues the new one" {
	train out --max_steps 60 >/dev/null
	train out --overwrite --max_steps 8 --stop_after 4 --checkpoint_steps 2 >/dev/null || [ $? -eq 75 ]
	[ ! -e out/step-00000060 ]
	[ "$(cat out/latest)" = step-00000004 ]
	run train out --resume --max_steps 8
	[[ "$output" == *"resuming from out/step-00000004"* ]]
	train whole --max_steps 8 >/dev/null
	same_weights whole out step-00000008
}

@test "runs: an --overwrite that is killed before its first checkpoint stays an overwrite" {
	train out --max_steps 20 >/dev/null
	# As a kill between the record and the removal leaves it.
	sed -i 's/"id": "[0-9a-f]*"/"id": "00000000000000000000000000000000"/; s/"overwrites": false/"overwrites": true/' out/run.json
	run train out --resume --max_steps 8
	[ "$status" -eq 0 ]
	[[ "$output" == *"nothing to resume from"* ]]
	[ "$(cat out/latest)" = step-00000008 ]
}

@test "runs: an --overwrite whose log cannot be opened or whose port is taken removes nothing" {
	train out --max_steps 4 >/dev/null
	cp -a out before
	run train out --overwrite --json_log nowhere/log.jsonl
	[ "$status" -eq 1 ]
	[[ "$output" == *"nowhere/log.jsonl"* ]]
	diff -r out before
	# It takes a port and says which.
	python3 -c '
import socket, time
s = socket.create_server(("0.0.0.0", 0))
open("port", "w").write(str(s.getsockname()[1]))
time.sleep(60)' 3>&- &
	taker=$!
	for _ in $(seq 100); do
		[ ! -s port ] || break
		sleep 0.05
	done
	run train out --overwrite --metrics_port "$(cat port)"
	kill "$taker"
	[ "$status" -eq 1 ]
	[[ "$output" == *"port $(cat port): Address already in use"* ]]
	diff -r out before
}

@test "runs: a disk that is full for a while costs a checkpoint, with a word; one that stays full ends the run" {
	options=(--max_steps 1000000 --num_epochs 100000 --checkpoint_steps 20)
	# said FILE WORDS: the run comes to say so.
	said() {
		for _ in $(seq 300); do
			! grep -q "$2" "$1" || return 0
			sleep 0.05
		done
		cat "$1"
		return 1
	}
	# No file of over 200 kB, which its checkpoints have.
	(ulimit -S -f 200 && trap '' XFSZ && exec "$TRAINER" train "${TINY[@]}" --output_dir out "${options[@]}" \
		--checkpoint_steps 200) >log 2>&1 3>&- &
	pid=$!
	said log "save checkpoint 200 in 'out'.*: the run goes on"
	prlimit --pid "$pid" --fsize=unlimited:
	said log '^checkpoint step-00000400 saved$'
	said log '^checkpoint step-00000600 saved$'
	kill -TERM "$pid"
	ends_with 75 wait "$pid"
	[ ! -e out/step-00000200 ]
	digests "out" >/dev/null && [ -e "out/$(cat out/latest)/manifest.json" ]
	[ "$(grep -c 'the run goes on' log)" -eq 1 ]
	status=0
	(ulimit -f 200 && trap '' XFSZ && exec "$TRAINER" train "${TINY[@]}" --output_dir out "${options[@]}" --resume) \
		>log 2>&1 || status=$?
	[ "$status" -eq 1 ]
	[ "$(grep -c 'the run goes on' log)" -eq 1 ]
	grep 'error: save step .*: save checkpoint .*File too large' log
}

@test "runs: --resume in an empty folder starts, and once more it continues" {
	train out --resume --max_steps 20 --stop_after 5 >log 2>&1 || [ $? -eq 75 ]
	grep 'nothing to resume from' log
	run train out --resume --max_steps 20
	[ "$status" -eq 0 ]
	[[ "$output" == *"resuming from out/step-00000005"* ]]
}

@test "runs: resuming with another model, dataset, seed or batch names what differs; the rest is said" {
	train out --stop_after 3 >/dev/null || [ $? -eq 75 ]
	cp -a out before
	cat >smaller.yaml <<-YAML
		$("$TRAINER" version >/dev/null && python3 -c '
		import json
		c = json.load(open("out/step-00000003/config.json"))
		keep = {k: v for k, v in c.items() if k not in ("architectures", "model_type", "id2label", "label2id", "d_model")}
		keep["num_self_attends_per_block"] += 1
		print(json.dumps(keep))')
	YAML
	run train out --resume --config_file_path smaller.yaml
	[ "$status" -eq 2 ]
	[[ "$output" == *"model.num_self_attends_per_block was "* ]]
	run train out --resume --batch_size 4
	[ "$status" -eq 2 ]
	[[ "$output" == *"batch_size was 2 and is 4"* ]]
	run train out --resume --seed 7
	[ "$status" -eq 2 ]
	[[ "$output" == *"seed was 42 and is 7"* ]]
	run train out --resume --optimizer sgd
	[ "$status" -eq 2 ]
	[[ "$output" == *"optimizer was adamw and is sgd"*"--init_from"* ]]
	diff -r out before
	# The same clips in a step: nothing but a word.
	run train out --resume --batch_size 1 --accumulate 2 --lr 5e-4 --stop_after 1
	[ "$status" -eq 75 ]
	[[ "$output" == *"resuming with other settings: "*"lr was 0.001 and is 0.0005"* ]]
}

@test "runs: --print_config shows each option's value and origin; flag beats environment beats file beats preset" {
	printf 'lr: 3e-4\nmax_steps: 7\nlabel_mask_prob: 0.25\nresume: true\n' >options.yaml
	MAX_STEPS=9 "$TRAINER" train --preset paper --options_file options.yaml --lr 1e-3 --print_config >config
	[ ! -e log_training ]
	has() { grep -Eqx "$1 +$2 +$3" config; }
	has lr 0.001 flag
	has max_steps 9 'environment MAX_STEPS'
	has label_mask_prob 0.25 options.yaml:3
	has resume true options.yaml:4
	has schedule cosine 'preset paper'
	has seed 42 default
	"$TRAINER" train --preset paper --print_config >config
	has lr 0.0005 'preset paper'
	has spike_factor 10 'preset paper'
	printf 'lr: 3e-4\nlrr: 1\n' >options.yaml
	run "$TRAINER" train --options_file options.yaml --print_config
	[ "$status" -eq 2 ]
	[[ "$output" == *"options.yaml: line 2"*"lrr"* ]]
}

@test "runs: two lengths of the warm-up from one place are refused; the stronger place's counts" {
	run train out --warmup_steps 5 --warmup_share 0.5
	[ "$status" -eq 2 ]
	[[ "$output" == *"--warmup_steps and --warmup_share are both given, expected one"* ]]
	[ ! -e out ]
	# Preset paper has a share.
	train out --max_steps 4 --warmup_steps 4 --log_steps 1 --json_log log.jsonl >/dev/null
	python3 -c '
import json
lr = [json.loads(line)["lr"] for line in open("log.jsonl")]
assert all(abs(a / b - 1) < 1e-9 for a, b in zip(lr, (0.25e-3, 0.5e-3, 0.75e-3, 1e-3))), lr'
}

@test "runs: --augment stands for values below the options file and the command line" {
	printf 'augment: true\naugment_crop: 0.5\n' >options.yaml
	"$TRAINER" train --preset paper --options_file options.yaml --augment_flip 0 --print_config >config
	has() { grep -Eqx "$1 +$2 +$3" config; }
	has augment_offset 1 'preset augment'
	has augment_crop 0.5 options.yaml:2
	has augment_flip 0 flag
	has augment_gain 6 'preset augment'
	has lr 0.0005 'preset paper'
	"$TRAINER" train --print_config >config
	has augment_offset 0 default
	has augment_crop 1 default
	"$TRAINER" train --augment --print_config >config
	has augment_gain 6 'preset augment'
}

@test "runs: augmented and balanced, a stopped run continues to the same bits; other settings are said or refused" {
	changed=(--max_steps 12 --augment --balanced)
	train whole "${changed[@]}" >/dev/null
	train plain --max_steps 12 >/dev/null
	run ! cmp -s whole/step-00000012/model.safetensors plain/step-00000012/model.safetensors
	ends_with 75 train out "${changed[@]}" --stop_after 5
	run train out --resume --max_steps 12 --augment
	[ "$status" -eq 2 ]
	[[ "$output" == *"balanced was true and is false"* ]]
	cp -a out other
	run train other --resume "${changed[@]}" --augment_flip 0 --stop_after 1
	[ "$status" -eq 75 ]
	[[ "$output" == *"resuming with other settings: "*"augment_flip was 0.5 and is 0"* ]]
	train out --resume "${changed[@]}" --num_workers 3 >/dev/null
	same_weights whole out step-00000012
}

@test "runs: more threads than CPUs are bounded with a word" {
	run train out --threads 512 --max_steps 2
	[ "$status" -eq 0 ]
	cpus=$(nproc)
	[[ "$output" == *"--threads 512: there are "*" CPUs for this process"* ]]
	[ "$(grep -o '[0-9]* threads,' <<<"$output" | cut -d' ' -f1)" -le "$cpus" ]
}

@test "runs: a full standard output and a reader that went away end a run with a checkpoint and an error" {
	status=0
	train full --log_steps 1 >/dev/full 2>log || status=$?
	[ "$status" -eq 1 ]
	grep 'write standard output: No space left on device' log
	[ -e full/latest ]
	{ train piped --log_steps 1 2>log || echo $? >status; } | head -n 1 >/dev/null
	[ "$(cat status)" -eq 1 ]
	grep 'write standard output: Broken pipe' log
	[ -e piped/latest ]
	train piped --resume >/dev/null
	train whole >/dev/null
	same_weights whole piped step-00000060
	for command in probe "eval --checkpoint whole/step-00000060 --eval_steps 1" "train --print_config"; do
		status=0
		# shellcheck disable=SC2086 # a command and its options
		"$TRAINER" $command >/dev/full 2>log || status=$?
		[ "$status" -eq 1 ]
	done
}

@test "runs: the cosine ends where --num_epochs ends the run" {
	tiny_shape
	shard_dataset data 10
	train out --dataset kinetics --dataset_dir data --max_steps 1000 --num_epochs 3 --log_steps 1 --json_log log.jsonl >/dev/null
	python3 - <<-'PY'
		import json
		lr = [json.loads(line)["lr"] for line in open("log.jsonl")]
		assert len(lr) == 15 and max(lr) == 1e-3 and 0 < lr[-1] < 0.1e-3, lr
	PY
}

@test "runs: a shard that is cut off under a run: named, the steps before saved, exit status 79" {
	tiny_shape
	shard_dataset data 11
	shard=$(echo data/shards/ab/*)
	"$TRAINER" train "${TINY[@]}" --dataset kinetics --dataset_dir data --num_epochs 1000000 --max_steps 1000000 \
		--log_steps 1 --output_dir out >log 2>&1 3>&- &
	pid=$!
	for _ in $(seq 100); do
		grep -q 'step 5:' log && break
		sleep 0.05
	done
	truncate -s 5000 "$shard"
	status=0
	wait "$pid" || status=$?
	tail -n 3 log
	[ "$status" -eq 79 ]
	grep "shard '$shard'.* was cut off" log
	[ -e "out/$(cat out/latest)/manifest.json" ]
}

@test "runs: eval sees every clip once, the last partial batch too, with the checkpoint's own model" {
	tiny_shape
	shard_dataset data/val 11
	for size in 1 4 11 16; do
		"$TRAINER" eval --checkpoint shape/step-00000001 --dataset kinetics --dataset_dir data --test_batch_size $size >log
		grep '^  11 clips: ' log
	done
	"$TRAINER" eval --checkpoint shape/step-00000001 --dataset kinetics --dataset_dir data --test_batch_size 4 \
		--eval_steps 2 | grep '^  8 clips: '
	cp -r shape/step-00000001 own && rm own/manifest.json
	sed -i 's/"num_self_attends_per_block": [0-9]*/"num_self_attends_per_block": 9/' own/config.json
	run "$TRAINER" eval --checkpoint own --dataset kinetics --dataset_dir data
	[ "$status" -eq 79 ]
	[[ "$output" == *"self_attends"* ]]
}

@test "runs: evaluation without val clips is refused at the start, on the training clips said, with damaged ones ended" {
	tiny_shape
	shard_dataset data/train 12
	run train out --dataset kinetics --dataset_dir data --eval_every 2 --max_steps 4
	[ "$status" -eq 1 ]
	[[ "$output" == *"'data/val/dataset.json' does not exist"* ]]
	[ ! -e out ]
	# Neither after days of training.
	run train out --dataset kinetics --dataset_dir data --do_eval --max_steps 4
	[ "$status" -eq 1 ]
	[[ "$output" == *"'data/val/dataset.json' does not exist"* ]]
	[ ! -e out ]
	run train same --dataset kinetics --dataset_dir data/train --eval_every 2 --max_steps 4
	[ "$status" -eq 0 ]
	[[ "$output" == *"evaluating on the clips that are trained on"* ]]
	shard_dataset data/val 11
	run train apart --dataset kinetics --dataset_dir data --eval_every 2 --max_steps 4
	[[ "$output" != *"evaluating on the clips that are trained on"* ]]
	truncate -s 60000 data/val/shards/ab/*
	run train out --dataset kinetics --dataset_dir data --eval_every 2 --max_steps 4
	[ "$status" -eq 79 ]
	[[ "$output" == *"evaluate after step 2: "*"data/val/shards/"* ]]
	[ "$(cat out/latest)" = step-00000002 ]
}

@test "runs: --do_eval names the epoch that the training ended in" {
	tiny_shape
	shard_dataset data 10
	run train out --dataset kinetics --dataset_dir data --num_epochs 3 --max_steps 1000 --do_eval
	[ "$status" -eq 0 ]
	grep 'Epoch 3 test end' <<<"$output"
	run train two --dataset kinetics --dataset_dir data --num_epochs 9 --max_steps 6 --do_eval
	grep 'Epoch 2 test end' <<<"$output"
}

@test "runs: a complete run that is resumed writes nothing, whatever it is given; a lost name is mended" {
	train out --max_steps 6 --ema_decay 0.9 --checkpoint_steps 3 >/dev/null
	digests out >before
	stat -c '%i %n' out/step-* >places
	run train out --max_steps 6 --resume
	[ "$status" -eq 0 ]
	[[ "$output" == *"the run in 'out' is complete: it ended with step 6"* ]]
	digests out | diff before -
	stat -c '%i %n' out/step-* | diff places -
	# As a crash between the checkpoint and its name leaves it.
	echo step-00000003 >out/latest
	train out --max_steps 6 --resume >/dev/null
	[ "$(cat out/latest)" = step-00000006 ]
}

@test "runs: --expected_average_throughput fails a run that is slower, and none that had nothing left to do" {
	run train out --max_steps 6 --expected_average_throughput 1000000000
	[ "$status" -eq 1 ]
	[[ "$output" == *"is below derived expected threshold: 950000000"* ]]
	train out --resume --max_steps 6 --expected_average_throughput 1000000000 >/dev/null
}

@test "runs: what a run at work removes is neither listed nor called damaged" {
	"$TRAINER" train "${TINY[@]}" --output_dir out --max_steps 1000000 --num_epochs 100000 --checkpoint_steps 1 --keep 1 \
		>log 2>&1 3>&- &
	pid=$!
	for _ in $(seq 300); do
		[ ! -e out/latest ] || break
		sleep 0.05
	done
	for _ in $(seq 40); do
		run "$TRAINER" inspect out
		echo "$output"
		[ "$status" -eq 0 ]
		[[ "$output" == *" 0 damaged"* ]]
	done
	kill -TERM "$pid"
	ends_with 75 wait "$pid"
}

@test "runs: a run that nohup started outlives its terminal" {
	(trap '' HUP && exec "$TRAINER" train "${TINY[@]}" --output_dir out --max_steps 1000000 --num_epochs 100000 \
		--log_steps 1) >log 2>&1 3>&- &
	pid=$!
	for _ in $(seq 300); do
		! grep -q 'Step=5 ' log || break
		sleep 0.05
	done
	kill -HUP "$pid"
	steps=$(grep -c 'Step=' log)
	for _ in $(seq 300); do
		[ "$(grep -c 'Step=' log)" -lt $((steps + 20)) ] || break
		sleep 0.05
	done
	kill -TERM "$pid"
	ends_with 75 wait "$pid"
	[ "$(grep -c 'Step=' log)" -ge $((steps + 20)) ]
}

@test "runs: a run's folder stands for its newest checkpoint in --init_from and in eval's --estimate" {
	train out --max_steps 4 --checkpoint_steps 2 >/dev/null
	train newest --max_steps 2 --init_from out >/dev/null
	train named --max_steps 2 --init_from out/step-00000004 >/dev/null
	train best --max_steps 2 --init_from out/latest >/dev/null
	for run in newest best; do same_weights "$run" named step-00000002; done
	"$TRAINER" eval --checkpoint out --estimate | sed -n 's/^weights and gradients *//p' >tiny
	"$TRAINER" train --config_file_path tiny --estimate | sed -n 's/^weights and gradients *//p' | cmp - tiny
	echo nonsense >out/latest
	run train next --init_from out
	[ "$status" -eq 79 ]
	[[ "$output" == *"'out/latest' does not name a checkpoint"* ]]
}

@test "runs: --estimate is near what a run takes, and a run that cannot have it is refused with 78" {
	"$TRAINER" train --config_file_path mid --batch_size 2 --estimate >estimate
	grep -Eq '^encoder, per batch +[0-9.]+ MB$' estimate
	python3 - "$TRAINER" <<-'PY'
		import re, resource, subprocess, sys
		said = float(re.search(r"^all, per rank +([0-9.]+) MB$", open("estimate").read(), re.M).group(1))
		subprocess.run([sys.argv[1], "train", "--config_file_path", "mid", "--batch_size", "2", "--max_steps", "3",
		                "--output_dir", "out", "--logdir", "logs"], check=True, stdout=subprocess.DEVNULL)
		took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
		assert 0.93 < said / took < 1.15, (said, took)
	PY
	run "$TRAINER" train --batch_size 60000 --output_dir large
	[ "$status" -eq 78 ]
	[[ "$output" == *"the run needs about "*"--batch_size "*" fits"*"--estimate"* ]]
	[ ! -e large ]
}

# whole_checkpoints FOLDER: every checkpoint is what its manifest says.
whole_checkpoints() {
	python3 - "$1" <<-'PY'
		import glob, hashlib, json, sys
		for manifest in glob.glob(sys.argv[1] + "/step-*/manifest.json"):
		    for name, f in json.load(open(manifest))["files"].items():
		        data = open(manifest.replace("manifest.json", name), "rb").read()
		        assert len(data) == f["size"] and hashlib.sha256(data).hexdigest() == f["sha256"], (manifest, name)
	PY
}

stopped() { ! grep -L '^State:.T' "/proc/$1"/task/*/status 2>/dev/null | grep -q .; }

# at_write PID FOLDER: stops the process with a checkpoint half written or half removed; false: it ended before.
at_write() {
	while kill -0 "$1" 2>/dev/null; do
		compgen -G "$2/.tmp-*" >/dev/null || continue
		kill -STOP "$1" 2>/dev/null || return 1
		until stopped "$1"; do :; done
		! compgen -G "$2/.tmp-*" >/dev/null || return 0
		kill -CONT "$1"
	done
	return 1
}

# killed FOLDER SIGNAL random|write OPTIONS...: a resumed run, ended by the signal at such a moment; counts in `hits`.
killed() {
	local folder=$1 signal=$2 moment=$3 pid hit=true status=0
	shift 3
	"$TRAINER" train "${TINY[@]}" --output_dir "$folder" "$@" --resume >log 2>&1 3>&- &
	pid=$!
	if [ "$moment" = write ]; then
		at_write "$pid" "$folder" || hit=false
	else
		sleep "$(printf '0.%03d' $((40 + RANDOM % 260)))"
		kill -0 "$pid" 2>/dev/null || hit=false
	fi
	if $hit; then
		kill "-$signal" "$pid" 2>/dev/null || true
		kill -CONT "$pid" 2>/dev/null || true
		hits=$((hits + 1))
	fi
	wait "$pid" || status=$?
	echo "$folder: $signal at $moment: $hit, $status, $(cat "$folder/latest" 2>/dev/null)"
	[ "$status" -eq 0 ] || [ "$status" -eq 75 ] || [ "$status" -eq 137 ] || [ "$status" -eq 143 ]
	! grep '^skipped' log
}

# newest FOLDER: the step that `latest` names, which is there; 0: none yet.
newest() {
	[ -e "$1/latest" ] || { echo 0 && return; }
	[ -e "$1/$(cat "$1/latest")/manifest.json" ] && echo $((10#$(sed 's/step-//' "$1/latest")))
}

@test "runs: killed at random moments and in checkpoint writes beside others: nothing lost, the same bits, siblings untouched" {
	steps=150 kills=5
	if [ "${SLIPWAY_TEST_LONG:-}" = 1 ]; then kills=50 steps=1500; fi
	options=(--max_steps "$steps" --checkpoint_steps 6 --keep 2)
	train parent/sibling --max_steps 40 --checkpoint_steps 20 --keep 0 >/dev/null
	digests parent/sibling >sibling
	for seed in 1 2; do train "whole$seed" --max_steps "$steps" --seed "$seed" >/dev/null; done
	RANDOM=$$
	echo "RANDOM=$$"
	moments=('KILL random' 'KILL write' 'TERM random' 'TERM write' 'KILL write')
	hits=0
	declare -A before=([1]=0 [2]=0)
	for ((i = 0; i < kills; i++)); do
		seed=$((i % 2 + 1))
		read -r signal moment <<<"${moments[i % 5]}"
		killed "parent/run$seed" "$signal" "$moment" "${options[@]}" --seed "$seed"
		# No kill takes a run back behind what it said was saved, now or earlier.
		said=$(sed -n 's/^checkpoint step-0*\([0-9]*\) saved$/\1/p' log | tail -n 1)
		now=$(newest "parent/run$seed")
		[ "$now" -ge "${said:-0}" ] && [ "$now" -ge "${before[$seed]}" ]
		before[$seed]=$now
		whole_checkpoints "parent/run$seed"
	done
	echo "$hits of $kills were at work when stopped"
	[ "$hits" -ge $((kills * 3 / 5)) ]
	for seed in 1 2; do
		train "parent/run$seed" "${options[@]}" --seed "$seed" --resume >/dev/null
		same_weights "whole$seed" "parent/run$seed" "$(printf 'step-%08d' "$steps")"
	done
	digests parent/sibling | diff sibling -
}

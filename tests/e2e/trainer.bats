#!/usr/bin/env bats
# slipway-trainer end to end: stopping and resuming, several ranks, real videos, sampling.

setup() {
	ROOT="$BATS_TEST_DIRNAME/../.."
	BIN="$(cd "$ROOT" && realpath "${BUILD:-build}")/$(dpkg --print-architecture)"
	TRAINER="$BIN/slipway-trainer"
	cd "$BATS_TEST_TMPDIR" || return 1
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
}

# train OUTPUT [OPTIONS]: a short run of the tiny model
train() {
	local out=$1
	shift
	"$TRAINER" train --config_file_path tiny --batch_size 2 --max_steps 60 --lr 1e-3 --threads 1 \
		--attention_dropout 0.1 --preset paper --logdir logs --output_dir "$out" "$@"
}

same_weights() {
	cmp "$1/$3/model.safetensors" "$2/$3/model.safetensors"
	cmp "$1/$3/optimizer.safetensors" "$2/$3/optimizer.safetensors"
}

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

@test "trainer: stopped after any step and resumed, the weights are those of an unbroken run" {
	train whole >/dev/null
	for n in 1 7 30; do
		rc=0
		train parts --resume --stop_after "$n" >/dev/null || rc=$?
		[ "$rc" -eq 75 ]
	done
	train parts --resume >/dev/null
	same_weights whole parts step-00000060
}

@test "trainer: SIGTERM saves and exits with 75; kill -9 at any moment resumes to the same weights" {
	steps=1500
	train whole --max_steps $steps >/dev/null
	for i in 1 2 3 4 5 6 7 8 9 10; do
		train parts --max_steps $steps --checkpoint_steps 25 --resume >/dev/null 2>&1 &
		pid=$!
		child=$pid
		sleep "0.$((i % 4 + 1))$i"
		# the function runs in a subshell: its child is the trainer
		child=$(pgrep -P "$pid" || echo "$pid")
		if [ $((i % 2)) -eq 0 ]; then
			kill -TERM "$child" || true
			rc=0
			wait "$pid" || rc=$?
			[ "$rc" -eq 75 ] || [ "$rc" -eq 0 ]
		else
			kill -KILL "$child" || true
			wait "$pid" || true
		fi
	done
	train parts --max_steps $steps --resume >/dev/null
	same_weights whole parts "step-0000$steps"
}

@test "trainer: two trainers on one folder: the second is refused" {
	mkdir out
	exec 9>out/lock
	flock 9
	run train out
	[ "$status" -eq 1 ]
	[[ "$output" == *"another trainer is writing into 'out'"* ]]
}

@test "trainer: a full disk leaves the checkpoints before, and says so" {
	train out --stop_after 5 --checkpoint_steps 5 >/dev/null || [ $? -eq 75 ]
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

@test "trainer: 2 and 4 ranks train as 1 rank with the larger batch" {
	command -v mpirun >/dev/null || skip "mpirun is not installed"
	train one --batch_size 8 --max_steps 10 --preset seeds --attention_dropout 0 >/dev/null
	for n in 2 4; do
		mpirun --oversubscribe -n "$n" "$TRAINER" train --config_file_path tiny --max_steps 10 \
			--lr 1e-3 --threads 1 --attention_dropout 0 --preset seeds --logdir logs \
			--batch_size $((8 / n)) --output_dir "ranks$n" >"log$n"
		python3 - "$n" <<-'PY'
			import json, struct, sys
			def read(path):
			    b = open(path, "rb").read()
			    n, = struct.unpack("<Q", b[:8])
			    head = json.loads(b[8:8 + n])
			    head.pop("__metadata__", None)
			    return {k: struct.unpack("<%df" % ((v["data_offsets"][1] - v["data_offsets"][0]) // 4),
			                             b[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]])
			            for k, v in head.items()}
			one = read("one/step-00000010/model.safetensors")
			many = read("ranks%s/step-00000010/model.safetensors" % sys.argv[1])
			# AdamW turns rounding noise into moves of the size of lr where the gradient is nothing
			# but noise, so the mean tells and the largest is bounded by lr.
			worst = max(abs(a - b) for k in one for a, b in zip(one[k], many[k]))
			total = sum(abs(a - b) for k in one for a, b in zip(one[k], many[k]))
			mean = total / sum(len(v) for v in one.values())
			print(sys.argv[1], "ranks: mean", mean, "largest", worst)
			sys.exit(0 if mean < 1e-6 and worst < 2e-3 else 1)
		PY
	done
}

@test "trainer: a dead rank is named within a minute, and the job resumes" {
	command -v mpirun >/dev/null || skip "mpirun is not installed"
	mpirun --oversubscribe -n 2 "$TRAINER" train --config_file_path tiny --max_steps 1000000 \
		--num_epochs 100000 --lr 1e-3 --threads 1 --checkpoint_steps 20 --logdir logs \
		--output_dir out --rank_timeout 5 --batch_size 1 >log 2>&1 &
	job=$!
	for _ in $(seq 100); do
		[ -e out/latest ] && break
		sleep 0.1
	done
	victim=$(pgrep -P "$job" -n)
	kill -STOP "$victim"
	rc=0
	wait "$job" || rc=$?
	kill -KILL "$victim" 2>/dev/null || true
	[ "$rc" -ne 0 ]
	cat log
	grep -Eq 'no answer for 5 s from rank 1' log
	train out --resume --batch_size 1 --max_steps 100000 --stop_after 2 --preset seeds >/dev/null || [ $? -eq 75 ]
}

@test "trainer: real videos are prepared once, hostile ones reported, learned and sampled" {
	[ -x "$BIN/slipway-prepare" ] || skip "slipway-prepare is not built"
	mkdir debs
	(cd debs && apt-get download python3-mecavideo python3-imageio >/dev/null 2>&1) || skip "the package mirror is not reachable"
	for d in debs/*.deb; do dpkg-deb -x "$d" x; done
	mkdir -p videos/ball videos/bird
	find x -name 'balle*' \( -name '*.mp4' -o -name '*.avi' \) -exec cp {} videos/ball/ \;
	find x -name '*.mp4' -path '*imageio*' -exec cp {} videos/bird/ \;
	head -c 50000 videos/bird/cockatoo.mp4 >videos/bird/cut.mp4
	head -c 50000 /dev/urandom >videos/bird/noise.avi
	run "$TRAINER" prepare --source videos --out data --config_file_path tiny
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"rejected 'videos/bird/noise.avi'"* ]]
	[[ "$output" == *"4 decoded, 0 reused, 2 rejected"* ]]
	run "$TRAINER" prepare --source videos --out data --config_file_path tiny
	[[ "$output" == *"0 decoded, 4 reused, 2 rejected"* ]]

	"$TRAINER" train --config_file_path tiny --dataset kinetics --dataset_dir data --batch_size 8 \
		--max_steps 600 --num_epochs 1000 --lr 5e-3 --schedule cosine --warmup_steps 10 --threads 1 \
		--logdir logs --output_dir out --log_steps 1 \
		--json_log log.json >log
	python3 - <<-'PY'
		import json
		lines = [json.loads(l) for l in open("log.json")]
		first, last = lines[0]["loss"], sum(l["loss"] for l in lines[-10:]) / 10
		print("loss", first, "->", last)
		raise SystemExit(0 if last < first / 3 else 1)
	PY
	"$TRAINER" sample --checkpoint "out/$(cat out/latest)" --dataset_dir data --clip 0 --out pictures
	[ -s pictures/frames.png ]
	[ -s pictures/reconstruction.wav ]
	"$TRAINER" eval --config_file_path tiny --dataset kinetics --dataset_dir data \
		--checkpoint "out/$(cat out/latest)" --eval_steps 2
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
	PY

	run train out --precision fp8
	[ "$status" -eq 2 ]
	[[ "$output" == *"--precision is 'fp8', expected f32 or bf16"* ]]
	run "$TRAINER" train --config_file_path tiny --max_steps 1 --reference --precision bf16
	[ "$status" -eq 2 ]
	[[ "$output" == *"the reference arithmetic has no bf16"* ]]
}

#!/usr/bin/env bats
# slipway-trainer on GPUs: the program as it is shipped, which finds the tests' stand-in for the driver (tests/cuda/standin.h)
# where a node's would be found. No GPU was ever asked.

load trainer

setup_file() {
	export STANDIN="$BATS_TEST_DIRNAME/../../${BUILD:-build}/cuda"
	[ -e "$STANDIN/libcuda.so.1" ]
}

# A network small enough for an emulated GPU: an eighth of a second per clip.
small() {
	cat >small.json <<-'JSON'
		{"num_frames": 2, "image_size": 4, "output_shape": [1, 2, 16, 16], "audio_samples_per_frame": 160,
		 "samples_per_patch": 16, "num_labels": 10, "num_latents": 9, "d_latents": 20, "num_self_attends_per_block": 1,
		 "num_self_attention_heads": 4, "audio_num_bands": 5, "image_num_bands": 3, "output_num_channels": 12,
		 "label_query_channels": 10}
	JSON
	SMALL=(--config_file_path small.json --image_points 12 --audio_points 6 --batch_size 2 --max_steps 6 --lr 1e-2
		--optimizer sgd --attention_dropout 0.1 --preset seeds --threads 1 --log_steps 1 --checkpoint_steps 2 --logdir logs)
}

# on DEVICE COMMAND...: a trainer's command, with the driver where the device is a GPU; at most a minute.
on() {
	local device=$1 command=$2
	shift 2
	if [[ $device == cpu ]]; then
		timeout 60 "$TRAINER" "$command" "$@" --device cpu
	else
		STANDIN_REPORT=$PWD/report LD_LIBRARY_PATH=$STANDIN${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} timeout 60 "$TRAINER" "$command" "$@" --device "$device"
	fi
}

# run_on DEVICE OUTPUT [OPTIONS]: a run of the small network.
run_on() {
	local device=$1 out=$2
	shift 2
	on "$device" train "${SMALL[@]}" --output_dir "$out" --json_log "$out.jsonl" "$@"
}

# same_curve ONE OTHER: the logs' losses and norms, step by step.
same_curve() {
	python3 - "$1.jsonl" "$2.jsonl" <<-'PY'
		import json, sys
		one, other = ([json.loads(line) for line in open(name)] for name in sys.argv[1:])
		assert [r["step"] for r in one] == [r["step"] for r in other] and len(one) == 6, (one, other)
		for a, b in zip(one, other):
		    for key in ("loss", "loss_image", "loss_audio", "loss_label", "grad_norm"):
		        assert abs(a[key] - b[key]) <= 2e-5 * (1 + abs(a[key])), (a["step"], key, a[key], b[key])
	PY
}

# near ONE OTHER: the weights after the sixth step.
near() {
	python3 - "$1" "$2" <<-'PY'
		import json, struct, sys
		def read(folder):
		    data = open(folder + "/step-00000006/model.safetensors", "rb").read()
		    n, = struct.unpack("<Q", data[:8])
		    head = json.loads(data[8:8 + n])
		    head.pop("__metadata__", None)
		    return {k: struct.unpack("<%df" % ((v["data_offsets"][1] - v["data_offsets"][0]) // 4),
		                             data[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]])
		            for k, v in head.items()}
		one, other = read(sys.argv[1]), read(sys.argv[2])
		worst = max(abs(a - b) for k in one for a, b in zip(one[k], other[k]))
		print("largest difference", worst)
		sys.exit(0 if one.keys() == other.keys() and worst < 2e-6 else 1)
	PY
}

# Every process gave back what it held, and asked for nothing that a driver would refuse.
clean_report() {
	[ -s report ]
	! grep -v 'held 0 .*problem none$' report
}

@test "cuda: a run that moves from the CPU to a GPU and back has the CPU's curve" {
	small
	run_on cpu whole >/dev/null
	ends_with 75 run_on cpu moved --stop_after 2
	ends_with 75 run_on cuda moved --resume --stop_after 2
	run_on cpu moved --resume >/dev/null
	same_curve whole moved
	near whole moved
	clean_report
	local device
	for device in cpu cuda; do
		on "$device" eval "${SMALL[@]}" --checkpoint moved --eval_steps 1 | grep -o 'loss .*' >"$device.eval"
		grep -q 'image 0[.][0-9]* (PSNR' "$device.eval"
	done
	diff <(grep -o '[a-z]* [0-9]*[.][0-9]\{3\}' cpu.eval) <(grep -o '[a-z]* [0-9]*[.][0-9]\{3\}' cuda.eval)
}

@test "cuda: a GPU that fails ends the run with 77, one without memory with 78; the last checkpoint goes on" {
	small
	run_on cuda whole >/dev/null
	local calls
	calls=$(sed -n 's/calls \([0-9]*\) .*/\1/p' report)
	[ "$calls" -gt 800 ]
	# The last third of a run: after the second checkpoint of three. An error of ECC, a lost device, a lack of memory.
	local result want says
	for result in 214:77:"an error that cannot be corrected" 719:77:"a kernel failed" 2:78:"no memory left"; do
		IFS=: read -r result want says <<<"$result"
		rm -rf broken broken.jsonl
		export STANDIN_FAIL_AT=$((calls * 5 / 6)) STANDIN_RESULT=$result
		run --separate-stderr run_on cuda broken
		[ "$status" -eq "$want" ]
		# shellcheck disable=SC2154  # bats sets stderr
		[[ $stderr == *"$says"* ]]
		unset STANDIN_FAIL_AT STANDIN_RESULT
		[ -e broken/step-00000004/model.safetensors ]
		run_on cuda broken --resume | grep 'step 6'
		cmp whole/step-00000006/model.safetensors broken/step-00000006/model.safetensors
		cmp whole/step-00000006/optimizer.safetensors broken/step-00000006/optimizer.safetensors
	done
}

@test "cuda: what keeps a GPU from being used is said, with what to do" {
	small
	# A container that has no driver.
	run --separate-stderr "$TRAINER" train "${SMALL[@]}" --output_dir out --device cuda
	[ "$status" -eq 1 ]
	[[ $stderr == *"there is no driver for NVIDIA's GPUs: libcuda.so.1: cannot open"* ]]
	[[ $stderr == *"a pod that asks for nvidia.com/gpu"* ]]
	# fails CALL RESULT STATUS TEXT HINT
	fails() {
		STANDIN_FAIL_AT=1 STANDIN_FAIL_CALL=$1 STANDIN_RESULT=$2 run --separate-stderr run_on "${DEVICE:-cuda}" out
		[ "$status" -eq "$3" ]
		[[ $stderr == *"$4"* ]]
		[[ $stderr == *"$5"* ]]
		[ ! -e out ]
	}
	fails cuModuleLoadDataEx 222 1 "compile the kernels 'product_f32': the driver is too old for the kernels" "Update the node's NVIDIA driver"
	fails cuModuleLoadDataEx 221 1 "the driver's compiler is missing" NVIDIA_DRIVER_CAPABILITIES=compute,utility
	STANDIN_DEVICES=0 fails none 0 1 "open GPU 0: there is no GPU (cuInit: " "a pod that asks for nvidia.com/gpu"
	fails cuInit 802 77 "the node's GPUs are not connected yet" "fabric manager"
	# Neither does a GPU that was meant to be used become a CPU.
	DEVICE=auto fails cuInit 802 77 "look for a NVIDIA GPU: the node's GPUs are not connected yet" "fabric manager"
	STANDIN_COMPUTE=75 run --separate-stderr run_on cuda out --precision bf16
	[ "$status" -eq 1 ]
	[[ $stderr == *"compute capability 7.5: bf16 needs 8.0"* ]]
	STANDIN_DEVICES=2 run --separate-stderr run_on cuda:2 out
	[[ $stderr == *"--device cuda:2: there are 2 NVIDIA GPUs here"* ]]
}

@test "cuda: auto takes the GPU that is here, and probe and the log say so" {
	small
	LD_LIBRARY_PATH=$STANDIN "$TRAINER" probe >shown
	grep -q '^runs on: *cuda:0$' shown
	grep -q '^nvidia: *Stand-in, 0.5 GiB, compute capability 8.6$' shown
	run_on auto out --max_steps 1 >log 2>&1
	grep -q 'on cuda:0: Stand-in, compute capability 8.6, CUDA 12.4, f32' log
	grep -q 'Training Device=cuda:0 ' log
	clean_report
}

# ranks N OUTPUT [OPTIONS]: N ranks on a node of four GPUs, which share 4 clips a step.
ranks() {
	local n=$1 out=$2
	shift 2
	STANDIN_DEVICES=4 run_ranks "$n" run_on cuda "$out" --batch_size $((4 / n)) "$@"
}

# The functions of this file, in each of mpirun's processes.
run_ranks() {
	local n=$1
	shift
	mpirun --oversubscribe -n "$n" -x STANDIN_DEVICES bash -c "$(declare -f on run_on); TRAINER=$TRAINER; STANDIN=$STANDIN
		SMALL=(${SMALL[*]}); [[ \$OMPI_COMM_WORLD_RANK != \${LOSES:-none} ]] || export STANDIN_FAIL_AT=600 STANDIN_RESULT=214
		$*"
}

@test "cuda: 2 and 4 ranks, each on a GPU of its own, train as 1 rank with the larger batch" {
	command -v mpirun >/dev/null || skip "mpirun is not installed"
	small
	SMALL+=(--attention_dropout 0)
	ranks 1 one >/dev/null
	local n
	for n in 2 4; do
		rm -f report
		ranks "$n" "ranks$n" >log 2>&1
		grep "^$n ranks (Open MPI)" log
		near one "ranks$n"
		[ "$(grep -o 'device [0-9]' report | sort | tr '\n' ' ')" = "$(seq -f 'device %g ' 0 $((n - 1)) | tr -d '\n')" ]
		clean_report
	done
}

@test "cuda: a rank whose GPU fails says which it is, and ends the others" {
	command -v mpirun >/dev/null || skip "mpirun is not installed"
	small
	export LOSES=1
	run ranks 2 lost --rank_timeout 10
	[ "$status" -ne 0 ]
	[ "$status" -ne 124 ]
	[[ $output == *"rank 1: "*"the GPU's memory has an error that cannot be corrected"* ]]
}

@test "cuda: one process starts the ranks of its node, each on a GPU of its own" {
	mpich
	small
	SMALL+=(--attention_dropout 0)
	run_on cuda one --batch_size 4 >/dev/null
	rm report
	STANDIN_DEVICES=4 run_on cuda four --batch_size 1 --local_ranks 4 >log 2>&1
	grep "^4 ranks (MPICH) on cuda:0: Stand-in" log
	near one four
	[ "$(grep -o 'device [0-9]' report | sort | tr '\n' ' ')" = "device 0 device 1 device 2 device 3 " ]
	clean_report
	# A launcher that has started the node's ranks is not asked twice.
	RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 run_on cuda again --max_steps 1 --local_ranks 4 >log 2>&1
	grep "^1 rank (single process) on cuda:0" log
	# More ranks than GPUs: the cause's message and status, and nobody waits for ever.
	STANDIN_DEVICES=2 run --separate-stderr run_on cuda many --local_ranks 3 --rank_timeout 5
	[ "$status" -eq 1 ]
	[[ $stderr == *"rank 2: rank 2 of this node has no NVIDIA GPU of its own: there are 2 here"* ]]
}

@test "cuda: a request to stop reaches the ranks of a node, a killed one is named, and none outlives its parent" {
	mpich
	small
	SMALL+=(--attention_dropout 0 --max_steps 4000 --checkpoint_steps 0 --rank_timeout 6)
	# started OUTPUT: two ranks at work; sets PARENT.
	started() {
		rm -rf "$1" "$1.log" report
		LD_LIBRARY_PATH=$STANDIN:$LD_LIBRARY_PATH STANDIN_DEVICES=2 "$TRAINER" train "${SMALL[@]}" --output_dir "$1" --local_ranks 2 \
			--device cuda --batch_size 1 >"$1.log" 2>&1 3>&- &
		PARENT=$!
		for _ in $(seq 100); do
			if grep -q 'step 1:' "$1.log"; then return; fi
			sleep 0.1
		done
		cat "$1.log"
		return 1
	}
	local status=0 rank
	started stopped
	kill -TERM "$PARENT"
	wait "$PARENT" || status=$?
	[ "$status" -eq 75 ]
	ls stopped/step-*/model.safetensors

	started killed
	rank=$(pgrep -P "$PARENT" | tail -n 1)
	kill -KILL "$rank"
	status=0
	wait "$PARENT" || status=$?
	[ "$status" -eq 76 ]
	grep 'rank 1 was ended by signal 9' killed.log

	started orphans
	rank=$(pgrep -P "$PARENT" | tr '\n' ' ')
	kill -KILL "$PARENT"
	wait "$PARENT" || true
	local one
	for one in $rank; do
		for _ in $(seq 100); do
			kill -0 "$one" 2>/dev/null || break
			sleep 0.1
		done
		! kill -0 "$one" 2>/dev/null
	done
}

@test "cuda: the tests and the bench for machines with a GPU do what they say" {
	local gpu=$ROOT/tests/gpu/gpu
	run "$gpu" test "$TRAINER"
	[ "$status" -eq 1 ]
	[[ $output == *"there is no GPU that slipway-trainer can use here"* ]]
	export LD_LIBRARY_PATH=$STANDIN
	run "$gpu" test "$TRAINER" --golden "$ROOT/tests/golden/perceiver/cross-heads" --steps 2
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"# Stand-in, compute capability 8.6"* ]]
	[[ $output == *"6 passed, 0 failed"* ]]
	"$gpu" page .
	diff gpu.md "$ROOT/docs/bench/gpu.md"
	"$gpu" bench "$TRAINER" . --config tiny --batch 1 --steps 2
	grep '^| tiny | f32 | 1 | ' gpu.md
	grep '^| tiny | bf16 | 1 | ' gpu.md
	grep '^# The trainer on GPUs: unproved on T4G, A10G, A100, L4, L40S, H100, H200$' gpu.md
	# A driver that fails once is seen by every step that it could have fooled.
	STANDIN_COMPUTE=75 STANDIN_FAIL_CALL=cuLaunchKernel STANDIN_FAIL_AT=5 STANDIN_RESULT=719 run "$gpu" test "$TRAINER" \
		--golden "$ROOT/tests/golden/perceiver/cross-heads" --steps 2
	[ "$status" -eq 1 ]
	[[ $output == *"not ok - goldens"* && $output == *"not ok - curve"* && $output == *"not ok - resume"* ]]
}

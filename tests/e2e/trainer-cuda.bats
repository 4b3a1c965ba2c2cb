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

# Every process gave back what it held, asked for nothing that a driver would refuse, and took no memory after its first step.
clean_report() {
	[ -s report ]
	! grep 'late [1-9]' report || return 1
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
	grep -q ' replays 5 ' report
	# The last step, which is the fifth replay of a recording. An error of ECC, a lost device, a lack of memory.
	local result want says
	for result in 214:77:"an error that cannot be corrected" 719:77:"a kernel failed" 2:78:"no memory left"; do
		IFS=: read -r result want says <<<"$result"
		rm -rf broken broken.jsonl
		export STANDIN_FAIL_CALL=cuGraphLaunch STANDIN_FAIL_AT=5 STANDIN_RESULT=$result
		run --separate-stderr run_on cuda broken
		[ "$status" -eq "$want" ]
		# shellcheck disable=SC2154  # bats sets stderr
		[[ $stderr == *"$says"* ]]
		unset STANDIN_FAIL_CALL STANDIN_FAIL_AT STANDIN_RESULT
		[ -e broken/step-00000004/model.safetensors ]
		run_on cuda broken --resume | grep 'step 6'
		cmp whole/step-00000006/model.safetensors broken/step-00000006/model.safetensors
		cmp whole/step-00000006/optimizer.safetensors broken/step-00000006/optimizer.safetensors
	done
}

@test "cuda: a run in f16 on a GPU without bf16 goes on as an unbroken one; a CPU says that it has no f16" {
	small
	export STANDIN_COMPUTE=75
	run_on cuda whole --precision f16 >log 2>&1
	grep -q 'on cuda:0: Stand-in, compute capability 7.5, CUDA 12.4, f16' log
	ends_with 75 run_on cuda broken --precision f16 --stop_after 3
	grep -q '"loss_scale_log2": "16"' broken/step-00000003/trainer_state.json
	grep -q '"loss_scale_good": "3"' broken/step-00000003/trainer_state.json
	run_on cuda broken --precision f16 --resume >/dev/null
	local file
	for file in model.safetensors optimizer.safetensors trainer_state.json; do
		cmp whole/step-00000006/$file broken/step-00000006/$file
	done
	grep -q '"loss_scale":65536,' whole.jsonl
	run --separate-stderr run_on cpu out --precision f16
	[ "$status" -eq 2 ]
	[[ $stderr == *"f16 is a GPU's"*"Give --precision bf16 or f32, or --device cuda"* ]]
	run --separate-stderr run_on cpu out --precision tf32
	[ "$status" -eq 2 ]
	[[ $stderr == *"tf32 is a GPU's"*"Give --precision f32 or bf16, or --device cuda"* ]]
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
	[[ $stderr == *"--precision f16, which this GPU has"* ]]
	STANDIN_COMPUTE=75 run --separate-stderr run_on cuda out --precision tf32
	[[ $stderr == *"compute capability 7.5: tf32 needs 8.0"*"--precision f32"* ]]
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

# by_gemm OUTPUT [OPTIONS]: a run with cuBLASLt's stand-in where a base image would have the library.
by_gemm() {
	local out=$1
	shift
	LD_LIBRARY_PATH=$STANDIN/cublaslt:${LD_LIBRARY_PATH:-} CUDA_CACHE_PATH=$PWD/cache run_on cuda "$out" "$@"
}

@test "cuda: products go to cuBLASLt where it is here and faster, the log and the checkpoint say so, a restart measures nothing" {
	small
	run_on cpu whole >/dev/null
	ends_with 75 by_gemm auto --stop_after 3 >log 2>&1
	grep '^products by cuBLASLt 12.4.5 for [1-9][0-9]* of [1-9][0-9]* shapes$' log
	grep '"products": "cuBLASLt 12.4.5 for [1-9]' auto/step-00000003/trainer_state.json
	local measured known
	measured=$(sed -n 's/^cublaslt \([0-9]*\) products.*/\1/p' report)
	grep -q '^cublaslt [0-9]* products [1-9][0-9]* recorded held 0 problem none$' report
	rm report
	by_gemm auto --resume >log 2>&1
	known=$(sed -n 's/^cublaslt \([0-9]*\) products.*/\1/p' report)
	[ "$known" -lt $((measured / 2)) ]
	clean_report
	same_curve whole auto
	near whole auto
	# By its name: an error where it is not, or fails; on a CPU, there is none.
	by_gemm named --gemm cublaslt --max_steps 1 >log 2>&1
	grep '^products by cuBLASLt 12.4.5 for [1-9][0-9]* of [0-9]* shapes$' log # a few end as only our kernels do
	run_on cuda own --max_steps 1 --gemm own >log 2>&1
	grep '^products by own kernels$' log
	run --separate-stderr run_on cuda none --gemm cublaslt
	[ "$status" -eq 1 ]
	[[ $stderr == *"--gemm cublaslt: there is no cuBLASLt: libcublasLt.so.12: cannot open"*"Without it: --gemm own."* ]]
	export STANDIN_LT_FAIL_CALL=cublasLtMatmul STANDIN_LT_FAIL_AT=9 STANDIN_LT_STATUS=14
	run --separate-stderr by_gemm broken --gemm cublaslt
	[ "$status" -eq 1 ]
	[[ $stderr == *"cuBLASLt refuses cublasLtMatmul (14)"*"--gemm own does without it"* ]]
	rm -rf cache
	by_gemm around --max_steps 2 >log 2>&1
	grep '^products by cuBLASLt 12.4.5 for [0-9]* of [0-9]* shapes (cuBLASLt refuses cublasLtMatmul (14))$' log
	unset STANDIN_LT_FAIL_CALL STANDIN_LT_FAIL_AT STANDIN_LT_STATUS
	run --separate-stderr run_on cpu none --gemm cublaslt
	[ "$status" -eq 2 ]
	[[ $stderr == *"cuBLASLt is a GPU's"* ]]
	run --separate-stderr run_on cuda none --gemm other
	[[ $stderr == *"--gemm is 'other', expected auto, own or cublaslt"* ]]
}

@test "cuda: --batch_size auto takes what the GPU's memory has room for, says so, and is kept when the run goes on" {
	small
	SMALL+=(--attention_dropout 0 --batch_size auto --max_steps 2 --image_points 100)
	export STANDIN_MEMORY_MIB=20
	on cuda train "${SMALL[@]}" --print_config | grep '^batch_size ' >shown
	[[ $(cat shown) =~ ^batch_size\ +([0-9]+)\ +flag,\ auto:\ 21.0\ MB\ free\ on\ cuda:0$ ]]
	local n=${BASH_REMATCH[1]}
	[ "$n" -gt 2 ]
	[ "$n" -lt 20 ]
	# What it is fits, and four times as much does not.
	run_on cuda out --stop_after 1 >log 2>&1 || [ $? -eq 75 ]
	grep "^--batch_size auto is $n (21.0 MB free on cuda:0)$" log
	grep -q "batch_size=$n," log
	run --separate-stderr run_on cuda large --batch_size $((n * 4))
	[ "$status" -eq 78 ]
	# On a larger GPU the run keeps the batch that it was begun with.
	STANDIN_MEMORY_MIB=64 run_on cuda out --resume >log 2>&1
	grep "^--batch_size auto is $n (as in the run that is resumed)$" log
	clean_report
	# A CPU is as fast with few.
	on cpu train "${SMALL[@]}" --print_config | grep '^batch_size  *8  *flag, auto: the default, or what fits, on cpu:0$'
	run on cpu train "${SMALL[@]}" --batch_size many
	[[ $output == *"--batch_size is 'many', expected a whole number from 1 to 65536, or auto"* ]]
}

@test "cuda: what a GPU tells of itself is in every log; none of it is needed; errors that cannot be corrected end the run" {
	small
	SMALL+=(--max_steps 2)
	local library=$LD_LIBRARY_PATH
	export LD_LIBRARY_PATH=$STANDIN/nvml:${LD_LIBRARY_PATH:-}
	run_on cuda out >log
	grep 'tokens/s; GPU 97 %, 41 % memory, 4000 MB, 250 W, 61 C, 1410 MHz$' log
	grep -q '"tokens_per_second":[0-9.e+]*,.*"gpu_utilization_ratio":0.9[67][0-9]*,"gpu_memory_utilization_ratio":0.4[0-9]*,"gpu_memory_bytes":4000000000,"gpu_power_watts":250.5,.*"gpu_ecc_uncorrectable_total":2,' out.jsonl
	grep -q 'GPU/Temperature' logs/*/events*
	[ "$(grep -c '^nvml .* held 0 problem none$' report)" -eq 1 ]
	clean_report
	# No library, one that is of no use, and one sensor less.
	LD_LIBRARY_PATH=$library run_on cuda without | grep 'tokens/s$'
	cmp out/step-00000002/model.safetensors without/step-00000002/model.safetensors
	STANDIN_NVML_FAIL_CALL=all run_on cuda fails | grep 'tokens/s$'
	STANDIN_NVML_FAIL_CALL=nvmlDeviceGetPowerUsage run_on cuda less | grep '4000 MB, 61 C, 1410 MHz$'
	clean_report
	# Every step asks, and the driver's binding does once a second.
	STANDIN_NVML_ERRORS=6 run --separate-stderr run_on cuda broken --max_steps 100 --checkpoint_steps 1
	[ "$status" -eq 77 ]
	[[ $stderr == *"the GPU's memory has an error that cannot be corrected"*nvmlDeviceGetTotalEccErrors* ]]
	ls broken/step-*/model.safetensors
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
	openmpi
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
	openmpi
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

# summed_by HOW RANKS OUTPUT [OPTIONS]: ranks of one node that share 4 clips a step, with NCCL's stand-in where a base image would
# have it, unless HOW is mpi.
summed_by() {
	local how=$1 n=$2 out=$3 nccl=$STANDIN/nccl:
	shift 3
	[[ $how == nccl ]] || nccl=
	LD_LIBRARY_PATH=$nccl${LD_LIBRARY_PATH:-} STANDIN_DEVICES=4 run_on cuda "$out" --batch_size $((4 / n)) --local_ranks "$n" "$@"
}

@test "cuda: ranks sum by NCCL where it is there, as one GPU, and by MPI with the same bits; a run moves between all of them" {
	mpich
	small
	SMALL+=(--attention_dropout 0)
	run_on cuda one --batch_size 4 >/dev/null
	summed_by nccl 4 four >log 2>&1
	grep '^gradients are summed by NCCL 2.30.7$' log
	near one four
	summed_by nccl 2 two >log 2>&1
	near one two
	[ "$(grep -c '^nccl [1-9][0-9]* sums held 0 problem none$' report)" -eq 6 ]
	summed_by mpi 2 hosts >log 2>&1
	grep "^gradients are summed by MPICH, through the hosts' memory: there is no NCCL: libnccl.so.2: cannot open" log
	cmp two/step-00000006/model.safetensors hosts/step-00000006/model.safetensors
	summed_by nccl 2 forced --max_steps 1 --collective host >log 2>&1
	grep "^gradients are summed by MPICH, through the hosts' memory$" log
	# Four GPUs, the CPU, two GPUs.
	ends_with 75 summed_by nccl 4 moved --stop_after 2
	ends_with 75 run_on cpu moved --batch_size 4 --resume --stop_after 2
	summed_by nccl 2 moved --resume >/dev/null
	near one moved
	clean_report
	run --separate-stderr summed_by mpi 2 none --collective nccl --rank_timeout 5
	[ "$status" -eq 1 ]
	[[ $stderr == *"there is no NCCL: libnccl.so.2"*"--collective host"* ]]
}

@test "cuda: a request to stop reaches the ranks of a node, a killed one is named, and none outlives its parent" {
	mpich
	small
	SMALL+=(--attention_dropout 0 --max_steps 4000 --checkpoint_steps 0 --rank_timeout 6)
	# started OUTPUT: two ranks at work; sets PARENT.
	started() {
		rm -rf "$1" "$1.log" report
		LD_LIBRARY_PATH=${NCCL:-}$STANDIN:$LD_LIBRARY_PATH STANDIN_DEVICES=2 "$TRAINER" train "${SMALL[@]}" --output_dir "$1" --local_ranks 2 \
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

	# The same in the midst of NCCL's sums, which would wait for ever.
	NCCL=$STANDIN/nccl: started abandoned
	grep 'summed by NCCL' abandoned.log
	kill -KILL "$(pgrep -P "$PARENT" | tail -n 1)"
	status=0
	wait "$PARENT" || status=$?
	[ "$status" -eq 76 ]
	grep 'rank 0: reduce the gradient of step [0-9]*: rank 1 (.*) has gone: its process or its machine has ended' abandoned.log

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
		! kill -0 "$one" 2>/dev/null || return 1
	done
}

@test "cuda: a few of the random networks are the CPU's on arm64, too, under qemu-user" {
	[ "$(dpkg --print-architecture)" = amd64 ] || skip "this machine is of the other architecture"
	command -v qemu-aarch64-static >/dev/null || skip "qemu-aarch64-static is not installed"
	[ -e /usr/aarch64-linux-gnu/lib/libc.so.6 ] || skip "no arm64 libraries"
	cd "$ROOT"
	# In f32, bf16 and f16, by our kernels and by cuBLASLt's stand-in.
	SLIPWAY_TEST_ONLY="51 12 105" run timeout 600 qemu-aarch64-static -L /usr/aarch64-linux-gnu "$STANDIN/arm64/test_trainer_cuda_random"
	echo "$output"
	[ "$status" -eq 0 ]
	for precision in f32 bf16 f16; do [[ $output == *": ok: $precision on "* ]]; done
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
	[[ $output == *"not run - ranks"*"there is one GPU here"* ]]
	[[ $output == *"not run - cublaslt: cross-heads in f32"*"there is no cuBLASLt"* ]]
	# Two of them, with NCCL and without.
	mpich
	small
	LD_LIBRARY_PATH=$STANDIN/nccl:$STANDIN:$LD_LIBRARY_PATH STANDIN_DEVICES=2 run "$gpu" test "$TRAINER" --steps 2 --only ranks \
		--config "$PWD/small.json"
	echo "$output"
	[[ $output == *"ok - ranks: two GPUs, by NCCL and by the hosts, are one"*"1 passed, 0 failed"* ]]
	export LD_LIBRARY_PATH=$STANDIN
	# A PyTorch that takes batches of one alone.
	cat >torch <<-'SH'
		#!/bin/sh
		case "$*" in -c*) ;; *peak*) echo 120.5 ;; *'--batch 1 '*) echo 0.5 ;; *) exit 1 ;; esac
	SH
	chmod +x torch
	LD_LIBRARY_PATH=$STANDIN/cublaslt:$LD_LIBRARY_PATH TORCH_PYTHON=$PWD/torch "$gpu" bench "$TRAINER" . --config "$PWD/small.json" \
		--batch 1 --steps 2 --square 48
	grep '^| small | f32 | 1 | .* ms | ' gpu.md
	grep '^A step of one clip takes [0-9.]* ms[.]$' gpu.md
	grep '^In bf16: the first step ends [0-9.]* s after the start, [0-9.]* s with what an earlier run has compiled and measured[.]$' gpu.md
	grep '^Multiply-adds in registers reach [0-9.]* TFLOP/s, large products [0-9.]* (\(cuBLASLt 12.4.5\|own kernels\)); the best batch.s useful algebra is .* % of the larger[.]$' gpu.md
	grep '^Products in bf16: our kernels have [0-9]* % of cuBLASLt.s speed over all [1-9][0-9]* shapes; ' gpu.md
	grep '^| [nt][nt] | [0-9]* x [0-9]* by [0-9]* | [0-9.]* TFLOP/s | [0-9.]* TFLOP/s | [0-9]* % |$' gpu.md
	grep '^PyTorch 2 (torch.compile, SDPA) in bf16: .* with batches of 1; this trainer.s best batch is [0-9.]* times that. cuBLAS reaches 120.5' gpu.md
	sed -i 's/"torch": {/"torch": {"skipped": "No module named torch",/' gpu.json
	"$gpu" page .
	grep '^PyTorch beside it: skipped (No module named torch)[.]$' gpu.md
	grep '^| small | bf16 | 1 | ' gpu.md
	grep '^# The trainer on GPUs: unproved on T4G, A10G, A100, L4, L40S, H100, H200$' gpu.md
	# A driver that fails once is seen by every step that it could have fooled.
	STANDIN_COMPUTE=75 STANDIN_FAIL_CALL=cuLaunchKernel STANDIN_FAIL_AT=5 STANDIN_RESULT=719 run "$gpu" test "$TRAINER" \
		--golden "$ROOT/tests/golden/perceiver/cross-heads" --steps 2
	[ "$status" -eq 1 ]
	[[ $output == *"not ok - goldens"* && $output == *"not ok - curve"* && $output == *"not ok - resume"* ]]
}

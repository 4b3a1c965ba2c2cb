#!/usr/bin/env bats
# Every function that slipway-trainer looks up in NVIDIA's libraries fails, at its first use and late in a run: what is said,
# and what is left behind. The list is the loader's (LD_DEBUG of ld.so(8)), of the program as it is shipped; the libraries are
# the tests' stand-ins (tests/cuda). No GPU was ever asked.

load trainer

setup_file() {
	export STANDIN="$BATS_TEST_DIRNAME/../../${BUILD:-build}/cuda"
	[ -e "$STANDIN/libcuda.so.1" ]
}

# smallest FOLDERS: a network of a few thousand weights, and these folders' libraries beside the driver's.
smallest() {
	cat >smallest.json <<-'JSON'
		{"num_frames": 1, "image_size": 4, "output_shape": [1, 1, 8, 8], "audio_samples_per_frame": 32, "samples_per_patch": 16,
		 "num_labels": 5, "num_latents": 4, "d_latents": 8, "num_self_attends_per_block": 1, "num_self_attention_heads": 2,
		 "audio_num_bands": 2, "image_num_bands": 2, "output_num_channels": 8, "label_query_channels": 8}
	JSON
	SMALLEST=(--config_file_path smallest.json --image_points 4 --audio_points 2 --max_steps 4 --lr 1e-2 --attention_dropout 0
		--preset seeds --threads 1 --log_steps 1 --checkpoint_steps 1 --keep 0 --logdir logs --device cuda --batch_size 1)
	LIBRARIES=$1$STANDIN${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

# course OUTPUT [OPTIONS]: a run of it; no call that fails may make it longer than this.
course() {
	local out=$1
	shift
	LD_LIBRARY_PATH=$LIBRARIES STANDIN_DEVICES=2 CUDA_CACHE_PATH=$PWD/cache timeout 60 "$TRAINER" train "${SMALLEST[@]}" \
		--output_dir "$out" "$@"
}

# whole PREFIX [OPTIONS]: an unbroken run, as what others are measured by; the functions of that prefix which the program looks
# up, into ./looked-up, and how often each is used by one process, into ./uses.
whole() {
	local prefix=$1
	shift
	LD_DEBUG=bindings LD_DEBUG_OUTPUT=symbols STANDIN_USES=$PWD/all-uses course whole "$@" >/dev/null
	sed -nE "s/.*symbol \`(${prefix}[A-Z][A-Za-z0-9_]*)'.*/\1/p" symbols.* | sort -u >looked-up
	# Of several ranks, the one that uses it least: it fails in all of them.
	sort -k1,1 -k2,2n all-uses | awk '!seen[$1]++' >uses
	rm -f symbols.* all-uses
	echo "$(wc -l <looked-up) functions $prefix"
}

# uses_of FUNCTION: how often a whole run uses it; 0: never.
uses_of() { awk -v name="$1" '$1 == name {n = $2} END {print n + 0}' uses; }

# left_behind FUNCTION: every checkpoint that a broken run left is the unbroken one's.
left_behind() {
	local folder file
	for folder in broken/step-*; do
		[ -e "$folder" ] || continue
		for file in model.safetensors optimizer.safetensors; do cmp "whole/${folder#*/}/$file" "$folder/$file"; done
		CHECKPOINTS=$((CHECKPOINTS + 1))
	done
}

# fails FUNCTION AT [OPTIONS]: a run in which use AT of the function fails. It says so by the function's name, and what to do;
# or nobody needed that use, and the run is whole.
fails() {
	local name=$1 at=$2 status=0
	shift 2
	rm -rf broken cache
	course broken "$@" >said 2>&1 || status=$?
	echo "$name, use $at: status $status"
	left_behind
	case $status in
	0) cmp whole/step-00000004/model.safetensors broken/step-00000004/model.safetensors ;;
	1 | 76 | 77 | 78)
		grep -F "$name" said
		grep '^  [A-Z]' said
		;;
	*)
		cat said
		return 1
		;;
	esac
	[[ $status == 0 ]] || BROKEN=$((BROKEN + 1))
}

# each_fails VARIABLES [OPTIONS]: all of ./looked-up in turn, at the first use and at one of the last; VARIABLES is the stand-in's
# prefix of variables. What no run uses is in ./apart.
each_fails() {
	local variables=$1 names name n at
	shift
	mapfile -t names <looked-up
	for name in "${names[@]}"; do
		n=$(uses_of "$name")
		if [[ $n == 0 ]]; then
			echo "$name is not used"
			grep -qx "$name" apart
			continue
		fi
		for at in $(printf '%s\n' 1 $((n - n / 5)) | sort -nu); do
			export "${variables}_FAIL_CALL=$name" "${variables}_FAIL_AT=$at"
			fails "$name" "$at" "$@" # alone, so that what fails in it fails
		done
	done
	unset "${variables}_FAIL_CALL" "${variables}_FAIL_AT"
}

@test "faults: each function of the driver fails, and says so; every checkpoint before it is whole" {
	smallest ""
	whole cu
	[ "$(wc -l <looked-up)" -ge 35 ]
	# An error's name, asked for after one alone; what times products, beside cuBLASLt, and what ranks ask, with NCCL (below).
	printf '%s\n' cuGetErrorName cuEventElapsedTime cuEventQuery >apart
	CHECKPOINTS=0 BROKEN=0
	each_fails STANDIN
	echo "$BROKEN runs broken, $CHECKPOINTS checkpoints left behind"
	[ "$BROKEN" -ge 30 ]
	[ "$CHECKPOINTS" -ge 30 ]
	# The last of them goes on to the unbroken run's end.
	local half=$(($(uses_of cuStreamSynchronize) / 2))
	STANDIN_FAIL_CALL=cuStreamSynchronize STANDIN_FAIL_AT=$half fails cuStreamSynchronize "$half"
	[ -e broken/step-00000001/model.safetensors ]
	course broken --resume >/dev/null
	cmp whole/step-00000004/model.safetensors broken/step-00000004/model.safetensors
	smallest "$STANDIN/cublaslt:"
	STANDIN_FAIL_CALL=cuEventElapsedTime STANDIN_FAIL_AT=1 fails cuEventElapsedTime 1
	[ ! -e broken/step-00000001 ]
	# A name that cannot be had keeps nobody from saying the number.
	STANDIN_FAIL_CALL=cuGetErrorName run --separate-stderr env STANDIN_DEVICES=0 LD_LIBRARY_PATH="$LIBRARIES" "$TRAINER" train \
		"${SMALLEST[@]}" --output_dir none
	[ "$status" -eq 1 ]
	# shellcheck disable=SC2154  # bats sets stderr
	[[ $stderr == *"there is no GPU (cuInit: unknown, 100)"* ]]
}

@test "faults: each function of cuBLASLt fails, and says so; every checkpoint before it is whole" {
	smallest "$STANDIN/cublaslt:"
	whole cublasLt --gemm cublaslt
	[ "$(wc -l <looked-up)" -ge 12 ]
	echo cublasLtGetVersion >apart # returns a number and no status
	CHECKPOINTS=0 BROKEN=0
	each_fails STANDIN_LT --gemm cublaslt
	echo "$BROKEN runs broken, $CHECKPOINTS checkpoints left behind"
	[ "$BROKEN" -ge 8 ]
}

@test "faults: each function of NCCL fails in both ranks, and says so; every checkpoint before it is whole" {
	mpich
	smallest "$STANDIN/nccl:"
	whole nccl --local_ranks 2 --rank_timeout 10
	[ "$(wc -l <looked-up)" -ge 8 ]
	# The name of a result, and what is asked for after a failure alone.
	printf '%s\n' ncclGetErrorString ncclCommAbort >apart
	CHECKPOINTS=0 BROKEN=0
	each_fails STANDIN_NCCL --local_ranks 2 --rank_timeout 10
	echo "$BROKEN runs broken, $CHECKPOINTS checkpoints left behind"
	[ "$BROKEN" -ge 5 ]
	# Of the driver's, what ranks alone ask.
	[ "$(uses_of cuEventQuery)" -gt 0 ]
	STANDIN_FAIL_CALL=cuEventQuery STANDIN_FAIL_AT=1 fails cuEventQuery 1 --local_ranks 2 --rank_timeout 10
}

@test "faults: no function of NVML is needed: each fails, and the run is the same" {
	smallest "$STANDIN/nvml:"
	whole nvml
	[ "$(wc -l <looked-up)" -ge 9 ]
	: >apart
	CHECKPOINTS=0 BROKEN=0
	local names name
	mapfile -t names <looked-up
	for name in "${names[@]}"; do
		[ "$(uses_of "$name")" -gt 0 ]
		STANDIN_NVML_FAIL_CALL=$name fails "$name" 1
	done
	[ "$BROKEN" -eq 0 ]
}

#!/usr/bin/env bats
# --device neuron: the program as it is shipped, with modules that a stand-in of neuronx-cc compiled and a stand-in of the
# Neuron runtime (tests/neuron/standin.h) runs. No Neuron device was ever asked.

load trainer

setup_file() {
	export STANDIN="$BATS_TEST_DIRNAME/../../${BUILD:-build}/neuron"
	[ -e "$STANDIN/libnrt.so.1" ]
}

# A network small enough for an interpreter; its modules are compiled into ./cache.
small() {
	export STANDIN_CC_CALLS=$PWD/calls
	: >calls
	SMALL=(--config_file_path "$ROOT/tests/golden/perceiver/published/config.json" --batch_size 2 --test_batch_size 2
		--image_points 8 --audio_points 3 --precision f32 --ema_decay 0.9 "$@")
	RUN=(--max_steps 6 --lr 1e-2 --preset seeds --threads 1 --log_steps 1 --logdir logs --cache_dir cache)
	compile
}

# compile [OPTIONS]: the modules of SMALL.
compile() {
	"$TRAINER" compile --compiler "$ROOT/tests/neuron/neuronx-cc" --cache_dir cache "${SMALL[@]}" "$@" >/dev/null 2>&1
}

calls() { wc -l <calls; }

# on DEVICE COMMAND...: with the runtime, unless the device is a processor; at most a minute.
on() {
	local device=$1 command=$2
	shift 2
	if [[ $device == cpu ]]; then
		timeout 60 "$TRAINER" "$command" "$@" --device cpu
	else
		STANDIN_NRT_REPORT=$PWD/report LD_LIBRARY_PATH=$STANDIN${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
			timeout 60 "$TRAINER" "$command" "$@" --device "$device"
	fi
}

# run_on DEVICE OUTPUT [OPTIONS]
run_on() {
	local device=$1 out=$2
	shift 2
	on "$device" train "${SMALL[@]}" "${RUN[@]}" --output_dir "$out" --json_log "$out.jsonl" "$@"
}

# What the runtime's stand-in saw of the programs so far: nothing was left, nothing was wrong.
clean_report() {
	[ -s report ]
	if grep -v "models 0 tensors 0 sets 0 complaint ''$" report; then return 1; fi
	rm report
}

# same_curve ONE OTHER: losses and norms of six steps.
same_curve() {
	python3 - "$1.jsonl" "$2.jsonl" <<-'PY'
		import json, sys
		one, other = ([r for r in map(json.loads, open(name)) if "loss" in r] for name in sys.argv[1:])
		assert [r["step"] for r in one] == [r["step"] for r in other] and len(one) == 6, (one, other)
		for a, b in zip(one, other):
		    for key in ("loss", "loss_image", "loss_audio", "loss_label", "grad_norm"):
		        assert abs(a[key] - b[key]) <= 5e-5 * (1 + abs(a[key])), (a["step"], key, a[key], b[key])
	PY
}

# near ONE OTHER: weights, averages and moments after the sixth step.
near() {
	python3 - "$1" "$2" <<-'PY'
		import json, struct, sys
		def read(folder, name):
		    data = open(f"{folder}/step-00000006/{name}", "rb").read()
		    n, = struct.unpack("<Q", data[:8])
		    for name, t in json.loads(data[8:8 + n]).items():
		        if name != "__metadata__":
		            a, b = t["data_offsets"]
		            yield name, struct.unpack(f"<{(b - a) // 4}f", data[8 + n + a:8 + n + b])
		for file in ("model.safetensors", "optimizer.safetensors"):
		    one, other = (dict(read(folder, file)) for folder in sys.argv[1:])
		    assert one.keys() == other.keys() and one
		    for name in one:
		        for a, b in zip(one[name], other[name]):
		            assert abs(a - b) <= 2e-4 * (1 + abs(a)), (file, name, a, b)
	PY
}

@test "neuron: a run goes from the CPU to a NeuronCore and back, and its curve goes on" {
	small
	run_on cpu cpu --eval_every 3 --eval_steps 2 >cpu.log 2>&1
	# auto prefers it
	run_on auto neuron --eval_every 3 --eval_steps 2 >neuron.log 2>&1
	grep '^1 rank (single process) on neuron:0: NeuronCore 0 of trn1, modules compiled ahead, products in f32,' neuron.log
	same_curve cpu neuron
	near cpu neuron
	[ "$(grep -c '(averaged weights)' neuron.log)" -eq "$(grep -c '(averaged weights)' cpu.log)" ]
	ends_with 75 run_on cpu moved --stop_after 2
	ends_with 75 run_on neuron moved --resume --stop_after 2
	run_on cpu moved --resume --do_eval --eval_steps 2 >moved.log 2>&1
	near cpu moved
	on neuron eval "${SMALL[@]}" --cache_dir cache --checkpoint moved --ema --eval_steps 2 >eval.log 2>&1
	[ "$(grep '  4 clips' eval.log)" = "$(grep '  4 clips' moved.log)" ]
	clean_report
	# what was compiled ahead is all there is
	[ "$(calls)" -eq 3 ]
}

@test "neuron: accumulated gradients, dropout and SGD are the CPU's" {
	small --optimizer sgd --attention_dropout 0.2
	run_on cpu cpu --accumulate 2 >/dev/null 2>&1
	run_on neuron neuron --accumulate 2 >/dev/null 2>&1
	same_curve cpu neuron
	near cpu neuron
	clean_report
}

@test "neuron: weights that go bad are taken back, as on the CPU" {
	small --optimizer sgd
	RUN+=(--spike_factor 0 --grad_clip 0 --max_bad_steps 2 --max_backoffs 1 --lr 1e3 --max_steps 12)
	run run_on cpu cpu
	local want=$status
	[[ $output == *'back to the last good weights'*'Learning_Rate=500.0 Loss=0.27'* ]]
	run run_on neuron neuron
	[ "$status" -eq "$want" ]
	[[ $output == *'back to the last good weights'*'Learning_Rate=500.0 Loss=0.27'*'The last good weights are saved'* ]]
	clean_report
}

@test "neuron: without its modules a run ends before it takes memory, and names the command that compiles them" {
	small
	rm -r cache
	run --separate-stderr run_on auto out
	[ "$status" -eq 2 ]
	[[ $stderr == *"no compiled module for this configuration: 'cache' lacks step, update"* ]]
	[[ $stderr == *'or fetch what was compiled: slipway neff pull IMAGE cache'* ]]
	[ ! -e out/run.json ]
	# the runtime was opened, asked what it is, and closed
	grep "^calls [34] executions 0 models 0 tensors 0 sets 0 complaint ''$" report
	local command
	command=$(grep -o 'slipway-trainer compile [^;]*' <<<"$stderr")
	eval "${command/slipway-trainer/"$TRAINER"} --compiler $ROOT/tests/neuron/neuronx-cc" >/dev/null 2>&1
	[ "$(calls)" -eq 6 ]
	run_on neuron out >/dev/null 2>&1
	[ "$(calls)" -eq 6 ]
	run --separate-stderr on neuron train "${SMALL[@]}" --output_dir other
	[ "$status" -eq 2 ]
	[[ $stderr == *'no folder of them is given'*'--cache_dir'* ]]
	run --separate-stderr on neuron train "${SMALL[@]}" --cache_dir cache --output_dir other --precision f16
	[ "$status" -eq 2 ]
	[[ $stderr == *'--precision f16 is for GPUs: a NeuronCore computes f32 or bf16'* ]]
	run --separate-stderr on neuron train "${SMALL[@]}" --cache_dir cache --output_dir other --precision tf32
	[[ $stderr == *'--precision tf32 is for GPUs: a NeuronCore computes f32 or bf16'* ]]
	# a module that was damaged since
	truncate -s -1 cache/neuronxcc-*/MODULE_*/model.neff
	run --separate-stderr run_on neuron damaged
	[ "$status" -eq 79 ]
	# no runtime, no core of that number, and a command that computes by ops
	run --separate-stderr "$TRAINER" train "${SMALL[@]}" --device neuron --cache_dir cache
	[ "$status" -eq 1 ]
	[[ $stderr == *'there is no Neuron runtime'*'aws-neuronx-runtime-lib'* ]]
	run --separate-stderr run_on neuron:7 other
	[[ $stderr == *'--device neuron:7: there are 2 NeuronCores here'* ]]
	run --separate-stderr on neuron selftest --golden "$ROOT/tests/golden/perceiver/published"
	[[ $stderr == *'a NeuronCore runs modules that were compiled for train, eval, classify and sample'* ]]
}

@test "neuron: a status of the runtime ends the run with its own, and the next one goes on" {
	small
	local row
	# a call in the middle of the steps, and what becomes of it
	for row in 6:77 4:78 1206:76 1002:79 101:77; do
		rm -rf out report
		ends_with 75 run_on neuron out --stop_after 2 2>/dev/null
		STANDIN_NRT_FAIL=1800:${row%:*} run --separate-stderr run_on neuron out --resume
		[ "$status" -eq "${row#*:}" ]
		[[ $stderr == *"(NRT_STAND_IN, ${row%:*})"* ]]
		[ "$(grep -c "tensors 0 sets 0 complaint ''$" report)" -eq 2 ]
	done
	run_on neuron out --resume >/dev/null 2>&1
	run_on cpu cpu >/dev/null 2>&1
	near cpu out
	# an execution that fails while the host goes on; and one with a NaN, which is the loss's to tell
	STANDIN_NRT_FAIL='execution 4:1202' run --separate-stderr run_on neuron other
	[ "$status" -eq 77 ]
	[[ $stderr == *'nrt_execute: a NeuronCore has an error that cannot be corrected'*'another node'* ]]
	STANDIN_NRT_FAIL='execution 4:1003' run_on neuron odd >/dev/null 2>&1
	near cpu odd
}

@test "neuron: killed at any moment, the run goes on from its last checkpoint" {
	small
	RUN+=(--checkpoint_steps 1 --max_steps 6)
	run_on cpu cpu >/dev/null 2>&1
	local after
	for after in 0.1 0.3 $([[ -z ${SLIPWAY_TEST_LONG:-} ]] || echo 0.05 0.15 0.2 0.25 0.4 0.5 0.6 0.7); do
		rm -rf out
		LD_LIBRARY_PATH=$STANDIN timeout -s KILL "$after" "$TRAINER" train "${SMALL[@]}" "${RUN[@]}" --output_dir out --resume \
			--device neuron >/dev/null 2>&1 || true
		run_on neuron out --resume >/dev/null 2>&1
		near cpu out
	done
}

@test "neuron: 2 and 4 ranks, each on a core of its own, train as one with the larger batch; a killed one is named" {
	mpich
	small
	SMALL+=(--batch_size 4)
	run_on cpu one >/dev/null 2>&1
	local n
	for n in 2 4; do
		SMALL+=(--batch_size $((4 / n)))
		compile --ranks "$n"
		STANDIN_NRT_CORES=4 run_on neuron "ranks$n" --local_ranks "$n" >log 2>&1
		grep "^$n ranks (MPICH) on neuron:0: NeuronCore 0 of trn1" log
		grep "^gradients are summed by the devices' own modules$" log
		near one "ranks$n"
	done
	[ "$(wc -l <report)" -eq 6 ]
	clean_report
	# more ranks than cores
	run --separate-stderr run_on neuron many --local_ranks 4 --rank_timeout 5
	[ "$status" -ne 0 ]
	[[ $stderr == *'has no NeuronCore of its own: there are 2 here'* ]]

	SMALL+=(--batch_size 2)
	LD_LIBRARY_PATH=$STANDIN:${LD_LIBRARY_PATH:-} "$TRAINER" train "${SMALL[@]}" "${RUN[@]}" --max_steps 40000 --rank_timeout 6 --output_dir killed \
		--local_ranks 2 --device neuron >killed.log 2>&1 3>&- &
	local parent=$! status=0
	for _ in $(seq 100); do
		if grep -q 'step 1:' killed.log; then break; fi
		sleep 0.1
	done
	kill -KILL "$(pgrep -P "$parent" | tail -n 1)"
	wait "$parent" || status=$?
	[ "$status" -eq 76 ]
	grep 'rank 1 was ended by signal 9' killed.log
}

@test "neuron: the test for machines with a device does what it says" {
	run "$ROOT/tests/neuron/trainium" "$TRAINER"
	[ "$status" -eq 1 ]
	[[ $output == *'there is no Neuron device that slipway-trainer can use here'* ]]
	local config=$ROOT/tests/golden/perceiver/published/config.json
	export LD_LIBRARY_PATH=$STANDIN
	run "$ROOT/tests/neuron/trainium" "$TRAINER" --compiler "$ROOT/tests/neuron/neuronx-cc" --config "$config" --full "$config" --steps 6
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *'ok - compile: '*' by 2.16.372.0, '*'not run - ranks: '*'6 passed, 0 failed'* ]]
	# a device that computes something else is seen
	STANDIN_NRT_WRONG=1 run "$ROOT/tests/neuron/trainium" "$TRAINER" --compiler "$ROOT/tests/neuron/neuronx-cc" --config "$config" --steps 4 --only curve
	[ "$status" -eq 1 ]
	[[ $output == *'not ok - curve: '* ]]
}

@test "compile --report: sizes of a run's modules, and the least time for them" {
	run -0 "$TRAINER" compile --config_file_path full --report --precision bf16 --batch_size 4
	grep -Eq '^\| step \| [0-9]+ \| 1[0-9]{3}\.' <<<"$output"
	grep -Eq '^\| classify \| classify \| MODULE_[0-9a-f]{20}\+[0-9a-f]{8} \|$' <<<"$output"
	[[ $output == *'| update |'*'| none |'*'| trn1 | 95.0 |'*'| trn2 | 166.8 |'* ]]
	# the page shows these figures
	while IFS= read -r line; do
		grep -Fqx -- "$line" "$ROOT/docs/TRAINIUM.md"
	done <<<"$output"
	# and the entries are those that the compiler's cache then has
	small
	"$TRAINER" compile "${SMALL[@]}" --report | grep -o 'MODULE_[0-9a-f+]*' | head -n 3 | sort >reported
	(cd cache/neuronxcc-* && ls -d MODULE_*[0-9a-f]) | grep -v lock | sort | cmp - reported
}

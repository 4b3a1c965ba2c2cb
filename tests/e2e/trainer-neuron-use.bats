#!/usr/bin/env bats
# classify and sample with --device neuron, and how many clips a core's memory takes: over the stand-ins of neuronx-cc and of the
# Neuron runtime (tests/neuron/standin.h). No Neuron device was ever asked.

load trainer

setup_file() {
	export STANDIN="$BATS_TEST_DIRNAME/../../${BUILD:-build}/neuron"
	[ -e "$STANDIN/libnrt.so.1" ]
}

# A network small enough for an interpreter, of clips of eight by eight pixels.
model() {
	cat >model.yaml <<-EOF
		num_frames: 2
		output_shape: [1, 2, 8, 8]
		image_size: 4
		spatial_downsample: 2
		audio_samples_per_frame: 64
		samples_per_patch: 16
		num_labels: 7
		num_latents: 6
		d_latents: 16
		num_self_attention_heads: 2
		num_self_attends_per_block: 2
		audio_num_bands: 3
		image_num_bands: 2
		output_num_channels: 8
		label_query_channels: 6
		encoder_min_padding_size: 4
		decoder_min_padding_size: 2
	EOF
	"$TRAINER" train --config_file_path model.yaml --batch_size 2 --max_steps 40 --lr 1e-2 --ema_decay 0.5 --threads 1 --logdir logs \
		--output_dir out >train.log
	export STANDIN_CC_CALLS=$PWD/calls
	: >calls
}

# compile [OPTIONS]: into ./cache, with the stand-in.
compile() { "$TRAINER" compile --compiler "$ROOT/tests/neuron/neuronx-cc" --cache_dir cache "$@"; }

# on DEVICE COMMAND...: with the runtime, unless the device is a processor.
on() {
	local device=$1 command=$2
	shift 2
	if [[ $device == cpu ]]; then
		timeout 120 "$TRAINER" "$command" "$@" --device cpu
	else
		STANDIN_NRT_REPORT=$PWD/report LD_LIBRARY_PATH=$STANDIN${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
			timeout 120 "$TRAINER" "$command" "$@" --device "$device" --cache_dir cache
	fi
}

# What the runtime's stand-in saw: nothing was left, nothing was wrong.
clean_report() {
	[ -s report ]
	if grep -v "models 0 tensors 0 sets 0 complaint ''$" report; then return 1; fi
	rm report
}

# The command in a message, with the stand-in in place of the compiler.
compile_as_told() {
	local command
	command=$(grep -o 'slipway-trainer compile [^;]*' <<<"$1")
	eval "${command/slipway-trainer/"$TRAINER"} --compiler $ROOT/tests/neuron/neuronx-cc" >/dev/null 2>&1
}

# near ONE OTHER WITHIN: the same words, with numbers this far apart at most.
near() {
	python3 - "$@" <<-'PY'
		import re, sys
		one, other = (re.split(r"(-?\d+\.\d+)", open(name).read()) for name in sys.argv[1:3])
		assert len(one) == len(other) and one[::2] == other[::2] and len(one) > 1, (one, other)
		for a, b in zip(one[1::2], other[1::2]):
		    assert abs(float(a) - float(b)) <= float(sys.argv[3]), (a, b)
	PY
}

# same_pictures ONE OTHER: every pixel and sample, within a step of its format.
same_pictures() {
	python3 - "$1" "$2" <<-'PY'
		import glob, os, struct, sys, wave, zlib
		def pixels(path):
		    data, at, packed = open(path, "rb").read(), 8, b""
		    while at < len(data):
		        n, kind = struct.unpack(">I4s", data[at:at + 8])
		        if kind == b"IHDR":
		            width, height = struct.unpack(">II", data[at + 8:at + 16])
		        packed += data[at + 8:at + 8 + n] if kind == b"IDAT" else b""
		        at += 12 + n
		    raw, stride = zlib.decompress(packed), 3 * width + 1
		    rows = [raw[i * stride:(i + 1) * stride] for i in range(height)]
		    assert {row[0] for row in rows} == {0}
		    return b"".join(row[1:] for row in rows)
		one, other = sys.argv[1:]
		names = sorted(os.path.basename(p) for p in glob.glob(f"{one}/*"))
		assert names == sorted(os.path.basename(p) for p in glob.glob(f"{other}/*"))
		assert [n for n in names if n.endswith(".png")] and "reconstruction.wav" in names, names
		for name in names:
		    if name.endswith(".png"):
		        a, b = pixels(f"{one}/{name}"), pixels(f"{other}/{name}")
		    else:
		        a, b = (struct.unpack(f"<{w.getnframes()}h", w.readframes(w.getnframes()))
		                for w in (wave.open(f"{f}/{name}") for f in (one, other)))
		    assert len(a) == len(b) and max(abs(x - y) for x, y in zip(a, b)) <= 1, name
	PY
}

@test "neuron: classify gives the CPU's table, from a module of its own" {
	[ -x "$BIN/slipway-prepare" ] || skip "slipway-prepare is not built"
	model
	"$ROOT/tests/servers/make-videos" videos cat=2 dog=1
	"$TRAINER" prepare --source videos --out data --config_file_path model.yaml >/dev/null
	on cpu classify --checkpoint out --source data --out cpu.csv --batch_size 3 2>cpu.err
	# auto prefers it, and without its module says which command makes it, before memory is taken
	run --separate-stderr on auto classify --checkpoint out --source data --out none.csv --batch_size 3
	[ "$status" -eq 2 ]
	[ ! -e none.csv ]
	# shellcheck disable=SC2154  # bats sets stderr
	[[ $stderr == *"no compiled module for this configuration: 'cache' lacks classify"*'--for classify --checkpoint out/step-00000040 --batch_size 3'* ]]
	grep "^calls [34] executions 0 models 0 tensors 0 sets 0 complaint ''$" report
	compile_as_told "$stderr"
	[ "$(wc -l <calls)" -eq 1 ]
	on auto classify --checkpoint out --source data --out neuron.csv --batch_size 3 2>neuron.err
	near cpu.csv neuron.csv 2e-5
	[ "$(tail -n 1 cpu.err)" = "$(tail -n 1 neuron.err)" ]
	on neuron classify --checkpoint out --ema --source data --out averaged.csv --batch_size 3 2>/dev/null
	on cpu classify --checkpoint out --ema --source data --out averaged-cpu.csv --batch_size 3 2>/dev/null
	near averaged-cpu.csv averaged.csv 2e-5
	run ! cmp -s averaged.csv neuron.csv
	clean_report
	# in bf16: another module, and what that rounds
	compile --for classify --checkpoint out/step-00000040 --batch_size 3 --precision bf16 >/dev/null 2>&1
	on neuron classify --checkpoint out --source data --out rounded.csv --batch_size 3 --precision bf16 2>/dev/null
	[ "$(wc -l <calls)" -eq 2 ]
	near cpu.csv rounded.csv 2e-3
	run ! cmp -s neuron.csv rounded.csv
	# what cannot be
	run --separate-stderr on neuron classify --checkpoint out --source data --out none.csv --precision f16
	[ "$status" -eq 2 ]
	[[ $stderr == *'a NeuronCore computes f32 or bf16'* ]]
	STANDIN_NRT_FAIL='execution 1:1202' run --separate-stderr on neuron classify --checkpoint out --source data --out none.csv --batch_size 3
	[ "$status" -eq 77 ]
	[ ! -e none.csv ]
	# the words of a run are those of its training's modules
	run --separate-stderr "$TRAINER" compile --for nothing --cache_dir cache
	[ "$status" -eq 2 ]
	[[ $stderr == *"--for is 'nothing', expected train, eval, classify or sample"* ]]
}

@test "neuron: sample gives the CPU's pictures and sounds; the clip is encoded once" {
	model
	on cpu sample --checkpoint out --clip 3 --out pictures >cpu.txt
	run --separate-stderr on neuron sample --checkpoint out --clip 3 --out none
	[ "$status" -eq 2 ]
	[[ $stderr == *"'cache' lacks encode, decode"*'--for sample --checkpoint out/step-00000040'* ]]
	[ ! -e none ]
	compile_as_told "$stderr"
	rm report
	on auto sample --checkpoint out --clip 3 --out others >neuron.txt
	grep ' executions 2 ' report
	clean_report
	sed -i 's/^[a-z]*: //' cpu.txt neuron.txt
	near cpu.txt neuron.txt 1e-4
	same_pictures pictures others
	on cpu sample --checkpoint out --ema --clip 3 --out averaged-cpu >/dev/null
	on neuron sample --checkpoint out --ema --clip 3 --out averaged >/dev/null
	same_pictures averaged-cpu averaged
	run ! same_pictures averaged others
	# by the configuration's own words, which are the checkpoint's
	compile --for sample --config_file_path model.yaml >again 2>/dev/null
	[ "$(grep -c '(was there)$' again)" -eq 2 ]
	[ "$(wc -l <calls)" -eq 2 ]
	run --separate-stderr "$TRAINER" sample --checkpoint out --device neuron --cache_dir cache --out none
	[ "$status" -eq 1 ]
	[[ $stderr == *'there is no Neuron runtime'* ]]
	LD_LIBRARY_PATH=$STANDIN run --separate-stderr "$TRAINER" sample --checkpoint out --device neuron --out none
	[ "$status" -eq 2 ]
	[[ $stderr == *'--cache_dir, which slipway-trainer compile --for sample fills'* ]]
}

@test "neuron: a batch that a core cannot hold is refused before anything is compiled, and the one that fits is named" {
	local full=(--config_file_path full --cache_dir cache --compiler "$ROOT/tests/neuron/neuronx-cc")
	export STANDIN_CC_CALLS=$PWD/calls
	: >calls
	run --separate-stderr "$TRAINER" compile "${full[@]}" --batch_size 8
	[ "$status" -eq 2 ]
	[[ $stderr == *"train holds up to 24.1 GB of a core's memory, and a core of trn1 has 17.2 GB"*'--batch_size 5 fits'*'--any_size compiles it all the same'* ]]
	[ ! -s calls ]
	[ ! -e cache ]
	# more on a chip with more; nothing to say of trn1's one below, nor of a command that holds less
	run --separate-stderr "$TRAINER" compile "${full[@]}" --target trn2 --batch_size 9
	[[ $stderr == *'and a core of trn2 has 25.8 GB'*'--batch_size 8 fits'* ]]
	run --separate-stderr "$TRAINER" compile "${full[@]}" --batch_size 8 --for classify --compile_timeout 1
	[[ $stderr != *'of a core'* ]]
	# auto and the default leave a tenth of it free
	run --separate-stderr -0 "$TRAINER" compile --config_file_path full --report --batch_size auto
	[[ $stderr == 'slipway-trainer: --batch_size auto is 4, by the memory of a core of trn1' ]]
	[[ $output == *'| trn1 | '*' 73.7 % | 5 |'* ]]
	run --separate-stderr -0 "$TRAINER" compile --config_file_path full --report
	[[ $stderr == 'slipway-trainer: --batch_size is 4, by the memory of a core of trn1' ]]
	run --separate-stderr -0 "$TRAINER" compile --config_file_path tiny --report
	[ -z "$stderr" ]
}

# losses LOG: of its steps, one a line.
losses() {
	python3 - "$1" <<-'PY'
		import json, sys
		for r in map(json.loads, open(sys.argv[1])):
		    if "loss" in r:
		        print("%.6f" % r["loss"])
	PY
}

@test "neuron: --batch_size auto trains on as many clips as compile counted, and without it on the default" {
	model
	local words=(--config_file_path "$ROOT/tests/golden/perceiver/published/config.json" --image_points 2 --audio_points 1 --test_batch_size 1)
	local run=(--max_steps 2 --preset seeds --threads 1 --log_steps 1 --logdir logs --lr 1e-3)
	compile "${words[@]}" --batch_size auto >/dev/null 2>auto.err
	grep -x 'slipway-trainer: --batch_size auto is 1024, by the memory of a core of trn1' auto.err
	run --separate-stderr on neuron train "${words[@]}" "${run[@]}" --output_dir own --batch_size auto --max_steps 1
	[ "$status" -eq 0 ]
	[[ $stderr == *'--batch_size auto is 1024 (by the memory of a core of trn1)'* ]]
	# without it the default, which fits: nothing is said of it
	run --separate-stderr on neuron train "${words[@]}" "${run[@]}" --output_dir default
	[ "$status" -eq 2 ]
	[[ $stderr == *"lacks step"*'--batch_size 8'* ]]
	compile_as_told "$stderr"
	on neuron train "${words[@]}" "${run[@]}" --output_dir default --json_log neuron.jsonl >/dev/null 2>err
	run ! grep -e '--batch_size' err
	on cpu train "${words[@]}" "${run[@]}" --output_dir cpu --json_log cpu.jsonl >/dev/null 2>&1
	losses neuron.jsonl >neuron.loss
	losses cpu.jsonl >cpu.loss
	[ "$(wc -l <cpu.loss)" -eq 2 ]
	near neuron.loss cpu.loss 5e-5
	clean_report
	# a run that is resumed keeps its own number, whatever fits
	on neuron train "${words[@]}" "${run[@]}" --output_dir default --resume --max_steps 3 --batch_size auto >/dev/null 2>err
	grep -x -- '--batch_size auto is 8 (as in the run that is resumed)' err
}

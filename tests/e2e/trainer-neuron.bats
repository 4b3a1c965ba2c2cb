#!/usr/bin/env bats
# The trainer's way to Trainium: modules written, compiled ahead by a stand-in of neuronx-cc, kept in a cache. No Neuron
# device and no Neuron compiler has ever run here.
load trainer

# A run small enough for an interpreter, and how its modules are compiled.
start() {
	export STANDIN_CC_CALLS=$PWD/calls
	touch calls
	tiny=(--config_file_path "$ROOT/tests/golden/perceiver/published/config.json" --batch_size 2 --test_batch_size 2
		--image_points 8 --audio_points 3 --precision f32)
	compile=("$TRAINER" compile --compiler "$ROOT/tests/neuron/neuronx-cc" --cache_dir cache "${tiny[@]}")
}

calls() { wc -l <calls; }

@test "compile: a run's modules are compiled once, and found the next time" {
	start
	run -0 "${compile[@]}"
	[[ $(calls) == 3 ]]
	grep -q '^step: cache/neuronxcc-2.16.372.0/MODULE_[0-9a-f]*+[0-9a-f]*/model.neff$' <<<"$output"
	entry=$(dirname cache/neuronxcc-*/MODULE_*/model.done | head -n 1)
	[[ -s $entry/model.neff && -s $entry/model.hlo_module.pb && ! -e $entry/model.log ]]
	jq -e 'index("--target=trn1") and index("--auto-cast=none")' "$entry/compile_flags.json"
	run -0 "${compile[@]}"
	[[ $(calls) == 3 ]]
	[[ $(grep -c '(was there)' <<<"$output") == 3 ]]
	# another target, other points: other modules
	run -0 "${compile[@]}" --target=trn2
	[[ $(calls) == 6 ]]
	run -0 "${compile[@]}" --audio_points 2
	[[ $(calls) == 8 ]]
}

@test "compile: two at once do the work once" {
	start
	export STANDIN_CC_SLEEP=0.5
	"${compile[@]}" >first 2>first.said &
	"${compile[@]}" >second 2>second.said
	wait $!
	[[ $(calls) == 3 ]]
	grep -q 'another process compiles it, waiting' first.said second.said
}

@test "compile: a failure is kept with its log, and not repeated until it is asked for" {
	start
	STANDIN_CC_FAIL='[ERROR] [NCC_ITEN404] Internal tensorizer error' run -1 "${compile[@]}"
	[[ $output == *'compiling step failed with status 70: '*/model.log* ]]
	grep -q NCC_ITEN404 cache/neuronxcc-*/MODULE_*/model.log
	run -1 "${compile[@]}"
	[[ $output == *'failed before'* && $output == *'--retry_failed'* ]]
	[[ $(calls) == 1 ]]
	run -0 "${compile[@]}" --retry_failed
	[[ $(calls) == 4 && ! -e $(echo cache/neuronxcc-*/MODULE_*/model.log) ]]
}

@test "compile: killed at any moment, it leaves nothing that counts, and the next one finishes" {
	start
	export STANDIN_CC_SLEEP=0.3
	for after in 0.1 0.4 0.7; do
		timeout -s KILL $after "${compile[@]}" >out 2>&1 || true
		for entry in cache/neuronxcc-*/MODULE_*/; do
			[[ $entry != *.work/ && -d $entry ]] || continue
			[[ -e $entry/model.done && -s $entry/model.neff ]]
		done
	done
	STANDIN_CC_SLEEP=0 run -0 "${compile[@]}"
	run -0 find cache -name '*.work'
	[[ -z $output ]]
}

@test "compile: a compiler that does not end is ended in its time" {
	start
	STANDIN_CC_SLEEP=60 run -1 timeout 20 "${compile[@]}" --compile_timeout 1
	[[ $output == *'took longer than 1 s for step'* ]]
}

@test "compile: without a compiler it says where there is one; what cannot be is refused" {
	start
	run -1 "$TRAINER" compile --compiler ./no-such-cc --cache_dir cache "${tiny[@]}"
	[[ $output == *'no-such-cc'* && $output == *'any x86 machine'* ]]
	run -2 "${compile[@]}" --target=trn9
	[[ $output == *'expected trn1, trn1n, inf2 or trn2'* ]]
	run -2 "$TRAINER" compile "${tiny[@]}"
	[[ $output == *'compile needs --cache_dir'* ]]
	# a compiler that writes something else
	printf '#!/bin/sh\n[ "$1" = --version ] && echo 2.1.0 && exit\nshift 2; while [ "$1" != --output ]; do shift; done; echo hi >"$2"\n' >other-cc
	chmod +x other-cc
	run -1 "$TRAINER" compile --compiler ./other-cc --cache_dir cache "${tiny[@]}"
	[[ $output == *'not a NEFF'* ]]
}

@test "emit_hlo: the modules as bytes and as text, the same every time" {
	start
	run -0 "$TRAINER" compile "${tiny[@]}" --emit_hlo one
	run -0 "$TRAINER" compile "${tiny[@]}" --emit_hlo two
	diff -r one two
	grep -q '^ENTRY main {' one/step.hlo.txt
	grep -q 'gradient.perceiver.embeddings.latents = f32\[6,8\] parameter' one/step.hlo.txt
	[[ $(ls one | wc -l) == 6 ]]
}

@test "compile --check: says what the cache lacks, and needs no compiler" {
	start
	run -1 "$TRAINER" compile --check --cache_dir cache "${tiny[@]}"
	[[ $output == *'step: cache holds no compiled MODULE_'* && $output == *'slipway-trainer compile --cache_dir cache'* ]]
	run -0 "${compile[@]}"
	run -0 "$TRAINER" compile --check --cache_dir cache --compiler /nowhere "${tiny[@]}"
	[[ $(grep -c '(was there)' <<<"$output") == 3 && $(calls) == 3 ]]
	# another configuration is other modules
	run -1 "$TRAINER" compile --check --cache_dir cache "${tiny[@]}" --audio_points 2
	# what no compiler takes is said before one is called, or looked for
	run -1 "$TRAINER" compile --check --cache_dir cache --config_file_path full --batch_size 32
	[[ $output == *'module step: v'*' has 4'*' bytes, the compiler takes 4 GiB'*'Fewer clips a step'* ]]
	run -1 "${compile[@]}" --config_file_path full --batch_size 32 --any_size
	[[ $output == *'the compiler takes 4 GiB'* && $(calls) == 3 ]]
	# nor what no core of the device holds
	run -2 "${compile[@]}" --config_file_path full --batch_size 32
	[[ $output == *'a core of trn1 has 17.2 GB'*'--batch_size '*' fits'* && $(calls) == 3 ]]
}

@test "install: the program copies itself, whole, for an image that has nothing else" {
	run -0 "$TRAINER" install tools/slipway-trainer
	cmp "$TRAINER" tools/slipway-trainer
	[[ -x tools/slipway-trainer && $(find tools -type f | wc -l) == 1 ]]
	run -2 "$TRAINER" install
	run -1 "$TRAINER" install /proc/nowhere/x
}

#!/usr/bin/env bats
# The modules for Trainium before judges that we did not write: protoc, with a schema of the public field numbers, and XLA's
# CPU client, which computes what they say.
load trainer

# With the published set's network.
words() {
	printf '%s\n' --config_file_path "$ROOT/tests/golden/perceiver/published/config.json" --batch_size 2 --test_batch_size 2 \
		--image_points 8 --audio_points 3 "$@"
}

# is_known FILE: protoc finds no field in a module that the schema has not, no enumeration's value without a name, and writes
# the same bytes again.
is_known() {
	protoc -I "$ROOT/tests/neuron" --decode=HloModuleProto hlo.proto <"$1" >decoded || return 1
	[[ -s decoded ]] || return 1
	! grep -nE '^ *([0-9]+( \{|:)|element_type: [0-9])' decoded || return 1
	protoc -I "$ROOT/tests/neuron" --encode=HloModuleProto hlo.proto <decoded | cmp - "$1"
}

# Skips without XLA, unless it is required.
need_xla() {
	XLA=$ROOT/${BUILD:-build}/judges/xla
	if [[ -e $XLA/.done ]]; then return; fi
	[[ ,${SLIPWAY_TEST_REQUIRE:-}, != *,xla,* ]] || return 1
	skip "XLA is not here: tests/judges/xla ${BUILD:-build}/judges"
}

# judge PROGRAM [OPTIONS]
judge() {
	local program=$1
	shift
	PYTHONPATH=$XLA run -0 /usr/bin/python3 -B "$ROOT/tests/neuron/$program" "$ROOT/${BUILD:-build}/neuron/emit" "$@"
	echo "$output"
	[[ ${lines[-1]} == 'worst: 0.'*' of the limit, '* ]]
}

golden_sets() {
	printf '%s\n' "$ROOT/tests/golden/perceiver/published"
	[[ -z ${SLIPWAY_TEST_LONG:-} ]] || printf '%s\n' "$ROOT"/tests/golden/perceiver/{cross-heads,explicit-widths,many-tokens}
}

@test "modules: protoc knows every field, and writes the same bytes" {
	local variant module
	local -a options
	for variant in '--precision f32' '--precision bf16 --attention_dropout 0.1 --ema_decay 0.9 --ranks 4' '--optimizer sgd'; do
		read -ra options <<<"$variant"
		mapfile -t all < <(words "${options[@]}")
		"$TRAINER" compile "${all[@]}" --emit_hlo modules 2>/dev/null
		for module in step update measure; do is_known "modules/$module.hlo.pb"; done
	done
	mkdir operators
	"$ROOT/${BUILD:-build}/neuron/emit" operators operators
	while read -r module; do is_known "operators/$module.hlo.pb"; done <operators/rows
	# a field that is none, a type that is none, a number that is written in another way
	printf '\xd2\x3e\x01x' | cat modules/step.hlo.pb - >beyond
	run ! is_known beyond
	LC_ALL=C sed 's/\x10\x0b\x1a/\x10\x63\x1a/' modules/step.hlo.pb >other
	run ! is_known other
	printf '\x28\x81\x00' | cat modules/step.hlo.pb - >longer
	run ! is_known longer
}

@test "modules: XLA finds the golden sets' losses, gradients, three steps of each optimizer and the decode of all points" {
	need_xla
	mapfile -t sets < <(golden_sets)
	judge judge "${sets[@]}"
}

@test "modules: with products of bfloat16, XLA is within the error model of the golden sets" {
	need_xla
	mapfile -t sets < <(golden_sets)
	judge judge --bf16 "${sets[@]}"
}

@test "modules: XLA runs random configurations' steps, updates and evaluations as interpreter and CPU do, and 2 and 4 replicas as one batch" {
	need_xla
	if [[ -n ${SLIPWAY_TEST_LONG:-} ]]; then judge judge-courses 50 5; else judge judge-courses 5 1; fi
	# what is compared can differ
	[[ $output =~ \(([0-9]+)\ compared\) ]] && ((BASH_REMATCH[1] > 100))
}

#!/usr/bin/env bats
# Modules compiled for Trainium on their way with an image: to registries of both kinds and back, whole or not at all.

load lib

V=neuronxcc-2.16.372.0

setup() {
	common_setup
	make_tree tree
	make_spec slipway.yaml
	"$SLIPWAY" build --progress none -o image >/dev/null 2>&1
	module 0123+ab
	module 4567+ab
	mkdir "made/$V/MODULE_89+ab" "made/$V/MODULE_99+ab.work"
	echo failed >"made/$V/MODULE_89+ab/model.log"
}
teardown() { [[ -z ${PIDS:-} ]] || common_teardown; }

# module KEY: an entry of the cache, as a compiler leaves it.
module() {
	local at=made/$V/MODULE_$1
	mkdir -p "$at"
	seq 1 50000 | sed "s/$/ $1/" >"$at/model.neff"
	echo "module $1" >"$at/model.hlo_module.pb"
	echo '["--target=trn1"]' >"$at/compile_flags.json"
	: >"$at/model.done"
}

# pushed: the image in the registry, as REF.
pushed() {
	REF=$REG/app:v1
	"$SLIPWAY" push --progress none image "$REF" >/dev/null
}

neff() { "$SLIPWAY" neff --progress none "$@"; }

# same DIR: what was pulled is what was compiled, and only what was whole.
same() {
	diff -r --exclude="*.lock" --exclude="*.work" --exclude=MODULE_89+ab made "$1"
	[ ! -e "$1/$V/MODULE_89+ab" ]
}

# round_trip: there once, back, and nothing twice.
round_trip() {
	pushed
	neff push made "$REF" >first
	[ "$(grep -c '  sent$' first)" = 2 ]
	neff pull "$REF" out >second
	[ "$(grep -c '  fetched$' second)" = 2 ]
	same out
	neff push made "$REF" >third
	[ "$(grep -c '  was there$' third)" = 2 ]
	neff pull "$REF" out | grep -c '  was there$' | grep -qx 2
	neff list --output json "$REF" | json '[m["module"] for m in d["modules"]]' | grep -qx "\['MODULE_0123+ab', 'MODULE_4567+ab'\]"
}

@test "neff: a registry without a list of referrers keeps modules, and gives them back byte for byte" {
	start_registry
	round_trip
	# Compiled elsewhere meanwhile, the same module is another file: what the image has stays.
	echo other >"made/$V/MODULE_0123+ab/model.neff"
	neff push made "$REF" | grep -c 'was there$' | grep -qx 2
}

@test "neff: a registry that lists referrers itself does, too, and a copy takes them along" {
	start_olareg
	round_trip
	"$SLIPWAY" copy --progress none "$REF" oci:copied:v1 >/dev/null
	neff pull oci:copied:v1 again >/dev/null
	same again
}

@test "neff: only the modules that are asked for are fetched, and one that is not there is named" {
	neff push made image >/dev/null
	neff pull --module MODULE_4567+ab image out >/dev/null
	[ -e "out/$V/MODULE_4567+ab/model.done" ] && [ ! -e "out/$V/MODULE_0123+ab" ]
	run ! neff pull --module MODULE_77+ab image out
	[[ $output == *"it has no module 'MODULE_77+ab'"* ]]
	run ! neff pull --module ../x image out
	[ "$status" = 2 ]
}

@test "neff: an image without modules, and a folder without them, are told with the command that helps" {
	run ! neff pull image out
	[[ $output == *'it has no compiled modules'* && $output == *'slipway-trainer compile --cache_dir'* ]]
	mkdir empty
	run ! neff push empty image
	[[ $output == *"the folder 'empty' holds no compiled module"* ]]
	"$SLIPWAY" build --progress none --format oci-archive -o image.tar >/dev/null
	run ! neff push made oci-archive:image.tar
	[[ $output == *'nothing is attached to an archive where it is'*'Name the layout that it is made from'* ]]
	run ! neff push made image too many
	[ "$status" = 2 ]
	run -2 neff pull image
	[[ $output == *'slipway neff [OPTIONS] pull REF DIR'* ]]
}

@test "neff: a blob that is not what its digest says never becomes an entry" {
	start_registry
	pushed
	neff push made "$REF" >/dev/null
	blob=$(sha256sum "made/$V/MODULE_0123+ab/model.neff")
	at=registry/docker/registry/v2/blobs/sha256/${blob:0:2}/${blob%% *}/data
	sed -i '1s/^1/7/' "$at"
	run ! neff pull "$REF" out
	[[ $output == *"module MODULE_0123+ab: model.neff: "*digest* ]]
	[ ! -e "out/$V/MODULE_0123+ab" ]
	sed -i '1s/^7/1/' "$at"
	neff pull "$REF" out >/dev/null
	same out
}

@test "neff: killed at any moment, a pull leaves nothing that counts, and the next one finishes" {
	start_registry
	pushed
	neff push made "$REF" >/dev/null
	for after in 0.01 0.03 0.06; do
		killed_after "$after" "$SLIPWAY" neff pull --progress none "$REF" out
		for entry in out/"$V"/MODULE_*+ab; do
			[ ! -e "$entry" ] || cmp "$entry/model.neff" "made${entry#out}/model.neff"
		done
	done
	neff pull "$REF" out >/dev/null
	same out
}

# The way of a fleet's run: the Job's containers compile and send, the pod's fetch and train.
@test "neff: each phase of a run killed and begun again gives the run that nobody killed, and nothing is compiled twice" {
	local bin words compile train after
	bin=$(cd "$ROOT" && realpath "${BUILD:-build}")
	[ -e "$bin/neuron/libnrt.so.1" ] && [ -x "$bin/$(dpkg --print-architecture)/slipway-trainer" ] || skip "the trainer or its stand-ins are not built"
	words=(--config_file_path "$ROOT/tests/golden/perceiver/published/config.json" --batch_size 2 --test_batch_size 2
		--image_points 8 --audio_points 3)
	compile=("$bin/$(dpkg --print-architecture)/slipway-trainer" compile --compiler "$ROOT/tests/neuron/neuronx-cc" "${words[@]}")
	train=("$bin/$(dpkg --print-architecture)/slipway-trainer" train "${words[@]}" --max_steps 6 --lr 1e-2 --preset seeds --threads 1
		--checkpoint_steps 1 --logdir logs --device neuron --resume)
	start_registry
	pushed

	export STANDIN_CC_CALLS=$WORK/calls STANDIN_CC_SLEEP=0.2
	for after in 0.1 0.4 0.7; do
		killed_after "$after" "${compile[@]}" --cache_dir job
	done
	"${compile[@]}" --cache_dir job >/dev/null 2>&1
	: >calls
	for after in 0.01 0.05 0.1; do
		killed_after "$after" "$SLIPWAY" neff push --progress none job "$REF"
	done
	neff push job "$REF" >sent
	[ "$(grep -c '  sent$\|  was there$' sent)" = 3 ]

	for after in 0.01 0.05 0.1; do
		killed_after "$after" "$SLIPWAY" neff pull --progress none "$REF" pod
	done
	neff pull "$REF" pod >/dev/null
	export LD_LIBRARY_PATH=$bin/neuron
	for after in 0.1 0.3 0.5; do
		killed_after "$after" "${train[@]}" --cache_dir pod --output_dir killed
	done
	"${train[@]}" --cache_dir pod --output_dir killed >/dev/null 2>&1

	# Another node, and a compiler that nobody calls.
	neff pull "$REF" cold >/dev/null
	"${compile[@]}" --cache_dir cold >found 2>/dev/null
	[ "$(grep -c '(was there)$' found)" = 3 ]
	"${train[@]}" --cache_dir cold --output_dir whole >/dev/null 2>&1
	cmp killed/step-00000006/model.safetensors whole/step-00000006/model.safetensors
	cmp killed/step-00000006/optimizer.safetensors whole/step-00000006/optimizer.safetensors
	[ ! -s calls ]

	# A registry without modules, and no compiler: both say what to do.
	"$SLIPWAY" push --progress none image "$REG/empty:v1" >/dev/null
	run ! neff pull "$REG/empty:v1" none
	[[ $output == *'it has no compiled modules'*'slipway-trainer compile --cache_dir'* ]]
	run "${train[@]}" --cache_dir none --output_dir never
	[ "$status" = 2 ]
	[[ $output == *"'none' lacks step, update"*'slipway-trainer compile --cache_dir none --target trn1'* ]]
}

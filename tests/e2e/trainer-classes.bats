#!/usr/bin/env bats
# Classes by name: across splits, checkpoints and label heads; classify, export, inspect.

load trainer

need_prepare() { [ -x "$BIN/slipway-prepare" ] || skip "slipway-prepare is not built"; }

videos() { "$ROOT/tests/servers/make-videos" "$@"; }

prepare() { "$TRAINER" prepare --config_file_path tiny "$@"; }

kinetics() {
	"$TRAINER" train --config_file_path tiny --dataset kinetics --dataset_dir data --num_epochs 100000 --threads 1 \
		--batch_size 2 --max_steps 3 --logdir logs --output_dir out "$@"
}

evaluate() { "$TRAINER" eval --checkpoint out --dataset kinetics --dataset_dir data | grep clips:; }

@test "classes: a val split that numbers its folders differently is evaluated by their names" {
	need_prepare
	videos train ball=2 cat=2 dog=2
	videos val dog=2 cat=2
	# Prepared first and alone: cat is 0 and dog 1.
	prepare --source val --out data/val
	prepare --source train --out data/train
	kinetics >log
	evaluate >by-name
	# The list of train, because it is beside it.
	run prepare --source val --out data/val
	[ "$status" -eq 0 ]
	python3 -c 'import json; assert json.load(open("data/val/dataset.json"))["classes"] == ["ball", "cat", "dog"]'
	evaluate >by-number
	cat by-name
	cmp by-name by-number
	python3 -c '
import json
c = json.load(open("out/step-00000003/config.json"))
assert [c["id2label"][str(i)] for i in range(4)] == ["ball", "cat", "dog", "LABEL_3"] and len(c["id2label"]) == 10
assert c["label2id"]["dog"] == 2'
}

@test "classes: one that the list or the head lacks is named with the next step" {
	need_prepare
	videos train cat=2 dog=2
	videos val cat=2 emu=2
	prepare --source train --out data/train
	run prepare --source val --out data/val
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"class 'emu' of 'val/emu/emu-00.avi' is not among the 2 of 'data/train/dataset.json'"*--classes* ]]
	[ ! -e data/val/dataset.json ]
	printf 'dog\ncat\nemu\n' >list.txt
	prepare --source val --out data/val --classes list.txt
	kinetics >log
	run "$TRAINER" eval --checkpoint out --dataset kinetics --dataset_dir data
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"class 'emu' of 'data/val/dataset.json' is not among the 2 classes of 'out/step-00000003/config.json'"* ]]
	sed -i 's/"emu"/"cat"/' data/val/dataset.json
	run kinetics --dataset_dir data/val --output_dir other
	echo "$output"
	[ "$status" -eq 79 ]
	[[ "$output" == *"lists class 'cat' twice"* ]]
}

@test "classes: too few labels name both numbers; a head with names keeps its order; another list is not resumed" {
	need_prepare
	videos train cat=2 dog=2
	prepare --source train --out data
	model="num_frames: 2\noutput_shape: [1, 2, 32, 32]\nimage_size: 8\nnum_latents: 8\nd_latents: 16\nnum_self_attention_heads: 2\n"
	printf '%bnum_labels: 1\n' "$model" >one.yaml
	run kinetics --config_file_path one.yaml
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"'data/dataset.json' has 2 classes, but the model has num_labels 1"* ]]
	printf '%bid2label:\n  0: dog\n  1: ape\n  2: cat\n' "$model" >named.yaml
	kinetics --config_file_path named.yaml >log
	"$TRAINER" inspect out/step-00000003 --output json |
		python3 -c 'import json, sys; d = json.load(sys.stdin); assert (d["num_labels"], d["classes"]) == (3, ["dog", "ape", "cat"])'
	sed -i 's/: ape/: bee/' named.yaml
	run kinetics --config_file_path named.yaml --resume --max_steps 4
	echo "$output"
	[ "$status" -eq 2 ]
	[[ "$output" == *"classes was 3: dog ... cat ("*" and is 3: dog ... cat ("* ]]
	# Weights alone keep their classes' numbers, too.
	printf '%bnum_labels: 3\n' "$model" >three.yaml
	kinetics --config_file_path three.yaml --init_from out/step-00000003 --output_dir next >log
	"$TRAINER" inspect next/step-00000003 | grep -q '^      0  dog$'
}

# sides FOLDER: the digests of its validation clips, and of those that are on both sides.
sides() {
	python3 - "$1" <<-'PY'
		import json, os, sys
		train, val = ({s["file"] for s in json.load(open(f"{sys.argv[1]}/{side}/dataset.json"))["shards"]} for side in ("train", "val"))
		for side, files in (("train", train), ("val", val)):
		    assert all(os.path.exists(f"{sys.argv[1]}/{side}/{f}") for f in files)
		print(len(train), sorted(val), sorted(train & val))
	PY
}

@test "split: by class and by the videos' bytes; nothing is decoded twice; copies stay together; one of each is refused" {
	need_prepare
	videos one cat=6 dog=6 emu=1
	prepare --source one --out data --split 0.25
	sides data >first
	grep -q '^9 \[.*,.*,.*,.*\] \[\]$' first
	# Elsewhere, under other names.
	mkdir -p two/{cat,dog,emu}
	for video in one/*/*.avi; do cp "$video" "two/$(basename "$(dirname "$video")")/$(md5sum <"$video" | cut -c1-8).avi"; done
	prepare --source two --out again --split 0.25
	sides again | cmp - first
	# A video in two classes is on one side, whatever each class would say.
	cp one/cat/*.avi one/dog/
	for share in 0.5 0.25 0.9; do
		run prepare --source one --out data --split $share
		[ "$status" -eq 0 ]
		[[ "$output" == *"; 0 decoded, "* || "$share" = 0.5 ]]
		sides data >other
		grep -q '\[\]$' other
	done
	# The list of shards is all that the trainer needs of it.
	kinetics >log
	run prepare --source one --out data --split 0.95
	[ "$status" -ne 0 ]
	videos single cat=1 dog=1
	run prepare --source single --out single-data --split 0.5
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"no class of 'single' has two videos"* ]]
}

@test "split: killed at any moment, the next run makes the same" {
	need_prepare
	videos one cat=30 dog=30
	prepare --source one --out whole --split 0.3
	sides whole >expected
	for wait in 0.01 0.05 0.1 0.15; do
		kill_prepare "$wait" --source one --split 0.3
	done
	run_when_free prepare --source one --out data --split 0.3
	[ "$status" -eq 0 ]
	sides data | cmp - expected
	[ -z "$(find data/shards -name '*.clips')" ]
}

@test "classify: what cannot be decoded is a row; a labelled dataset is counted; an interrupt leaves nothing" {
	need_prepare
	videos train cat=2 dog=2
	prepare --source train --out data
	kinetics >log
	mkdir -p 'mixed/deep, er' tmp
	cp train/cat/cat-00.avi 'mixed/deep, er/a.avi'
	cp train/dog/dog-00.avi mixed/b.avi
	head -c 3000 /dev/urandom >mixed/c.mp4
	TMPDIR=tmp run --separate-stderr "$TRAINER" classify --checkpoint out --source mixed --out -
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "path,class,probability,class_2,probability_2,class_3,probability_3,class_4,probability_4,class_5,probability_5,clips,error" ]
	[[ "${lines[1]}" == mixed/b.avi,*,4, ]]
	[[ "${lines[2]}" == mixed/c.mp4,,,,,,,,,,,0,?* ]]
	[[ "${lines[3]}" == '"mixed/deep, er/a.avi",'*,4, ]]
	[ -z "$(ls -A tmp)" ]
	run --separate-stderr "$TRAINER" classify --checkpoint out/step-00000003 --source data --out table.csv
	[ "$status" -eq 0 ]
	# shellcheck disable=SC2154  # bats sets stderr
	[[ "$stderr" == *" of 4 videos are of the class that 'data' says"* ]]
	[ "$(wc -l <table.csv)" -eq 5 ]

	# What cannot be written is known before anything is decoded.
	for out in nowhere/table.csv tmp; do
		TMPDIR=tmp run "$TRAINER" classify --checkpoint out --source mixed --out "$out"
		[ "$status" -ne 0 ]
		[[ "$output" == *"--out '$out'"* && "$output" != *videos* ]]
	done

	videos many x=300
	TMPDIR=tmp "$TRAINER" classify --checkpoint out --source many --out table.csv 2>/dev/null 3>&- &
	pid=$!
	for _ in $(seq 100); do
		[ -n "$(ls -A tmp)" ] && break
		sleep 0.02
	done
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	[ "$status" -eq 75 ]
	[ -z "$(ls -A tmp)" ]
	[ "$(wc -l <table.csv)" -eq 5 ]
	rm -r mixed/b.avi "mixed/deep, er"
	TMPDIR=tmp run "$TRAINER" classify --checkpoint out --source mixed --out none.csv
	[ "$status" -eq 0 ]
	[ "$(wc -l <none.csv)" -eq 2 ]
}

@test "export: names and shapes are those that transformers lists; a used folder and a model it cannot have are refused" {
	"$TRAINER" train --config_file_path "$ROOT/tests/golden/export/small.yaml" --batch_size 1 --max_steps 1 --threads 1 \
		--logdir logs --output_dir out >/dev/null
	run "$TRAINER" export --checkpoint out --out hf/
	echo "$output"
	[ "$status" -eq 0 ]
	cmp hf/model.safetensors out/step-00000001/model.safetensors
	run python3 "$ROOT/tests/servers/check-export" hf "$ROOT/tests/golden/export/tensors.txt"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == "87 tensors, with"* ]]

	run "$TRAINER" export --checkpoint out --out hf
	[ "$status" -eq 2 ]
	[[ "$output" == *"'hf' is not empty"*--overwrite* ]]
	"$TRAINER" export --checkpoint out --out hf --overwrite
	touch hf/README.md
	run "$TRAINER" export --checkpoint out --out hf --overwrite
	[ "$status" -eq 2 ]
	[[ "$output" == *"README.md"* ]]
	[ -z "$(find . -name "*tmp-export*")" ]
	# An export is a model to start from.
	"$TRAINER" train --config_file_path hf/config.json --init_from hf --batch_size 1 --max_steps 1 --threads 1 --logdir logs \
		--output_dir again >/dev/null 2>&1
	train tiny --max_steps 1 >/dev/null
	run "$TRAINER" export --checkpoint tiny --out other
	[ "$status" -eq 1 ]
	[[ "$output" == *"audio_num_bands 32, but transformers has 192"* ]]
	[ ! -e other ]
}

@test "inspect: a run's folder, its checkpoints, and what is damaged" {
	train out --max_steps 4 --checkpoint_steps 2 >/dev/null
	run "$TRAINER" inspect out
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == "out: 2 checkpoints, 0 damaged"*step-00000002*"step-00000004"*latest* ]]
	run "$TRAINER" inspect out/step-00000004
	[ "$status" -eq 0 ]
	[[ "$output" == "out/step-00000004: step 4 of run "*", whole"*"129322 parameters in 87 tensors:"*"10 labels, 0 with"* ]]
	printf x >>out/step-00000002/model.safetensors
	run "$TRAINER" inspect out --output json
	[ "$status" -eq 79 ]
	python3 -c '
import json, sys
d = json.loads(sys.argv[1])
assert [bool(c["damage"]) for c in d["checkpoints"]] == [True, False] and d["latest"] == "step-00000004"' "$output"
	run "$TRAINER" inspect out/step-00000002
	[ "$status" -eq 79 ]
	run "$TRAINER" inspect logs
	[ "$status" -eq 1 ]
	[[ "$output" == *"'logs' is not a checkpoint and holds none"* ]]
	run "$TRAINER" inspect
	[ "$status" -eq 2 ]
}

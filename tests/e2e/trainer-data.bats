#!/usr/bin/env bats
# slipway-trainer and its data: real videos, hostile ones, datasets that lack something.

load trainer

need_prepare() { [ -x "$BIN/slipway-prepare" ] || skip "slipway-prepare is not built"; }

# real_videos: eleven videos of four classes from Debian's packages, into ./videos.
real_videos() {
	unpack python3-mecavideo python3-imageio node-opencv
	mkdir -p videos/{ball,mechanics,bird,motion}
	local mecavideo=x/usr/share/pymecavideo/data/video
	cp "$mecavideo"/balle* videos/ball/
	cp "$mecavideo"/[EFPgr]* videos/mechanics/
	cp x/usr/lib/python3/dist-packages/imageio/resources/images/*.mp4 videos/bird/
	cp x/usr/share/doc/node-opencv/examples/files/motion.mov videos/motion/
}

# one_video: the smallest of them.
one_video() {
	unpack python3-imageio
	mkdir -p videos/bird
	cp x/usr/lib/python3/dist-packages/imageio/resources/images/realshort.mp4 videos/bird/
}

prepare() { "$TRAINER" prepare --source videos --out data --config_file_path tiny "$@"; }

kinetics() {
	"$TRAINER" train --config_file_path tiny --dataset kinetics --dataset_dir data --num_epochs 100000 --threads 1 \
		--logdir logs --output_dir out "$@"
}

@test "data: real videos: prepared once, in 200 steps the loss falls below a third, sampled and evaluated" {
	need_prepare
	real_videos
	run prepare
	[ "$status" -eq 0 ]
	[[ "$output" == "11 videos of 4 classes: "*" clips; 11 decoded, 0 reused, 0 rejected" ]]
	cp data/dataset.json first.json
	run prepare
	[[ "$output" == "11 videos of 4 classes: "*" clips; 0 decoded, 11 reused, 0 rejected" ]]
	cmp data/dataset.json first.json

	kinetics --batch_size 32 --max_steps 200 --lr 2e-3 --schedule cosine --warmup_steps 20 --attention_dropout 0 \
		--log_steps 1 --json_log log.jsonl >log
	python3 - <<-'PY'
		import json
		lines = [json.loads(l) for l in open("log.jsonl")]
		assert len(lines) == 200
		first, last = lines[0]["loss"], sum(l["loss"] for l in lines[-10:]) / 10
		print("loss", first, "->", last)
		assert last < first / 3
		# How small the share is, the bench says.
		assert all(0 <= l["wait_share"] <= 1 for l in lines)
	PY
	run "$TRAINER" sample --checkpoint "out/$(cat out/latest)" --dataset_dir data --clip 0 --out pictures --movie
	[ "$status" -eq 0 ]
	[ "$(head -c 4 pictures/frames.png | tail -c 3)" = PNG ]
	[ "$(head -c 4 pictures/reconstruction.wav)" = RIFF ]
	"$TRAINER" eval --config_file_path tiny --dataset kinetics --dataset_dir data \
		--checkpoint "out/$(cat out/latest)" --eval_steps 2

	# The film is a video like any other.
	mkdir -p films/made
	cp pictures/movie.mp4 films/made/
	run "$TRAINER" prepare --source films --out again --config_file_path tiny
	[[ "$output" == "1 videos of 1 classes: 1 clips; 1 decoded, 0 reused, 0 rejected" ]]
	rm pictures/frame-*.png
	run "$BIN/slipway-prepare" --movie pictures
	[ "$status" -eq 1 ]
	[[ "$output" == *"pictures/frame-"* ]]
	rm pictures/input.wav
	run "$BIN/slipway-prepare" --movie pictures
	[ "$status" -eq 1 ]
	[[ "$output" == *"pictures/input.wav"* ]]
}

@test "data: real clips, augmented and balanced: the same on two ranks, evaluated as they are" {
	need_prepare
	openmpi
	real_videos
	prepare
	losses() { python3 -c 'import json, sys; print([json.loads(l)["loss"] for l in open(sys.argv[1])])' "$1"; }
	changed=(--augment --balanced --max_steps 30 --log_steps 1 --lr 1e-3 --attention_dropout 0 --overwrite)
	kinetics --batch_size 4 "${changed[@]}" --json_log one.jsonl >/dev/null
	cp -a out one
	mpirun --oversubscribe -n 2 "$TRAINER" train --config_file_path tiny --dataset kinetics --dataset_dir data \
		--num_epochs 100000 --threads 1 --logdir logs --output_dir out --batch_size 2 "${changed[@]}" --json_log two.jsonl >/dev/null
	kinetics --batch_size 4 "${changed[@]}" --augment_offset 0 --json_log fixed.jsonl >/dev/null
	python3 - <<-'PY'
		import json
		def read(name):
		    return [json.loads(line) for line in open(name + ".jsonl")]
		one, two, fixed = read("one"), read("two"), read("fixed")
		worst = max(abs(a["loss"] / b["loss"] - 1) for a, b in zip(one, two))
		# Clips that begin elsewhere are other clips.
		other = max(abs(a["loss"] / b["loss"] - 1) for a, b in zip(one, fixed))
		print("ranks differ by", worst, "offsets by", other)
		assert len(one) == len(two) == 30 and worst < 1e-3 and other > 1e-2
	PY
	score() {
		"$TRAINER" eval --config_file_path tiny --dataset kinetics --dataset_dir data \
			--checkpoint one/step-00000030 "$@" | grep ' clips: loss '
	}
	[ "$(score)" = "$(score --augment --balanced)" ]
}

@test "data: videos that are cut, lie, or are none cost themselves only" {
	need_prepare
	one_video
	cd videos/bird
	head -c 50000 realshort.mp4 >cut.mp4
	head -c 50000 /dev/urandom >noise.avi
	: >empty.mp4
	mkdir folder.mp4
	ln -s loop.mp4 loop.mp4
	printf 'ffconcat version 1.0\nfile /etc/passwd\n' >list.mp4
	printf '#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:1/x.ts\n' >playlist.mkv
	python3 - <<-'PY'
		import random, struct
		real = open("realshort.mp4", "rb").read()
		at = real.index(b"avc1", real.index(b"stsd")) + 28
		open("wide.mp4", "wb").write(real[:at] + struct.pack(">HH", 65535, 65535) + real[at + 4:])
		at = real.index(b"mdhd") + 16
		open("long.mp4", "wb").write(real[:at] + b"\xff" * 8 + real[at + 8:])
		at = real.index(b"stsz") + 12
		open("many.mp4", "wb").write(real[:at] + b"\xff" * 4 + real[at + 4:])
		random.seed(5)
		for i in range(12):
		    damaged = bytearray(real)
		    for _ in range(60):
		        damaged[random.randrange(len(damaged))] = random.randrange(256)
		    open("damaged%d.mp4" % i, "wb").write(damaged)
	PY
	cd ../..
	run prepare --timeout 20 --memory_mb 1024
	echo "$output"
	[ "$status" -eq 0 ]
	for name in cut.mp4 noise.avi empty.mp4 list.mp4 playlist.mkv; do
		[[ "$output" == *"rejected 'videos/bird/$name': "* ]]
	done
	[[ "$output" != *"rejected 'videos/bird/realshort.mp4'"* ]]
	python3 -c '
import json
d = json.load(open("data/dataset.json"))
assert any(s["source"].endswith("realshort.mp4") for s in d["shards"])
assert all(r["reason"] for r in d["rejected"])'
	kinetics --batch_size 1 --max_steps 2 >/dev/null
}

@test "data: a folder without a usable video, and one without videos, say so" {
	need_prepare
	mkdir -p videos/bird
	run prepare
	[ "$status" -eq 1 ]
	[[ "$output" == *"videos"* ]]
	head -c 50000 /dev/urandom >videos/bird/noise.avi
	run prepare
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"rejected 'videos/bird/noise.avi'"*"error: "* ]]
	run prepare --out /dev/null/x
	[ "$status" -eq 1 ]
	[[ "$output" == *"/dev/null"* ]]
}

@test "data: one clip is a dataset; shards that are missing, cut or another's are named with the next step" {
	need_prepare
	one_video
	run prepare --max_clips 1
	[[ "$output" == *" 1 clips; "* ]]
	kinetics --batch_size 4 --max_steps 3 >/dev/null
	shard=$(find data/shards -name '*.clips')
	cp "$shard" good

	refused() {
		run kinetics --batch_size 1 --max_steps 3 --overwrite
		echo "$output"
		[ "$status" -eq 79 ]
		[[ "$output" == *"$shard"*"run prepare again"* ]]
	}
	head -c 3000 good >"$shard"
	refused
	: >"$shard"
	refused
	{
		cat good
		printf x
	} >"$shard"
	refused
	cp good "$shard"
	printf '\1\2\3' | dd of="$shard" bs=1 seek=6000 conv=notrunc status=none
	refused
	rm "$shard"
	refused
	mkdir "$shard"
	refused
	rmdir "$shard"
	run prepare --max_clips 1
	[[ "$output" == *"1 decoded, 0 reused"* ]]
	kinetics --batch_size 1 --max_steps 3 --overwrite >/dev/null

	run kinetics --config_file_path mid --batch_size 1 --max_steps 1 --overwrite
	[ "$status" -eq 1 ]
	[[ "$output" == *"prepare"* ]]
}

@test "data: prepare that is killed goes on where it was; two at a time are refused" {
	need_prepare
	real_videos
	for wait in 0.05 0.2 0.4; do
		kill_prepare "$wait" --source videos
	done
	run_when_free prepare
	echo "$output"
	[[ "$output" == "11 videos of 4 classes: "*", 0 rejected" ]]
	"$TRAINER" prepare --source videos --out fresh --config_file_path tiny >/dev/null
	diff -r data/shards fresh/shards
	exec 9>data/lock
	flock 9
	run prepare
	[ "$status" -eq 1 ]
	[[ "$output" == *"data"* ]]
}

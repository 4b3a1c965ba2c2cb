#!/usr/bin/env bats
# A newcomer's path: the five commands of docs/TRAINING.md, word by word, on twenty short videos.

load trainer

# commands: those of the section "A first model", each on one line.
commands() {
	sed -n '/^## A first model$/,/^## Data$/p' "$ROOT/docs/TRAINING.md" | sed -n 's/^    //p' |
		sed -e ':again' -e '/\\$/{N;s/ *\\\n */ /;b again' -e '}'
}

@test "newcomer: twenty videos in class folders become a checkpoint, a CSV and pictures by the document's five commands" {
	[ -x "$BIN/slipway-prepare" ] || skip "slipway-prepare is not built"
	"$ROOT/tests/servers/make-videos" videos across=10 down=10
	commands >list
	cat list
	[ "$(wc -l <list)" -eq 5 ]
	[ "$(cut -d' ' -f1-2 list | tr '\n' ',')" = "slipway-trainer prepare,slipway-trainer train,slipway-trainer eval,slipway-trainer classify,slipway-trainer sample," ]
	while read -r command; do
		PATH="$BIN:$PATH" bash -euc "$command" </dev/null >>log 2>&1 || { cat log && false; }
	done <list
	cat log

	grep -q '^20 videos of 2 classes: 80 clips; 20 decoded, 0 reused, 0 rejected$' log
	grep -q '^  16 clips: loss ' log # four videos are for validation
	python3 -c '
import csv, json
rows = list(csv.DictReader(open("classes.csv")))
assert len(rows) == 20 and [r["path"] for r in rows] == sorted(r["path"] for r in rows)
assert all({r["class"], r["class_2"]} == {"across", "down"} and r["class_3"] == "" for r in rows)
assert all(abs(float(r["probability"]) + float(r["probability_2"]) - 1) < 1e-5 for r in rows)
assert all(r["clips"] == "4" and r["error"] == "" for r in rows)
sides = [json.load(open("data/%s/dataset.json" % side)) for side in ("train", "val")]
sources = [{s["source"] for s in side["shards"]} for side in sides]
assert not sources[0] & sources[1] and [len(s) for s in sources] == [16, 4]
assert [[s["label"] for s in side["shards"]].count(0) for side in sides] == [8, 2]'
	[ "$(head -c 4 pictures/frames.png | tail -c 3)" = PNG ]
	[ "$(head -c 4 pictures/reconstruction.wav)" = RIFF ]
	grep -Eq '^pictures: .*; label across, the model predicts (across|down)$' log
}

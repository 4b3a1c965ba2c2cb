#!/usr/bin/env bats
# tests/bench/learning: what docs/bench/learning.md tells to run, on a few small videos and without PyTorch.

load trainer

BENCH=$BATS_TEST_DIRNAME/../bench
REPORT=$BATS_TEST_DIRNAME/../../docs/bench/learning

# command_of_document: in one line, for the trainer alone and a few steps.
command_of_document() {
	sed -n 's/^    tests\/bench\/learning /learning /p' "$REPORT.md" |
		sed -E -e "s#^#$BENCH/#" -e 's# --(python|report) [^ ]+##g' -e 's# --isa [^ ]+# --isa generic#' \
			-e "s#\$# --bin $BIN --steps 8 --eval_every 4#"
}

@test "learning: the document's command makes curves of unseen clips, a chart and pictures; again it keeps what is done" {
	[ -x "$BIN/slipway-prepare" ] || skip "slipway-prepare is not built"
	"$ROOT/tests/servers/make-videos" videos/train across=3 down=2
	"$ROOT/tests/servers/make-videos" videos/val across=1 down=1
	command_of_document >command
	cat command
	bash -euc "$(cat command)" >first </dev/null
	cat first
	grep -q '^| together | 5 | 10 | 2 | 4 |$' first
	grep -q '^| steps | 8 | 8 |$' first
	python3 - <<-'PY'
		import json, struct
		from xml.dom import minidom

		r = json.load(open("out/learning.json"))
		ours = r["runs"]["slipway"]
		assert list(r["runs"]) == ["slipway", "rounding"] and [p["step"] for p in ours["val"]] == [4, 8]
		# The same run but for its rounding: alike and not the same.
		pairs = [(a["loss"], b["loss"]) for a, b in zip(ours["val"], r["runs"]["rounding"]["val"])]
		assert len(pairs) == 2 and all(0 < abs(a / b - 1) < 1e-3 for a, b in pairs), pairs
		assert ours["cpu_seconds"] > 0 and all(p["train_image"] > 0 and p["psnr"] > 0 for p in ours["val"])
		# The finer the grid, the nearer to the picture; and nothing that is one colour for all comes nearer than it.
		guesses = [r["plain"][k] for k in ("mean", "1", "2", "4", "8", "16")]
		assert guesses == sorted(guesses) and guesses[0] > 0
		# Two clips across, of two classes; what they are above what the model makes of them.
		assert len(set(r["shown"])) == 2
		assert struct.unpack(">II", open("out/learning.png", "rb").read()[16:24]) == (2 * 68 - 4, 2 * 68 - 4)
		assert len(minidom.parse("out/learning.svg").getElementsByTagName("polyline")) == 2 * 4 + 1 + 3
	PY
	stat -c '%n %y' out/*.time >before
	bash -euc "$(cat command)" >second </dev/null
	stat -c '%n %y' out/*.time | diff before -
	diff first second
}

@test "learning: a run that fails is named with its last lines, and is made again" {
	[ -x "$BIN/slipway-prepare" ] || skip "slipway-prepare is not built"
	"$ROOT/tests/servers/make-videos" videos/train across=1 down=1
	run "$BENCH/learning" videos out --bin "$BIN" --steps 4 --eval_every 2
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == "learning: "*"/out/prepare-val.log: exit status "*"videos/val"* ]]
	[ -e out/prepare-train.time ] && [ ! -e out/prepare-val.time ]
	"$ROOT/tests/servers/make-videos" videos/val across=1
	"$BENCH/learning" videos out --bin "$BIN" --steps 4 --eval_every 2 | grep -q '^| together | 2 | 4 | 1 | 2 |$'
}

@test "learning: the document's tables and chart are those of its figures" {
	"$BENCH/learning_report.py" "$REPORT.json" chart.svg >tables
	cmp chart.svg "$REPORT.svg"
	while read -r line; do
		grep -qxF -e "$line" "$REPORT.md" || { echo "not in docs/bench/learning.md: $line" && false; }
	done < <(grep . tables)
	[ "$(cat "$REPORT".* | wc -c)" -lt 360000 ]
}

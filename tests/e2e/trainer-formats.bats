#!/usr/bin/env bats
# What the trainer writes, read by programs that know nothing of it: checkpoints, TensorBoard files, metrics.

load lib
load trainer
setup() {
	common_setup
	TRAINER="$(dirname "$SLIPWAY")/$(dpkg --print-architecture)/slipway-trainer"
}
teardown() { common_teardown; }

@test "formats: a full checkpoint has Hugging Face's 183 tensors; its own client and torch read them" {
	"$TRAINER" train --config_file_path full --batch_size 1 --max_steps 1 --logdir logs --output_dir out >/dev/null
	# Debian's torch and numpy belong to Debian's Python.
	run /usr/bin/python3 "$ROOT/tests/servers/check-checkpoint" out/step-00000001
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == "step 1: 183 tensors, 19858855 parameters, "* ]]

	command -v node >/dev/null && command -v npm >/dev/null || skip "the rest: node and npm are not installed"
	timeout 120 npm install --prefix npm --no-audit --no-fund --loglevel=error @huggingface/hub@2.17.5 >npm.log 2>&1 ||
		skip "the rest: npm cannot fetch @huggingface/hub"
	run node "$ROOT/tests/servers/check-hub.mjs" "$WORK/npm/node_modules" out/step-00000001
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = '183 tensors, {"F32":19858855}, format pt' ]
}

@test "formats: the checkpoint's reader refuses what was changed" {
	"$TRAINER" train --config_file_path tiny --batch_size 1 --max_steps 1 --logdir logs --output_dir out >/dev/null
	python3 "$ROOT/tests/servers/check-checkpoint" out/step-00000001
	for file in out/step-00000001/*; do
		cp -r out/step-00000001 damaged
		printf x >>"damaged/$(basename "$file")"
		run ! python3 "$ROOT/tests/servers/check-checkpoint" damaged
		rm -rf damaged
	done
}

@test "formats: TensorBoard's event file says what the JSON lines say" {
	"$TRAINER" train --config_file_path tiny --batch_size 2 --max_steps 40 --log_steps 5 --json_log log.jsonl \
		--logdir logs --output_dir out >/dev/null
	events=$(find logs -name 'events.out.tfevents.*')
	run python3 "$ROOT/tests/servers/check-events" "$events" log.jsonl
	[ "$output" = "8 steps, without Python's protobuf" ] || [ "$output" = "8 steps, with Python's protobuf" ]
	cp "$events" damaged
	printf '\377' | dd of=damaged bs=1 seek=100 conv=notrunc status=none
	run ! python3 "$ROOT/tests/servers/check-events" damaged log.jsonl

	unpack python3-protobuf libprotobuf32
	run env PYTHONPATH=x/usr/lib/python3/dist-packages LD_LIBRARY_PATH="x/usr/lib/$(uname -m)-linux-gnu" \
		/usr/bin/python3 "$ROOT/tests/servers/check-events" "$events" log.jsonl
	echo "$output"
	[ "$output" = "8 steps, with Python's protobuf" ]
}

@test "formats: promtool finds nothing wrong with the metrics" {
	unpack prometheus
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
	METRICS_PORT=$port "$TRAINER" train --config_file_path tiny --batch_size 1 --max_steps 1000000 --num_epochs 1000 \
		--log_steps 5 --logdir logs --output_dir out >/dev/null 2>&1 3>&- &
	PIDS+=($!)
	for _ in $(seq 100); do
		curl -sf "http://127.0.0.1:$port/metrics" >metrics 2>/dev/null && grep -q steps_total metrics && break
		sleep 0.1
	done
	grep -q '^slipway_trainer_data_wait_ratio{rank="0"} ' metrics
	run x/usr/bin/promtool check metrics <metrics
	echo "$output"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run ! x/usr/bin/promtool check metrics <<<'bad{'
}

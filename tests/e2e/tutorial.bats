#!/usr/bin/env bats
# docs/TUTORIAL.md: what it tells people to type works, as far as a machine without AWS can go.

load lib

setup() { common_setup; }
teardown() { common_teardown; }

# The lines of the blocks that follow `<!-- run -->`.
marked() { awk '/^<!-- run -->$/ {m = 1} /^```sh$/ && m {on = 1; next} /^```$/ {on = 0; if (m) m = 0} on' "$ROOT/docs/TUTORIAL.md"; }

@test "tutorial: every marked command works, in order" {
	[ "$(marked | wc -l)" -ge 9 ]
	mkdir bin && ln -s "$SLIPWAY" bin/slipway
	mkdir -p build/amd64 build/arm64
	for arch in amd64 arm64; do
		[ -e "$ROOT/build/$arch/slipway-trainer" ] || skip "the trainer is not built"
		cp "$ROOT/build/$arch/slipway-trainer" "build/$arch/"
	done
	cp "$ROOT/slipway.yaml" "$ROOT/LICENSE" .
	marked >script
	PATH=$WORK/bin:$PATH run bash -euxo pipefail script
	echo "$output"
	[ "$status" -eq 0 ]
	[ -e deploy/80-pipeline/pipeline.yaml ]
}

@test "tutorial: every command of slipway's in it exists, with its options" {
	grep -hoE '^(\$ )?slipway [a-z]+.*' "$ROOT/docs/TUTORIAL.md" "$ROOT/docs/PIPELINE.md" | sed 's/^\$ //' >lines
	[ "$(wc -l <lines)" -ge 15 ]
	while read -r _ command rest; do
		"$SLIPWAY" "$command" --help >help 2>/dev/null || {
			# deploy, status and undeploy may live in a build of their own.
			[[ $command == deploy || $command == undeploy ]] && continue
			echo "no command: $command"
			return 1
		}
		for option in $(grep -oE -- '--[a-z-]+' <<<"${rest%%#*}"); do
			grep -q -- "$option" help || { echo "$command has no $option"; return 1; }
		done
	done <lines
}


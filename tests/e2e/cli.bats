#!/usr/bin/env bats
# The command line: help, usage errors, output forms.

load lib
setup() { common_setup; }
teardown() { common_teardown; }

@test "cli: every command explains itself" {
	for command in build push inspect verify diff schema doctor completion version help; do
		run "$SLIPWAY" "$command" --help
		[ "$status" -eq 0 ]
		[[ $output == *"Usage: slipway $command"* ]]
	done
}

@test "cli: an unknown option exits 2 and names the nearest" {
	run "$SLIPWAY" build --no-chek
	[ "$status" -eq 2 ]
	[[ $output == *"did you mean --no-check?"* ]]
}

@test "cli: an unknown command exits 2 and names the nearest" {
	run "$SLIPWAY" biuld
	[ "$status" -eq 2 ]
	[[ $output == *"slipway build"* ]]
}

@test "cli: a missing argument exits 2 with the usage" {
	run "$SLIPWAY" inspect
	[ "$status" -eq 2 ]
	[[ $output == *"usage: slipway inspect"* ]]
}

@test "cli: completion scripts are valid and know the commands" {
	"$SLIPWAY" completion bash | bash -n
	run bash -c 'source <("$0" completion bash); COMP_WORDS=(slipway bu); COMP_CWORD=1; _slipway; echo "${COMPREPLY[@]}"' "$SLIPWAY"
	[[ $output == build* ]]
	run "$SLIPWAY" completion tcsh
	[ "$status" -eq 2 ]
}

@test "cli: the schema is JSON and knows image.layers" {
	"$SLIPWAY" schema | python3 -c 'import json,sys; d=json.load(sys.stdin); d["properties"]["image"]["properties"]["layers"]'
}

@test "cli: version and doctor print JSON when asked" {
	"$SLIPWAY" version --output json | python3 -c 'import json,sys; json.load(sys.stdin)["version"]'
	"$SLIPWAY" doctor --output json | python3 -c 'import json,sys; json.load(sys.stdin)["platform"]'
}

@test "cli: failures are JSON on standard output when asked" {
	run bash -c '"$0" build --output json 2>/dev/null' "$SLIPWAY"
	[ "$status" -eq 1 ]
	python3 -c 'import json,sys; assert json.loads(sys.argv[1])["error"]["code"] == "not_found"' "$output"
}

@test "cli: the generated documents are up to date" {
	cd "$ROOT"
	diff <("$SLIPWAY" schema --format markdown) docs/SPEC.md
	diff <("$SLIPWAY" schema) docs/slipway.schema.json
	diff <("$SLIPWAY" help --man build) docs/man/slipway-build.1
	diff <("$SLIPWAY" completion bash) docs/completion/slipway.bash
}

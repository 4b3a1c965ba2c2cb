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

@test "cli: zsh and fish completions are valid where those shells are" {
	"$SLIPWAY" completion zsh >slipway.zsh
	"$SLIPWAY" completion fish >slipway.fish
	[ -s slipway.zsh ]
	[ -s slipway.fish ]
	for shell in zsh fish; do
		command -v "$shell" >/dev/null || continue
		"$shell" -n "slipway.$shell"
	done
}

@test "cli: every command prints JSON when asked" {
	make_tree tree
	make_spec slipway.yaml
	for command in "build -o one" "build -o one --dry-run" "inspect oci:one" "verify oci:one" "diff oci:one oci:one" \
		version doctor; do
		# shellcheck disable=SC2086 # a command line
		"$SLIPWAY" $command --output json 2>/dev/null | json d >/dev/null
	done
}

@test "cli: --progress json is one JSON document a line on standard error" {
	make_tree tree
	make_spec slipway.yaml 'check: {off: [no-entrypoint]}'
	"$SLIPWAY" build -o one --progress json 2>progress >/dev/null
	[ -s progress ]
	while read -r line; do json d <<<"$line" >/dev/null; done <progress
}

@test "cli: results go to standard output, progress to standard error, and no colour into a file" {
	make_tree tree
	make_spec slipway.yaml 'check: {off: [no-entrypoint]}'
	"$SLIPWAY" build -o one --progress plain >out 2>err
	digest_line <out
	[ -s err ]
	! grep -q "$(printf '\033')" out err || false
	"$SLIPWAY" build -o one --progress none >out 2>err
	[ ! -s err ]
}

@test "cli: a terminal gets colour unless NO_COLOR is set" {
	need script
	sed 's/tags:/tagz:/' <(make_spec /dev/stdout) >slipway.yaml
	run script -qec "$SLIPWAY build --progress none" /dev/null
	[[ $output == *$'\e['* ]]
	NO_COLOR=1 run script -qec "$SLIPWAY build --progress none" /dev/null
	[[ $output == *tagz* ]]
	[[ $output != *$'\e['* ]]
}

@test "cli: inspect --raw prints exactly the bytes that the digest names" {
	make_tree tree
	make_spec slipway.yaml
	digest=$("$SLIPWAY" build --progress none -o one --digest-file file | digest_line)
	[ "sha256:$("$SLIPWAY" inspect --raw oci:one | sha256sum | cut -d' ' -f1)" = "$digest" ]
	[ "$(cat file)" = "$digest" ]
}

@test "cli: a spec with many mistakes shows all of them, each with its place and a caret" {
	make_tree tree
	make_spec slipway.yaml 'tagz: [x]' 'compression: lzma' 'platforms: [linux/z80000]' 'user: [1]'
	run "$SLIPWAY" build --progress none
	[ "$status" -eq 3 ]
	for line in 5 6 7 8; do [[ $output == *"slipway.yaml:$line:"* ]]; done
	[[ $output == *"^"* ]]
}

@test "cli: options that do not go together or have no sense exit 2" {
	for arguments in "build --jobs x" "build --jobs -1" "build --format zip" "build -o" "inspect a b" "diff oci:x" \
		"push a b c d" "completion" "--version=1" ""; do
		# shellcheck disable=SC2086 # a command line
		run "$SLIPWAY" $arguments
		echo "$arguments: $status $output"
		[ "$status" -eq 2 ]
	done
}

@test "cli: the schema is JSON and knows image.layers" {
	"$SLIPWAY" schema | python3 -c 'import json,sys; d=json.load(sys.stdin); d["properties"]["image"]["properties"]["layers"]'
}

@test "cli: version and doctor print JSON when asked" {
	"$SLIPWAY" version --output json | python3 -c 'import json,sys; json.load(sys.stdin)["version"]'
	"$SLIPWAY" doctor --output json | python3 -c 'import json,sys; json.load(sys.stdin)["platform"]'
}

@test "cli: doctor tells which programs a deploy would miss, and which are too old" {
	mkdir bin
	printf '#!/bin/sh\necho "gitVersion: v1.20.5"\n' >bin/kubectl
	printf '#!/bin/sh\necho "aws-cli/2.17.20 Python/3.11.7"\n' >bin/aws
	printf '#!/bin/sh\nexit 3\n' >bin/helm
	chmod +x bin/*
	PATH=$WORK/bin run "$SLIPWAY" doctor --output json
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(json 'd["tools"]["kubectl"]' <<<"$output")" = "1.20.5 is too old: 1.24 or newer is needed for slipway deploy, status, logs and undeploy" ]
	[ "$(json 'd["tools"]["aws"]' <<<"$output")" = 2.17.20 ]
	[ "$(json 'd["tools"]["eksctl"]' <<<"$output")" = "not found; needed for making a cluster in EKS" ]
	[[ $(json 'd["tools"]["helm"]' <<<"$output") == "does not run; needed for"* ]]
	# One of another name is asked instead.
	printf '#!/bin/sh\necho "gitVersion: v1.33.0"\n' >other && chmod +x other
	PATH=$WORK/bin KUBECTL=$WORK/other run "$SLIPWAY" doctor
	[[ $output == *"tools.kubectl          1.33.0"* ]]
}

@test "cli: failures are JSON on standard output when asked" {
	run bash -c '"$0" build --output json 2>/dev/null' "$SLIPWAY"
	[ "$status" -eq 1 ]
	python3 -c 'import json,sys; assert json.loads(sys.argv[1])["error"]["code"] == "not_found"' "$output"
}

@test "cli: every generated page is what is made today, and a test compares every golden file" {
	"$ROOT/tests/lint/generated"
}

#!/usr/bin/env bats
# Manners of the command line: quiet and verbose, pipes whose reader leaves, help, and what is documented.

load lib
setup() { common_setup; }
teardown() { common_teardown; }

@test "manners: a reader that has enough ends the program without a word, by SIGPIPE as any filter" {
	run bash -c '"$0" schema 2>err | head -n 1 >/dev/null; echo "${PIPESTATUS[0]}"' "$SLIPWAY"
	[ "$output" = 141 ]
	[ ! -s err ]
}

@test "manners: a full disk is told as such, whether the first write meets it or the last" {
	[ -e /dev/full ] || skip "there is no /dev/full"
	for command in schema version; do
		run bash -c '"$0" "$1" >/dev/full' "$SLIPWAY" "$command"
		[ "$status" -eq 1 ]
		[[ $output == *"write standard output: No space left on device"* ]]
	done
}

@test "manners: --quiet leaves the result and errors alone, in every command" {
	make_tree tree
	make_spec slipway.yaml
	"$SLIPWAY" build -q -o one >out 2>err
	digest_line <out
	[ ! -s err ]
	# The check's warning is not said, and an error is.
	"$SLIPWAY" verify oci:one 2>&1 >/dev/null | grep -q warning
	"$SLIPWAY" verify -q oci:one >/dev/null 2>err
	[ ! -s err ]
	run "$SLIPWAY" verify -q oci:missing
	[ "$status" -ne 0 ]
	[[ $output == *error:* ]]
	for command in $("$SLIPWAY" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
		"$SLIPWAY" "$command" --help >help
		grep -q -- '-q, --quiet' help
		grep -q -- '-v, --verbose' help
	done
}

@test "manners: --verbose names each request without its query, and nothing secret" {
	make_tree tree
	start_faultreg
	make_spec slipway.yaml "repository: $REG/team/sample"
	"$SLIPWAY" build -q -o one >/dev/null
	printf 'hunter2secret' | "$SLIPWAY" push -v one --insecure -u me --password-stdin 2>err >/dev/null
	grep -Eq '^PUT http://127.0.0.1:[0-9]+/v2/team/sample/manifests/v1: 201 after [0-9]+ ms$' err
	run ! grep -e '?' -e hunter2 err
	"$SLIPWAY" push one --insecure 2>err >/dev/null
	run ! grep -E '^(GET|HEAD|PUT) ' err
}

@test "manners: --quiet with --verbose, and an option before the command, are refused with the way out" {
	run -2 "$SLIPWAY" version -q -v
	[[ $output == *"leave one of them out"* ]]
	run -2 "$SLIPWAY" --quiet build
	[[ $output == *"options follow the command"* ]]
	run -2 "$SLIPWAY" help biuld
	[[ $output == *"slipway help build"* ]]
}

@test "manners: the man pages are what mandoc reads without a warning, and say what --help says" {
	need mandoc
	local page command
	for page in "$ROOT"/docs/man/*.1; do
		# A date would make each day's pages others.
		mandoc -T lint -W warning "$page" | { run ! grep -v 'missing date, using'; }
		command=$(basename "$page" .1)
		command=${command#slipway-}
		[ "$command" != slipway ] || continue
		mandoc -T ascii -O width=200 "$page" | sed 's/.\x08//g' >page.txt
		for option in $("$SLIPWAY" "$command" --help | grep -oE '^  (-[a-z], |    )--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
			grep -qF -- "$option" page.txt || { echo "$command: $option" && return 1; }
		done
	done
	printf '.TH X 1\n.SH NAME\n.XY z\n' >wrong.1
	mandoc -T lint -W warning wrong.1 | grep -q 'skipping unknown macro'
}

@test "manners: --help lists every exit status of the table" {
	"$SLIPWAY" --help >help
	n=$(sed -n '/^Exit status:/,$p' help | grep -cE '^ +[0-9]+ ')
	[ "$n" -eq "$(sed -n '/^enum exit_status {/,/EXIT_STATUSES/p' "$ROOT/builder/cli/exit_status.h" | grep -c '^	EXIT_[A-Z]*,')" ]
}

@test "manners: every environment variable that is read is documented, and the lint sees one that is not" {
	mkdir copy
	(cd "$ROOT" && tar -cf - Makefile base builder k8s karpenter pipeline trainer tests/lint) | tar -xf - -C copy
	copy/tests/lint/environment
	sed -i 's/getenv("TMPDIR")/getenv("SLIPWAY_PLANTED")/' copy/builder/check/spool.c
	sed -i 's/{"NO_COLOR",/{"NO_COLOUR_AT_ALL",/' copy/builder/cli/environment.c
	run ! copy/tests/lint/environment
	[[ $output == *"builder/check/spool.c: reads SLIPWAY_PLANTED"* ]]
	[[ $output == *"nothing reads NO_COLOUR_AT_ALL"* ]]
	"$SLIPWAY" help environment | grep -q '^| `SOURCE_DATE_EPOCH` |'
}

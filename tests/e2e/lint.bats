#!/usr/bin/env bats
# The lint scripts find what they are there to find: faults are planted in a scratch copy of the tree.

load lib
setup() { common_setup; }
teardown() { common_teardown; }

# scratch PATH...: the Makefile, tests/lint and these files and folders of the tree, in copy/.
scratch() {
	local path
	mkdir -p copy
	for path in Makefile tests/lint "$@"; do
		mkdir -p "copy/$(dirname "$path")"
		cp -r "$ROOT/$path" "copy/$(dirname "$path")/"
	done
	cd copy || return 1
}

# deepest: the folder furthest down that holds sources; a list of files by depth would miss it first.
deepest() { make -s list-files | xargs -n 1 dirname | sort -u | awk -F/ 'NF > n {n = NF; at = $0} END {print at}'; }

# body LINES: a function whose body has so many lines.
body() {
	echo "void planted(void)"
	echo "{"
	for ((i = 0; i < $1; i++)); do printf '\t;\n'; done
	echo "}"
}

# reports SCRIPT TEXT...: tests/lint/SCRIPT fails, and says each of these.
reports() {
	local text
	run "tests/lint/$1"
	echo "$output"
	[ "$status" -eq 1 ]
	for text in "${@:2}"; do [[ $output == *"$text"* ]] || return 1; done
}

@test "lint: a function of 61 lines in the deepest folder is found, one of 60 is not" {
	cd "$ROOT"
	deepest=$(deepest)
	[[ $deepest == */*/* ]]
	cd "$WORK"
	scratch "$deepest"
	tests/lint/sizes
	body 60 >"$deepest/planted.c"
	tests/lint/sizes
	body 61 >"$deepest/planted.c"
	reports sizes "$deepest/planted.c:2: function of 61 lines"
	mkdir -p "$deepest/deeper/still"
	mv "$deepest/planted.c" "$deepest/deeper/still/"
	reports sizes "$deepest/deeper/still/planted.c:2: function of 61 lines"
}

@test "lint: long lines and // comments are found in sources, headers and bodies of every room" {
	scratch base/attr.h
	tests/lint/sizes
	rooms=(base builder/layer/pack k8s/job karpenter/pools pipeline trainer/ops) endings=(c h inc)
	# planted FORMAT ARG: this line in a file of each kind in each room; then FOUND is each of them.
	planted() {
		FOUND=()
		for room in "${rooms[@]}"; do
			mkdir -p "$room"
			for ending in "${endings[@]}"; do
				# shellcheck disable=SC2059 # the format is the argument
				printf "$@" >"$room/planted.$ending"
				FOUND+=("$room/planted.$ending:1: ")
			done
		done
	}
	# A tab is eight columns: 8 + 92 fit, 8 + 93 do not.
	planted '\t%092d\n' 0
	tests/lint/sizes
	planted '\t%093d\n' 0
	reports sizes "${FOUND[@]/%/line of 101 columns, at most 100}"
	planted 'char *text; // comment "x"\n'
	reports sizes "${FOUND[@]/%/use /* */ comments}"
}

@test "lint: two slashes in a text or in a comment are no // comment" {
	scratch base/attr.h
	{
		echo 'static const char *const url = "https://example.com", *const quote = "\"//";'
		echo "static const char slashes = '/', quotes = '\"'; /* https://example.com */"
		printf '/*\n * // drawn\n */\n'
	} >base/planted.c
	tests/lint/sizes
	echo "int x; // after all" >>base/planted.c
	reports sizes "base/planted.c:6: use /* */ comments"
}

@test "lint: a file of 601 lines is found, and a list of no files is an error" {
	scratch base/attr.h
	yes ';' | head -n 600 >base/planted.h
	tests/lint/sizes
	echo ';' >>base/planted.h
	reports sizes "base/planted.h: 601 lines, at most 600"
	rm -r base
	run tests/lint/sizes
	[ "$status" -eq 1 ]
	[[ $output == *"names no file"* ]]
}

@test "lint: clang-tidy reads the headers of every room" {
	cd "$ROOT"
	filter=$(sed -n "s/^HeaderFilterRegex: '\(.*\)'$/\1/p" .clang-tidy)
	[ -n "$filter" ]
	run bash -c 'make -s list-files | grep -vE "$0"' "$filter"
	[ "$output" = "" ]
}

@test "lint: a generated page that is changed, missing or left over is found, and written anew" {
	export SLIPWAY
	scratch docs tests/golden tests/unit tests/e2e tests/k8s slipway.yaml
	tests/lint/generated
	pages=(docs/SPEC.md docs/slipway.schema.json docs/man/slipway.1 docs/man/slipway-logs.1 docs/completion/slipway.bash
		docs/completion/slipway.fish docs/fleet/explain.txt docs/fleet/fleet.svg docs/errors/spec.md)
	sed -i '2i one line more' "${pages[@]}"
	run tests/lint/generated
	[ "$status" -eq 1 ]
	for page in "${pages[@]}"; do [[ $output == *"$page: not what is made today"* ]]; done
	rm "${pages[@]}"
	run tests/lint/generated
	[ "$status" -eq 1 ]
	for page in "${pages[@]}"; do [[ $output == *"$page: missing"* ]]; done
	# Of a command that is gone, of a shell that is not known.
	touch docs/man/slipway-launch.1 docs/completion/slipway.tcsh
	reports generated "docs/man/slipway-launch.1: nothing makes this page" "docs/completion/slipway.tcsh: nothing makes this page"
	tests/lint/generated --write
	tests/lint/generated
	diff -r docs "$ROOT/docs"
}

@test "lint: a command without a man page is found" {
	scratch docs tests/golden tests/unit tests/e2e tests/k8s slipway.yaml
	cat >slipway <<-EOS
		#!/usr/bin/env bash
		if [ "\$*" = help ]; then "$SLIPWAY" help | sed 's/^  diff .*/&\n  launch       Launch/'
		else exec "$SLIPWAY" "\${@/launch/push}"; fi
	EOS
	chmod +x slipway
	export SLIPWAY=$PWD/slipway
	reports generated "docs/man/slipway-launch.1: missing"
}

@test "lint: a golden file that no test compares is found" {
	export SLIPWAY
	scratch docs tests/golden tests/unit tests/e2e tests/k8s slipway.yaml
	planted=(spec/planted.expect fleet/planted.out fleet-errors/planted.yaml ecr/planted deploy/planted.calls deploy/planted.json)
	touch "${planted[@]/#/tests/golden/}"
	sed -i '/golden missing-repository$/d' tests/e2e/ecr.bats
	# A line that only renews a file compares nothing.
	sed -i '/^	diff .*e2e.digests/d' tests/e2e/build.bats
	run tests/lint/generated
	echo "$output"
	[ "$status" -eq 1 ]
	for name in "${planted[@]}" ecr/missing-repository e2e/digests; do
		[[ $output == *"tests/golden/$name: no test compares it"* ]]
	done
	[ "$(grep -c 'no test compares it' <<<"$output")" -eq 8 ]
}

@test "lint: every path in the documents leads to something, and every room has its row" {
	cd "$ROOT"
	tests/lint/docs-paths
}

@test "lint: a path, a target and a room that documents do not tell truly are found" {
	scratch README.md CONTRIBUTING.md docs tests base builder k8s karpenter pipeline trainer
	tests/lint/docs-paths
	size=$(wc -l <base/err.c)
	echo 'The tables are in k8s/job/jobz.c and `k8s/{job,jab}/*.h`.' >>docs/ARCHITECTURE.md
	echo 'Read docs/adr, base/err.h, test_MODULE.c, `k8s/*/*_fields.c` and then none.c.' >>CONTRIBUTING.md
	echo '`make everything` does it.' >>README.md
	echo '/* See base/er.h. */' >>base/err.c
	mkdir -p k8s/job/planted && echo 'int planted;' >k8s/job/planted/planted.c
	rm -r karpenter/pools
	reports docs-paths "there is no k8s/jab/*.h" "there is no k8s/job/jobz.c" "there is no none.c" \
		"the Makefile has no target everything" "base/err.c:$((size + 1)): there is no base/er.h" \
		"the room k8s/job/planted has no row" "a row for karpenter/pools, which is no folder"
	[ "$(grep -c '^CONTRIBUTING.md.*there is no' <<<"$output")" -eq 1 ]
}

@test "lint: what CONTRIBUTING says is to be touched is what names the example" {
	cd "$ROOT"
	tests/lint/touch
}

@test "lint: a file more that names an example is found, and a row that lies" {
	scratch CONTRIBUTING.md base builder k8s karpenter pipeline trainer .ci
	printf '/* g6e.16xlarge */\n' >base/planted.c
	run tests/lint/touch
	[[ $output != *planted* ]]
	printf 'const char *planted = "/* g6e.16xlarge";\n' >base/planted.c
	reports touch "an instance: base/planted.c names g6e.16xlarge, and CONTRIBUTING.md does not say so" \
		"an instance: 2 files to touch, at most 1"
	sed -i '/^| an instance/s,karpenter/catalogue/catalogue.c,base/planted.c` `base/err.c,' CONTRIBUTING.md
	reports touch "an instance: karpenter/catalogue/catalogue.c names" \
		"an instance: CONTRIBUTING.md says base/err.c, which does not name"
	sed -i '/^| a command/d' CONTRIBUTING.md
	reports touch "no row for a command"
}

@test "lint: the arrows between the rooms hold, and no tag is defined twice" {
	cd "$ROOT"
	tests/lint/layers
	tests/lint/link "${BUILD:-build}"
	tests/lint/names
}

@test "lint: an include upward, into no arrow, or of a room without one is found" {
	scratch base builder k8s karpenter pipeline trainer
	tests/lint/layers
	deepest=$(deepest)
	echo '#include "builder/cli/command.h"' >"$deepest/planted.c"
	echo '#include "builder/oci/ref.h"' >k8s/job/planted.c
	mkdir k8s/planted && cp k8s/job/planted.c k8s/planted/
	sed -i 's/^k8s\/view: base/& builder\/oci/' tests/lint/rooms
	reports layers "$deepest/planted.c:1: $deepest may not include builder/cli/command.h" \
		"k8s/job/planted.c:1: k8s/job may not include builder/oci/ref.h" "k8s/planted is not in tests/lint/rooms" \
		"k8s/view does not include anything of builder/oci"
	sed -i 's/^base:/base: k8s\/view/' tests/lint/rooms
	reports layers "a circle: "
}

@test "lint: what prints or exits below the command line is found" {
	scratch base builder k8s karpenter pipeline trainer
	printf 'void planted(void)\n{\n\tprintf("x");\n}\n' | tee k8s/view/planted.c >builder/cli/planted.c
	reports layers "k8s/view/planted.c:3: only builder/cli"
	[[ $output != *builder/cli/planted.c* ]]
}

@test "lint: a call upward does not link, whatever is included" {
	scratch base builder k8s karpenter pipeline trainer
	mkdir build && cp -r "$ROOT/${BUILD:-build}/lib" build/
	tests/lint/link build karpenter/catalogue
	# Nothing is included: the linker alone can see it.
	echo 'void fleet_resolve(void); void planted(void); void planted(void) { fleet_resolve(); }' |
		cc -fPIE -x c -c - -o planted.o
	ar rcsD build/lib/karpenter-catalogue.a planted.o
	run tests/lint/link build karpenter/catalogue
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"karpenter/catalogue: "*"undefined reference to \`fleet_resolve'"* ]]
	# The same for a library that the room does not name.
	tests/lint/link build k8s/fleet
	echo 'void ZSTD_compress(void); void planted(void); void planted(void) { ZSTD_compress(); }' | cc -fPIE -x c -c - -o planted.o
	ar rcsD build/lib/k8s-fleet.a planted.o
	run tests/lint/link build k8s/fleet
	[ "$status" -eq 1 ]
	[[ $output == *"k8s/fleet: "*"undefined reference to \`ZSTD_compress'"* ]]
}

@test "lint: a tag that is defined twice is found, in a function too" {
	scratch base builder k8s karpenter pipeline trainer
	tests/lint/names
	printf 'void planted(void)\n{\n\tstruct arena {\n\t\tint x;\n\t};\n}\n' >trainer/ops/planted.c
	reports names "trainer/ops/planted.c:3: struct arena"
	[[ $output == *"base/arena.h:"*": struct arena"* ]]
}

@test "lint: an enumerator without its row, and a row without a member, do not compile" {
	cd "$ROOT"
	tests/lint/tables
}

@test "lint: a table that could be forgotten is found" {
	scratch base builder k8s karpenter pipeline trainer
	tests/lint/tables schedulers rules
	sed -i '/^_Static_assert(ARRAY_LEN(schedulers)/d' k8s/job/scheduler.c
	sed -i '/^_Static_assert(ARRAY_LEN(rules)/d' builder/check/rules.c
	reports tables "schedulers: an enumerator more before SCHEDULERS in k8s/job/scheduler.h, and k8s/job/scheduler.c compiles"
	[[ $output == *"rules: an enumerator more before RULES"* ]]
}

@test "lint: golden files are those that their generators wrote, and an edit by hand is found" {
	cd "$ROOT"
	tests/golden/record --check tests/golden/perceiver tests/golden/schemas tests/golden/sigv4
	# Every folder with a generator is among them.
	[ "$(echo tests/golden/*/make.py)" = "tests/golden/perceiver/make.py tests/golden/schemas/make.py tests/golden/sigv4/make.py" ]
	cp -r tests/golden/schemas "$WORK/schemas"
	tests/golden/record --check "$WORK/schemas"
	sed -i 's/"maxLength":253/"maxLength":254/' "$WORK/schemas/facts.json"
	touch "$WORK/schemas/new"
	run tests/golden/record --check "$WORK/schemas"
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"-"*"  ./facts.json"* ]]
	[[ $output == *"+"*"  ./new"* ]]
}

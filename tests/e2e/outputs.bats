#!/usr/bin/env bats
# What slipway writes goes where it was told, whoever made the folders and the texts: a terminal is not driven, a link
# is not followed, a closed descriptor is nobody's file, and a failed call is no other result.

load lib
setup() {
	common_setup
	make_tree tree
	make_spec slipway.yaml 'platforms: [linux/amd64]'
}
teardown() { common_teardown; }

# A character that drives a terminal: escape, CSI as one character, a carriage return, a line turned around.
controls() { grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]' <<<"$1"; }

# hostile_image: an image whose names and annotations hold such characters, in ./image.
hostile_image() {
	cat >>slipway.yaml <<-'EOF'
		  annotations: {org.example.note: "a\e[31mb\x9B2Jc\u202Ed"}
		  labels: {org.example.label: "a\e]0;title\x07b"}
	EOF
	touch tree/$'file\e[2J' tree/$'other\xc2\x9b31m' tree/$'\xe2\x80\xaeturned'
	"$SLIPWAY" build --progress none -o image >/dev/null
}

@test "outputs: no name or annotation of an image drives the terminal" {
	hostile_image
	mv tree old && make_tree tree
	make_spec plain.yaml 'platforms: [linux/amd64]'
	"$SLIPWAY" build --progress none -f plain.yaml -o plain >/dev/null
	for command in "diff oci:plain oci:image" "diff --output json oci:plain oci:image" "inspect oci:image" \
		"inspect --output json oci:image" "verify --progress none oci:image" "inspect oci:$(printf 'no\302\233ne')"; do
		# shellcheck disable=SC2086 # a command line
		run "$SLIPWAY" $command
		echo "$command: $output"
		[ -n "$output" ]
		run ! controls "$output"
	done
	[[ $("$SLIPWAY" diff oci:plain oci:image) == *"file?[2J"* ]]
}

@test "outputs: a JSON reader gets the very characters" {
	hostile_image
	got=$("$SLIPWAY" inspect --output json oci:image | json 'd["annotations"]["org.example.note"]')
	[ "$got" = "$(printf 'a\033[31mb\302\2332Jc\342\200\256d')" ]
}

@test "outputs: the exact bytes of a document are exact in a pipe" {
	hostile_image
	"$SLIPWAY" inspect --raw oci:image >raw
	[ "sha256:$(sha256sum raw | cut -d ' ' -f 1)" = "$(root_of oci:image)" ]
}

@test "outputs: render writes and deletes through no link of a checkout" {
	mkdir victim && echo precious >victim/namespace.yaml
	ln -s victim manifests
	run "$SLIPWAY" render -f "$ROOT/slipway.yaml" -o manifests
	[ "$status" -eq 1 ]
	[[ $output == *"symbolic link 'manifests'"*"hint:"* ]]
	rm manifests && mkdir manifests
	for folder in 05-namespace 10-karpenter; do
		ln -sfn ../victim "manifests/$folder"
		run "$SLIPWAY" render -f "$ROOT/slipway.yaml" -o manifests
		[ "$status" -eq 1 ]
		[[ $output == *"symbolic link '$folder'"* ]]
		rm "manifests/$folder"
	done
	# A list of what may be removed that names the link's folder.
	ln -s ../victim manifests/gone
	printf 'gone/namespace.yaml\n' >manifests/.slipway-files
	run "$SLIPWAY" render -f "$ROOT/slipway.yaml" -o manifests
	[ "$status" -eq 1 ]
	[ "$(cat victim/*)" = precious ]
}

@test "outputs: build writes blobs and collects garbage through no link of a checkout" {
	mkdir -p victim image/blobs
	garbage=victim/$(printf '0%.0s' {1..64})
	echo precious >"$garbage"
	ln -s "$PWD/victim" image/blobs/sha256
	run "$SLIPWAY" build --progress none -o image
	[ "$status" -ne 0 ]
	[[ $output == *"symbolic link 'sha256'"* ]]
	rm -r image && ln -s victim image
	run "$SLIPWAY" build --progress none -o image
	[ "$status" -ne 0 ]
	[ "$(ls victim)" = "${garbage#victim/}" ]
}

@test "outputs: with standard descriptors closed, no message lands in a file" {
	expected=$("$SLIPWAY" build --progress none -o one | digest_line)
	"$SLIPWAY" build --progress plain -o two <&- >&- 2>&-
	[ "$(root_of oci:two)" = "$expected" ]
	"$SLIPWAY" verify --progress none oci:two >/dev/null
	run ! "$SLIPWAY" build --progress plain -f none.yaml -o two <&- 2>&-
	"$SLIPWAY" verify --progress none oci:two >/dev/null
}

# sweep CALL STRIDE [--fresh DIR] -- COMMAND...: tests/fault/sweep with every call, or a fixed part of them here.
sweep() {
	local call=$1 stride=$2
	shift 2
	[[ -z ${SLIPWAY_TEST_LONG:-} ]] || stride=1
	[ -e failcall.so ] || cc -shared -fPIC -O1 -o failcall.so "$ROOT/tests/fault/failcall.c" -ldl
	"$ROOT/tests/fault/sweep" "$PWD/failcall.so" "$call" "$stride" "$@"
}

@test "outputs: memory that runs out in a build gives the same image or an error" {
	sweep memory 97 --fresh image -- "$SLIPWAY" build --progress none --no-cache -o image
}

@test "outputs: memory that runs out in verify, inspect and diff gives the same answer or an error" {
	"$SLIPWAY" build --progress none -o image >/dev/null
	echo more >>tree/share/a.txt
	"$SLIPWAY" build --progress none -o other >/dev/null
	sweep memory 197 -- "$SLIPWAY" verify --progress none oci:image
	sweep memory 197 -- "$SLIPWAY" inspect --output json oci:image
	sweep memory 197 -- "$SLIPWAY" diff oci:image oci:other
}

@test "outputs: memory that runs out in render gives the same manifests or an error" {
	sweep memory 997 -- "$SLIPWAY" render -f "$ROOT/slipway.yaml"
}

@test "outputs: a system call that fails in verify, render and diff gives the same answer or an error" {
	"$SLIPWAY" build --progress none -o image >/dev/null
	echo more >>tree/share/a.txt
	"$SLIPWAY" build --progress none -o other >/dev/null
	sweep read 1 -- "$SLIPWAY" verify --progress none oci:image
	sweep read 1 -- "$SLIPWAY" diff oci:image oci:other
	for call in write openat mkdirat renameat fsync; do
		sweep "$call" 3 --fresh out -- "$SLIPWAY" render -f "$ROOT/slipway.yaml" -o out
	done
}

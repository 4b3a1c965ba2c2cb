#!/usr/bin/env bats
# Building in parts: every platform on a machine of its own, joined by `slipway index create`.

load lib

setup() {
	common_setup
	make_tree tree
	for arch in amd64 arm64; do
		mkdir -p "bin/$arch"
		printf 'only for %s\n' "$arch" >"bin/$arch/note"
		printf 'the same\n' >"bin/$arch/common"
	done
}
teardown() { common_teardown; }

# spec SHARE: a layer that is equal everywhere, and one that is not.
spec() {
	make_spec slipway.yaml "repository: $REG/team/app" 'annotations: {note: "for ${arch}"}'
	# shellcheck disable=SC2016 # slipway expands it
	printf '    - name: program\n      share: %s\n      files:\n        - {from: "bin/${arch}/", to: /opt/bin/}\n' "$1" \
		>>slipway.yaml
}

part() {
	"$SLIPWAY" build --progress none --insecure --no-check -o "part-$1" --platform "linux/$1" \
		--push-by-digest --result-file "$1.json" "${@:2}"
}

join() { "$SLIPWAY" index create --progress none --insecure "$@"; }

@test "index: two builders' parts make, byte for byte, the index of one machine" {
	start_registry
	spec false
	whole=$("$SLIPWAY" build --progress none --no-check -o whole | digest_line)
	part amd64
	rm -rf bin/arm64.away && mv bin/arm64 bin/arm64.away
	part amd64 # the other platform's files need not be there
	mv bin/arm64.away bin/arm64 && mv bin/amd64 bin/amd64.away
	part arm64 -j 1
	mv bin/amd64.away bin/amd64
	[ "$(join "$REG/team/app:v1" --digest-file digest arm64.json amd64.json | digest_line)" = "$whole" ]
	[ "$(cat digest)" = "$whole" ]
	curl -sSf -H 'Accept: application/vnd.oci.image.index.v1+json' "http://$REG/v2/team/app/manifests/v1" >joined
	cmp joined "whole/blobs/sha256/${whole#sha256:}"
	"$SLIPWAY" verify --insecure --progress none "$REG/team/app:v1"
}

@test "index: with a key the joined image is signed before a tag names it, and without that key it gets none" {
	start_registry
	spec false
	part amd64
	part arm64
	openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out k.pem 2>/dev/null
	openssl pkey -in k.pem -pubout -out k.pub
	run join "$REG/team/app:v1" --key absent.pem amd64.json arm64.json
	[[ $status != 0 && $output == *absent.pem* ]]
	run join "$REG/team/app:v1" --format tag amd64.json arm64.json
	[[ $status == 2 && $output == *'are for --key'* ]]
	run curl -s "http://$REG/v2/team/app/tags/list"
	[[ $output != *v1* ]]
	join "$REG/team/app:v1" --key k.pem --format bundle --format tag -a stage=release amd64.json arm64.json
	"$SLIPWAY" verify --progress none --key k.pub --recursive -a stage=release "$REG/team/app:v1" >verified
	[[ $(grep -c '^covers linux/' verified) == 2 ]]
	# The tag of the image comes after the last signature.
	[[ $(grep -oE 'PUT /v2/team/app/manifests/[^ ]*' "$REGLOG" | tail -n 1) == *manifests/v1 ]]
}

@test "index: nothing carries a tag before all parts are joined" {
	start_registry
	spec false
	part amd64
	part arm64
	run curl -s "http://$REG/v2/team/app/tags/list"
	[[ $output != *v1* ]]
	join "$REG/team/app" -t v1 -t latest amd64.json arm64.json
	run curl -s "http://$REG/v2/team/app/tags/list"
	[[ $output == *latest* && $output == *v1* ]]
}

@test "index: the result file says what was pushed where" {
	start_registry
	spec false
	part arm64
	[ "$(json 'd["schema"], d["repository"] == "'"$REG"'/team/app", d["index"]["platforms"]' <arm64.json)" = \
		"('slipway.dev/part/v1', True, ['linux/amd64', 'linux/arm64'])" ]
	[ "$(json 'd["manifests"][0]["platform"]["architecture"], d["index"]["annotations"]["note"]' <arm64.json)" = \
		"('arm64', 'for amd64')" ]
	curl -sSf -o /dev/null "http://$REG/v2/team/app/manifests/$(json 'd["manifests"][0]["digest"]' <arm64.json)" \
		-H 'Accept: application/vnd.oci.image.manifest.v1+json'
}

@test "index: a missing part, a part twice and a part of another image are refused" {
	start_registry
	spec false
	part amd64
	part arm64
	run join "$REG/team/app:v1" amd64.json
	[ "$status" -eq 1 ]
	[[ $output == *"no result file has linux/arm64"* ]]
	run join "$REG/team/app:v1" amd64.json arm64.json amd64.json
	[ "$status" -eq 1 ]
	[[ $output == *"linux/amd64 is in 'amd64.json' and again in 'amd64.json'"* ]]
	run join "$REG/other/app:v1" amd64.json arm64.json
	[ "$status" -eq 1 ]
	[[ $output == *"was pushed to $REG/team/app, not to $REG/other/app"* ]]
	SOURCE_DATE_EPOCH=1700000000 part arm64
	run join "$REG/team/app:v1" amd64.json arm64.json
	[ "$status" -eq 1 ]
	[[ $output == *"different annotations"*"SOURCE_DATE_EPOCH"* ]]
	run curl -s "http://$REG/v2/team/app/tags/list"
	[[ $output != *v1* ]]
}

@test "index: a manifest that is not in the repository, or is of another platform, is refused" {
	start_registry
	spec false
	part amd64
	part arm64
	sed 's/"digest": "sha256:..../"digest": "sha256:0000/' amd64.json >absent.json
	run join "$REG/team/app:v1" absent.json arm64.json
	[ "$status" -ne 0 ]
	[[ $output == *"linux/amd64 sha256:0000"* ]]
	sed 's/"architecture": "amd64"/"architecture": "arm64"/' amd64.json >swapped.json
	sed 's/"architecture": "arm64"/"architecture": "amd64"/' arm64.json >swopped.json
	run join "$REG/team/app:v1" swapped.json swopped.json
	[ "$status" -eq 1 ]
	[[ $output == *"its configuration says linux/"* ]]
	run curl -s "http://$REG/v2/team/app/tags/list"
	[[ $output != *v1* ]]
}

@test "index: a file that is no part is refused" {
	start_registry
	for text in '' '[]' '{"schema":"slipway.dev/part/v1"}' 'sha256:0' \
		'{"schema":"slipway.dev/part/v1","repository":"x/y:tag","manifests":[],"index":{}}' \
		'{"schema":"slipway.dev/part/v1","repository":"localhost:1/y","manifests":[{}],"index":{"platforms":[]}}'; do
		printf '%s' "$text" >bad.json
		run join "$REG/team/app:v1" bad.json
		[ "$status" -eq 1 ]
		[[ $output == *"bad.json"* ]]
	done
	run join "$REG/team/app:v1" not-there.json
	[ "$status" -eq 1 ]
	[[ $output == *"not-there.json"* ]]
}

@test "index: a layer that is shared between platforms cannot be built in parts" {
	start_registry
	spec true
	run part amd64
	[ "$status" -eq 3 ]
	[[ $output == *"layer 'program' shares files between platforms"*"share: false"* ]]
	[ ! -e amd64.json ]
	# All on one machine is no part.
	"$SLIPWAY" build --progress none --insecure --no-check -o all --push-by-digest --result-file all.json
	join "$REG/team/app:v1" all.json | digest_line
}

@test "index: options that contradict each other exit 2" {
	REG=localhost:1
	spec false
	run part amd64 --push
	[ "$status" -eq 2 ]
	run "$SLIPWAY" build --result-file x.json
	[ "$status" -eq 2 ]
	run "$SLIPWAY" index delete localhost:1/x:y amd64.json
	[ "$status" -eq 2 ]
	run "$SLIPWAY" push --by-digest --tag v2
	[ "$status" -eq 2 ]
}

@test "push: --by-digest sets no tag" {
	start_registry
	spec false
	digest=$("$SLIPWAY" build --progress none --no-check -o build/image | digest_line)
	[ "$("$SLIPWAY" push --progress none --insecure --by-digest | digest_line)" = "$digest" ]
	run curl -s "http://$REG/v2/team/app/tags/list"
	[[ $output != *v1* ]]
	"$SLIPWAY" verify --insecure --progress none "$REG/team/app@$digest"
}

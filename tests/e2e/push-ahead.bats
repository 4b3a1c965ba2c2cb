#!/usr/bin/env bats
# build --push: layers go while others are packed, what names them afterwards.

load lib

setup() {
	common_setup
	make_tree tree
	start_registry
}
teardown() { common_teardown; }

build() { "$SLIPWAY" build --progress none --insecure "$@"; }

@test "push ahead: an image that the check refuses has sent layers, and has neither manifest nor tag" {
	make_spec slipway.yaml "repository: $REG/team/app" 'entrypoint: [/opt/sample/bin/nothing]'
	run build --push
	[[ $status != 0 && $output == *'/opt/sample/bin/nothing'* ]]
	[ "$(grep -c '"PUT /v2/team/app/blobs/uploads' "$REGLOG")" = 1 ] # the layer, and no configuration
	run ! grep -q 'PUT /v2/team/app/manifests' "$REGLOG"
	run ! curl -fsS "http://$REG/v2/team/app/manifests/v1"
	make_spec slipway.yaml "repository: $REG/team/app" 'entrypoint: [/opt/sample/bin/run]'
	digest=$(build --push --no-check | digest_line)
	[[ $(curl -fsS -H 'Accept: application/vnd.oci.image.index.v1+json' "http://$REG/v2/team/app/manifests/v1" | sha256sum) == "${digest#sha256:}"* ]]
}

@test "push ahead: what it sent is counted once, as uploaded" {
	make_spec slipway.yaml "repository: $REG/team/app"
	build --push --no-check --output json >built.json
	"$SLIPWAY" push --progress none --insecure --output json build/image "$REG/team/again:v1" >pushed.json
	for key in blobs_uploaded blobs_existed bytes_uploaded; do
		[[ $(json "d['push']['$key']" <built.json) == "$(json "d['$key']" <pushed.json)" ]]
	done
}

@test "push ahead: the configuration follows the layers, and the push finds it there" {
	make_spec slipway.yaml "repository: $REG/team/app"
	build --push --no-check
	document=build/image/index.json
	for _ in index manifest; do
		document=build/image/blobs/sha256/$(json 'd["manifests"][0]["digest"][7:]' <"$document")
	done
	config=$(json 'd["config"]["digest"]' <"$document")
	[ "$(grep -c "\"HEAD /v2/team/app/blobs/$config" "$REGLOG")" = 2 ]
	[ "$(grep -c "\"PUT /v2/team/app/blobs/uploads.*${config#sha256:}" "$REGLOG")" = 1 ]
}

@test "push ahead: a registry that is away is reported by the push, after the build" {
	make_spec slipway.yaml 'repository: 127.0.0.1:1/team/app'
	run build --push --no-check --retries 0
	[[ $status != 0 && $output == *"push to '127.0.0.1:1/team/app'"* ]]
	[[ -f build/image/index.json ]]
}

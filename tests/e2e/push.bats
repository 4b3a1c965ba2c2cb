#!/usr/bin/env bats
# Pushing to and pulling from real registries and our own faultless one.

load lib
setup() {
	common_setup
	make_tree tree
	make_spec slipway.yaml
}
teardown() { common_teardown; }

build() { "$SLIPWAY" build --progress none "$@"; }
push() { "$SLIPWAY" push --progress none "$@"; }

# shellcheck disable=SC2094 # the program and the file only share a name
make_htpasswd() { htpasswd -Bbn user secret >htpasswd; }

@test "push: docker-registry with TLS and htpasswd takes it, and nothing twice" {
	need docker-registry
	need htpasswd
	make_certificate
	make_htpasswd
	start_registry "  tls: {certificate: $WORK/cert.pem, key: $WORK/key.pem}" \
		"auth: {htpasswd: {realm: test, path: $WORK/htpasswd}}"
	digest=$(build -o image | digest_line)
	[ "$(printf secret | push --ca ca.pem -u user --password-stdin image "$REG/team/app:v1" | digest_line)" = "$digest" ]
	before=$(grep -c 'http.request.method=PUT.*blobs/uploads' "$REGLOG")
	[ "$before" -gt 0 ]
	run bash -c 'printf secret | "$0" push --progress none --ca ca.pem -u user --password-stdin image "$1/team/app:v1"' "$SLIPWAY" "$REG"
	[ "$status" -eq 0 ]
	[[ $output == *"0 blobs uploaded"* ]]
	[ "$(grep -c 'http.request.method=PUT.*blobs/uploads' "$REGLOG")" -eq "$before" ]
	printf secret | "$SLIPWAY" verify --progress none --ca ca.pem -u user --password-stdin "$REG/team/app:v1"
}

@test "push: wrong credentials exit 4 and show no secret" {
	need docker-registry
	need htpasswd
	make_certificate
	make_htpasswd
	start_registry "  tls: {certificate: $WORK/cert.pem, key: $WORK/key.pem}" \
		"auth: {htpasswd: {realm: test, path: $WORK/htpasswd}}"
	build -o image >/dev/null
	run bash -c 'printf planted-secret | "$0" push --ca ca.pem -u user --password-stdin image "$1/app:v1"' "$SLIPWAY" "$REG"
	[ "$status" -eq 4 ]
	[[ $output != *planted-secret* ]]
	[[ $output == *"hint:"* ]]
	run push --ca ca.pem image "$REG/app:v1"
	[ "$status" -eq 4 ]
}

@test "push: an untrusted certificate is refused, with the way out" {
	need docker-registry
	make_certificate
	start_registry "  tls: {certificate: $WORK/cert.pem, key: $WORK/key.pem}"
	build -o image >/dev/null
	run push image "$REG/app:v1"
	[ "$status" -ne 0 ]
	[[ $output == *"--ca FILE"* ]]
}

@test "push: a token server is asked for the push scope first, with docker's credentials" {
	start_faultreg --auth bearer --user bob:pass
	mkdir docker
	printf '{"auths":{"%s":{"auth":"%s"}}}' "$REG" "$(printf bob:pass | base64)" >docker/config.json
	build -o image >/dev/null
	push --insecure image "$REG/team/app:v1" | digest_line
	grep '"path": "/token' "$REGLOG" | head -n 1 | grep -q 'scope=repository%3Ateam%2Fapp%3Apull%2Cpush'
	[ "$(uploads)" -gt 0 ]
	before=$(uploads)
	push --insecure image "$REG/team/app:v1" | digest_line
	[ "$(uploads)" -eq "$before" ]
}

@test "push: tokens that run out in the middle are renewed" {
	start_faultreg --auth bearer --user bob:pass --token-life 1
	mkdir docker
	printf '{"auths":{"%s":{"auth":"%s"}}}' "$REG" "$(printf bob:pass | base64)" >docker/config.json
	head -c 3000000 /dev/urandom >tree/share/deep/big
	build -o image >/dev/null
	push --insecure --jobs 1 image "$REG/team/app:v1" | digest_line
}

@test "push: a credential helper is asked, and its secret goes nowhere else" {
	start_faultreg --auth basic --user helper:from-helper
	mkdir docker bin
	printf '{"credHelpers":{"%s":"test"}}' "$REG" >docker/config.json
	# shellcheck disable=SC2016 # the helper expands these
	printf '#!/bin/sh\nread -r host\necho "$host $1" >>%s/asked\nprintf %s\n' "$WORK" \
		"'{\"ServerURL\":\"x\",\"Username\":\"helper\",\"Secret\":\"from-helper\"}'" >bin/docker-credential-test
	chmod +x bin/docker-credential-test
	build -o image >/dev/null
	PATH=$PWD/bin:$PATH run push --insecure image "$REG/app:v1"
	[ "$status" -eq 0 ]
	[[ $output != *from-helper* ]]
	grep -qx "$REG get" asked
}

@test "push: killed midway and run again, it sends only what is missing" {
	head -c 4000000 /dev/urandom >tree/share/deep/big
	printf '    - name: two\n      files:\n        - {from: slipway.yaml, to: /etc/two}\n' >>slipway.yaml
	build -o image >/dev/null
	# The second upload stalls, so that the kill always falls into the middle.
	FAULTS='[{"method":"PUT","path":"uploads","skip":1,"do":{"delay":4}}]' start_faultreg
	# The program itself, not a shell function: killing that would leave the program running.
	"$SLIPWAY" push --progress none --insecure --jobs 1 image "$REG/app:v1" >/dev/null 2>&1 &
	pid=$!
	for ((i = 0; i < 400; i++)); do
		(($(uploads) >= 2)) && break
		sleep 0.02
	done
	kill -9 $pid
	wait $pid 2>/dev/null || true
	[ "$(uploads)" -eq 2 ]
	[ "$(grep -c '"method": "PUT", "path": "/v2/app/manifests' "$REGLOG")" -eq 0 ] # nothing was visible yet
	push --insecure --jobs 1 image "$REG/app:v1" | digest_line
	"$SLIPWAY" verify --insecure --progress none "$REG/app:v1"
	# Every blob was taken once; only the one in flight when the push died may have been sent again.
	grep '"method": "PUT", "path": "/v2/app/blobs' "$REGLOG" | grep -o 'digest=[^"]*' | sort | uniq -d >twice
	[ "$(wc -l <twice)" -le 1 ]
}

@test "push: an identity token is traded for access tokens, in the body only" {
	start_faultreg --auth bearer --refresh-token planted-refresh
	mkdir docker
	printf '{"auths":{"%s":{"auth":"%s","identitytoken":"planted-refresh"}}}' "$REG" \
		"$(printf '00000000-0000-0000-0000-000000000000:' | base64)" >docker/config.json
	build -o image >/dev/null
	run push --insecure image "$REG/team/app:v1"
	[ "$status" -eq 0 ]
	grep -q '"method": "POST", "path": "/token' "$REGLOG"
	[[ $output != *planted-refresh* ]]
	run grep planted-refresh "$REGLOG"
	[ "$status" -eq 1 ]
}

@test "push: without arguments build/image goes to the spec's repository under its tags" {
	start_faultreg
	make_spec slipway.yaml "repository: $REG/team/app"
	sed -i 's/tags: .*/tags: [v1, stable]/' slipway.yaml
	digest=$(build | digest_line)
	[ "$(push --insecure --digest-file pushed | digest_line)" = "$digest" ]
	grep -q "$digest" pushed
	for tag in v1 stable; do [ "$(root_of --insecure "$REG/team/app:$tag")" = "$digest" ]; done
	[ "$(build --push --insecure | digest_line)" = "$digest" ]
}

@test "push: --output json counts what was sent" {
	start_faultreg
	build -o image >/dev/null
	push --insecure --output json image "$REG/app:v1" >first.json
	push --insecure --output json image "$REG/app:v1" >second.json
	[ "$(json 'd["blobs_uploaded"]' <first.json)" -gt 0 ]
	[ "$(json 'd["blobs_uploaded"], d["bytes_uploaded"]' <second.json)" = "(0, 0)" ]
	[ "$(uploads)" = "$(json 'd["blobs_uploaded"]' <first.json)" ]
}

@test "push: children come before the index, tags come last" {
	start_faultreg
	build -o image >/dev/null
	push --insecure image "$REG/app:v1" >/dev/null
	grep -o '"method": "PUT", "path": "[^"]*' "$REGLOG" | sed 's/.*"//; s/?.*//; s#uploads/.*#uploads#' >order
	[ "$(tail -n 1 order)" = /v2/app/manifests/v1 ]
	[ "$(grep -n blobs order | tail -n 1 | cut -d: -f1)" -lt "$(grep -n manifests order | head -n 1 | cut -d: -f1)" ]
	[ "$(grep -c 'manifests/sha256' order)" -eq 3 ]
}

@test "push: layers of a base on the same registry are mounted, not sent" {
	start_faultreg
	build -o base >/dev/null
	push --insecure base "$REG/base:v1" >/dev/null
	make_spec app.yaml "base: $REG/base:v1"
	sed -i 's#/opt/sample#/opt/app#' app.yaml
	: >"$REGLOG"
	"$SLIPWAY" build --progress none --insecure -f app.yaml -o app >/dev/null
	run push --insecure app "$REG/app:v1"
	[ "$status" -eq 0 ]
	[[ $output == *"1 mounted"* ]]
	grep -q 'uploads/?mount=sha256' "$REGLOG"
}

@test "push: a sparse build never downloads the base's layers" {
	start_faultreg
	build -o base >/dev/null
	push --insecure base "$REG/base:v1" >/dev/null
	make_spec app.yaml "base: $REG/base:v1"
	sed -i 's#/opt/sample#/opt/app#' app.yaml
	: >"$REGLOG"
	"$SLIPWAY" build --progress none --insecure --no-cache --sparse -f app.yaml -o app >/dev/null
	push --insecure app "$REG/app:v1" | digest_line
	layer=$("$SLIPWAY" inspect --output json oci:base | python3 -c 'import json,sys; print(json.load(sys.stdin)["images"][0]["layers"][0]["digest"])')
	run grep -c "\"method\": \"GET\".*blobs/$layer" "$REGLOG"
	[ "$output" = 0 ]
	"$SLIPWAY" verify --progress none --insecure "$REG/app:v1"
}

@test "push: a tag that moved does not move a locked build" {
	start_faultreg
	build -o base >/dev/null
	push --insecure base "$REG/base:v1" >/dev/null
	make_spec app.yaml "base: $REG/base:v1"
	sed -i 's#/opt/sample#/opt/app#' app.yaml
	first=$("$SLIPWAY" build --progress none --insecure -f app.yaml -o app | digest_line)
	cp -a tree original
	echo changed >>tree/share/a.txt
	build -o base >/dev/null
	push --insecure base "$REG/base:v1" >/dev/null
	rm -r tree && mv original tree
	[ "$("$SLIPWAY" build --progress none --insecure --locked -f app.yaml -o app | digest_line)" = "$first" ]
	[ "$("$SLIPWAY" build --progress none --insecure -f app.yaml -o app | digest_line)" != "$first" ]
}

@test "push: a password typed in goes to the named registry only, not to the base's" {
	start_faultreg
	base=$REG
	build -o base >/dev/null
	push --insecure base "$REG/base:v1" >/dev/null
	make_spec app.yaml "base: $base/base:v1" "repository: localhost:1/app"
	sed -i 's#/opt/sample#/opt/app#' app.yaml
	kill "${PIDS[-1]}"
	FAULTS='[{"path":"/v2/base","times":99,"do":{"status":401,"headers":{"WWW-Authenticate":"Basic realm=x"}}}]' start_faultreg
	sed -i "s#$base#$REG#" app.yaml
	run bash -c 'printf planted | "$0" build --progress none --insecure -f app.yaml -o app -u user --password-stdin' "$SLIPWAY"
	[ "$status" -eq 4 ]
	run ! grep -q '"auth": "Basic"' "$REGLOG"
}

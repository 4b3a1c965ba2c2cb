#!/usr/bin/env bats
# The files that docs/CI.md has for services whose documents slipway does not render.

load lib

setup() {
	common_setup
	need htpasswd
	printf 'robot:%s\n' "$(htpasswd -nbB robot planted-token | cut -d: -f2)" >htpasswd
	start_registry "auth: {htpasswd: {realm: test, path: $WORK/htpasswd}}"
	mkdir -p tree bin login top/bin
	cat >tree/slipway.yaml <<-EOS
		apiVersion: slipway/v1
		name: app
		image:
		  platforms: [linux/amd64, linux/arm64]
		  layers: [{name: text, share: false, files: [{from: slipway.yaml, to: /opt/spec}]}]
	EOS
	AUTH=$(printf 'robot:planted-token' | base64 -w 0)
	printf '{"auths": {"%s": {"auth": "%s"}}}' "$REG" "$AUTH" >login/config.json
	# The registry is reached without TLS here.
	cat >bin/slipway <<-EOS
		#!/bin/bash
		case \$1 in
		build | index | verify | copy) exec "$SLIPWAY" "\$@" --insecure ;;
		esac
		exit 9
	EOS
	chmod +x bin/slipway
	WANT=$("$SLIPWAY" build -f tree/slipway.yaml -o one --progress none | digest_line)
	export IMAGE=$REG/team/app REGISTRY_LOGIN=$WORK/login/config.json
}
teardown() { common_teardown; }

# page NAME: runs the file; the image has its names, and no secret is in what was said.
page() {
	run "$ROOT/tests/pipeline/run-page" "$1" "$ROOT/docs/CI.md" tree
	echo "$output"
	[ "$status" -ne 0 ] || [ "${lines[-1]}" = "$WANT" ] || return 1
	[[ $output != *planted* ]]
}

tagged() { curl -s -u robot:planted-token "http://$REG/v2/team/app/tags/list" | json 'sorted(d["tags"])'; }

@test "ci: GitLab's file fetches slipway by its checksum, logs in, builds side by side, joins and releases" {
	cp bin/slipway top/bin/slipway
	tar -czf slipway.tar.gz --transform 's|^top|slipway-9|' top
	# Two machines, and a server.
	# shellcheck disable=SC2016 # the programs' own
	printf '#!/bin/sh\necho "$SLIPWAY_MACHINE"\n' >bin/uname
	# shellcheck disable=SC2016 # the program's own
	printf '#!/bin/bash\n[[ ${@: -1} == https://example.com/*-linux-a[mr][dm]64.tar.gz ]] && cp "%s" .slipway.tar.gz\n' "$WORK/slipway.tar.gz" >bin/curl
	chmod +x bin/uname bin/curl
	sum=$(sha256sum <slipway.tar.gz | cut -d ' ' -f 1)
	export SHA256_amd64=$sum SHA256_arm64=$sum CI_REGISTRY=$REG CI_REGISTRY_USER=robot CI_REGISTRY_PASSWORD=planted-token
	export CI_COMMIT_SHORT_SHA=0123abcd
	rm bin/slipway
	PATH=$WORK/bin:$PATH page gitlab
	[ "$status" -eq 0 ]
	rm bin/curl
	[ "$(tagged)" = "['0123abcd', 'latest']" ]
	printf '#!/bin/bash\ncp "%s" .slipway.tar.gz\n' "$WORK/slipway.tar.gz" >bin/curl && chmod +x bin/curl
	SHA256_amd64=${sum//[0-9]/0} PATH=$WORK/bin:$PATH page gitlab
	[ "$status" -ne 0 ]
	[[ $output == *".slipway.tar.gz: FAILED"* && $output != *"release"* ]]
}

@test "ci: Buildkite's and Jenkins' files build side by side, join and release" {
	DOCKER_CONFIG=$WORK/login BUILDKITE_COMMIT=0123456789abcdef PATH=$WORK/bin:$PATH page buildkite
	[ "$status" -eq 0 ]
	GIT_COMMIT=fedcba9876543210 PATH=$WORK/bin:$PATH page jenkins
	[ "$status" -eq 0 ]
	[ "$(tagged)" = "['0123456789ab', 'fedcba987654', 'latest']" ]
	# Without a login there is no image.
	printf '{}' >login/config.json
	GIT_COMMIT=fedcba9876543210 PATH=$WORK/bin:$PATH page jenkins
	[ "$status" -ne 0 ]
}

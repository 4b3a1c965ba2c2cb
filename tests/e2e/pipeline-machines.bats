#!/usr/bin/env bats
# The rendered documents on machines that have nothing of ours, a new one for each job: CodeBuild's and GitHub's jobs in
# Debian 12's image as root, GitHub's on a runner's Ubuntu 24.04 as its user, with sudo. A registry wants a login, slipway and
# kubectl come by their checksums from a server whose authority the machines trust. pipeline.bats has the same on this root.

load lib

setup() {
	[ "${SLIPWAY_TEST_LONG:-}" = 1 ] || skip "makes roots of Debian and Ubuntu from the network: SLIPWAY_TEST_LONG=1 runs it"
	common_setup
	[ "$EUID" -eq 0 ] || skip "a root of its own needs root"
	need mmdebstrap && need git && need htpasswd
	unshare -m true 2>/dev/null || skip "no mount namespaces here"
	chmod 755 .
	printf 'robot:%s\n' "$(htpasswd -nbB robot planted-token | cut -d: -f2)" >htpasswd
	start_registry "auth: {htpasswd: {realm: test, path: $WORK/htpasswd}}"
	mkdir -m 777 share kube
	release
	tree
}
teardown() { [ -z "${WORK:-}" ] || common_teardown; }

# release: the tarball of what is built here, as both architectures', and a stand-in of kubectl's, on a server of its own.
release() {
	make_certificate
	mkdir www
	make -s -C "$ROOT" BUILD="${BUILD:-build}" -o "${BUILD:-build}/slipway" tarball RELEASE="$WORK/release" >/dev/null
	cp release/slipway-*.tar.gz www/slipway-amd64.tar.gz
	cp release/slipway-*.tar.gz www/slipway-arm64.tar.gz
	printf '#!/bin/sh\nFAKEKUBE=%s exec python3 %s "$@"\n' "$WORK/kube" "$ROOT/tests/servers/fakekubectl" >www/kubectl
	PORT=$((20000 + RANDOM % 20000))
	(cd www && exec openssl s_server -accept "127.0.0.1:$PORT" -WWW -cert ../cert.pem -key ../key.pem >/dev/null 2>&1 3>&-) &
	PIDS+=($!)
	# The AWS CLI that a runner has; on Debian it is the package's, until it has answered for itself.
	cat >share/aws <<-EOS
		#!/bin/sh
		echo "\$*" >>$WORK/kube/aws
	EOS
	chmod +x share/aws
}

# tree: a commit whose pipeline goes on to a cluster.
tree() {
	local sum
	sum=$(sha256sum <www/slipway-amd64.tar.gz | cut -d ' ' -f 1)
	mkdir tree
	cat >tree/slipway.yaml <<-EOS
		apiVersion: slipway/v1
		name: sample
		image:
		  repository: $REG/team/app
		  tags: [latest]
		  platforms: [linux/amd64, linux/arm64]
		  layers: [{name: program, share: false, files: [{from: "out/\${arch}/note", to: /opt/note}]}]
		cluster: {name: sample, region: us-west-2, zone: us-west-2d}
		fleet: {g5g: {weight: 20}}
		job: {nodes: 1, command: [/opt/note]}
		pipeline:
		  source: {connection: "arn:aws:codeconnections:us-west-2:123456789012:connection/1", repository: org/app}
		  slipway: {url: "https://localhost:$PORT/slipway-\${arch}.tar.gz", amd64: $sum, arm64: $sum}
		  kubectl: {url: "https://localhost:$PORT/kubectl", amd64: $(sha256sum <www/kubectl | cut -d ' ' -f 1)}
		  install: ["touch of-root", "! command -v aws || { aws --version && install -m 0755 $WORK/share/aws /usr/local/bin/aws && hash -r; }"]
		  test: ["echo >>of-root"]
		  build: ["mkdir -p out/\$SLIPWAY_ARCH", "echo made for \$SLIPWAY_ARCH >out/\$SLIPWAY_ARCH/note"]
		  options: [--insecure]
		  tags: [latest]
		  region: us-west-2
		  deploy: true
		  github: true
	EOS
	git init -q tree && git -C tree add . && git -C tree -c user.name=t -c user.email=t@t commit -qm one
	COMMIT=$(git -C tree rev-parse HEAD)
}

# jobs KIND ROOT VARIABLE=VALUE...: all jobs on machines of this root; sets output, status and lines.
jobs_on() {
	local kind=$1 root=$2
	shift 2
	mkdir -p tmp
	rm -rf kube/* registry/docker/registry/v2/repositories
	# shellcheck disable=SC2016 # the inner shell's
	run unshare -m bash -euc 'mount --make-rprivate / && exec "$@"' machines env -u XDG_CACHE_HOME -u DOCKER_CONFIG "$@" \
		TMPDIR="$WORK/tmp" MACHINE="$root" MACHINE_SHARES="$WORK/tmp $WORK/share $WORK/kube $ROOT/tests/servers" \
		JOB_PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		"$ROOT/tests/pipeline/run-as" "$kind" documents/80-pipeline tree "$COMMIT"
	echo "$output"
}

# released: every job passed, the tag names the digest, and the cluster has it.
released() {
	[ "$status" -eq 0 ]
	[[ ${lines[-1]} == sha256:* && $output != *planted* ]]
	curl -sf -u robot:planted-token -o /dev/null -D headers -H 'Accept: application/vnd.oci.image.index.v1+json' "http://$REG/v2/team/app/manifests/latest"
	grep -qi "docker-content-digest: ${lines[-1]}" headers
	grep -qF "@${lines[-1]}" kube/objects.json
	grep -q '^eks update-kubeconfig --name sample' kube/aws
}

# root_of_machines NAME: a clean root (MACHINE_ROOTS=DIR: of those that are kept there) that trusts our server.
root_of_machines() {
	if [ -d "${MACHINE_ROOTS:-/nowhere}/$1" ]; then
		cp -a "$MACHINE_ROOTS/$1" "$1"
	else
		"$ROOT/tests/pipeline/machine" make "$1" "$WORK/$1"
	fi
	mkdir -p "$1/usr/local/share/ca-certificates"
	cp ca.pem "$1/usr/local/share/ca-certificates/test.crt"
	[ ! -x "$1/usr/sbin/update-ca-certificates" ] || env -u TMPDIR chroot "$1" update-ca-certificates >/dev/null 2>&1
}

@test "machines: CodePipeline's and GitHub's jobs pass in Debian's image as root, each from nothing" {
	root_of_machines debian
	for program in curl aws python3 kubectl slipway; do [ ! -e "debian/usr/bin/$program" ]; done
	mkdir -p debian/root/.docker
	printf '{"auths": {"%s": {"auth": "%s"}}}' "$REG" "$(printf 'robot:planted-token' | base64 -w 0)" >debian/root/.docker/config.json
	"$SLIPWAY" render -q -f tree/slipway.yaml --only pipeline --format json -o documents >/dev/null
	jobs_on codepipeline "$WORK/debian" HOME=/root
	released
	[[ $output == *"aws-cli/"* && $output != *"Geographic area"* ]]
	digest=${lines[-1]}
	# In a container of GitHub's the login is the secrets', and only where a job may push.
	rm -r debian/root/.docker documents
	image='{image: "public.ecr.aws/docker/library/debian:12"}'
	"$SLIPWAY" render -q -f tree/slipway.yaml --only pipeline --format json -o documents \
		--set "pipeline.amd64=$image" --set "pipeline.arm64=$image" >/dev/null
	jobs_on github "$WORK/debian" HOME=/root SECRETS='{"REGISTRY_USERNAME": "robot", "REGISTRY_PASSWORD": "planted-token"}'
	released
	[ "${lines[-1]}" = "$digest" ]
	# Another file than the one that was named ends the first job before it is unpacked.
	printf x >>www/slipway-amd64.tar.gz
	jobs_on codepipeline "$WORK/debian" HOME=/root
	[ "$status" -eq 1 ]
	[[ $output == *"/tmp/slipway.download: FAILED"* && $output != *"slipway build"* ]]
}

# like_amazons: the Debian root with what Amazon Linux has for programs of ours, curl, Python and the AWS CLI, and no apt.
like_amazons() {
	root_of_machines debian
	mv debian amazon
	cp /etc/resolv.conf amazon/etc/resolv.conf
	env -i PATH="$PATH" DEBIAN_FRONTEND=noninteractive chroot amazon sh -c \
		"apt-get update -q && apt-get install -q -y --no-install-recommends ca-certificates curl python3" >apt.log 2>&1 || { cat apt.log && return 1; }
	env -u TMPDIR chroot amazon update-ca-certificates >/dev/null 2>&1
	install -m 0755 share/aws amazon/usr/local/bin/aws
	rm -f amazon/usr/bin/{apt,apt-get,apt-cache,dpkg,dpkg-deb}
	printf 'ID="amzn"\nVERSION_ID="2023"\n' >amazon/etc/os-release
}

@test "machines: CodePipeline's jobs pass where there is no apt, as in CodeBuild's own image, which is Amazon Linux" {
	like_amazons
	mkdir -p amazon/root/.docker
	printf '{"auths": {"%s": {"auth": "%s"}}}' "$REG" "$(printf 'robot:planted-token' | base64 -w 0)" >amazon/root/.docker/config.json
	"$SLIPWAY" render -q -f tree/slipway.yaml --only pipeline --format json -o documents --set 'pipeline.install=["! command -v apt-get"]' >/dev/null
	jobs_on codepipeline "$WORK/amazon" HOME=/root
	released
	# Debian's image has no curl: what brings it there is not there.
	rm amazon/usr/bin/curl
	jobs_on codepipeline "$WORK/amazon" HOME=/root
	[ "$status" -eq 1 ]
	[[ $output == *"apt-get: command not found"* ]]
}

@test "machines: GitHub's jobs pass on a runner's Ubuntu as the user runner, with sudo for root's work alone" {
	root_of_machines ubuntu
	printf '#!/bin/sh\n[ "$*" = --version ] && echo aws-cli/2\n' >ubuntu/usr/local/bin/aws
	chmod +x ubuntu/usr/local/bin/aws
	"$SLIPWAY" render -q -f tree/slipway.yaml --only pipeline --format json -o documents >/dev/null
	grep -q 'sudo bash' documents/80-pipeline/github-workflow.json
	local runner=(RUNNER_UID=1001 HOME=/home/runner)
	jobs_on github "$WORK/ubuntu" "${runner[@]}" SECRETS='{"REGISTRY_USERNAME": "robot", "REGISTRY_PASSWORD": "planted-token"}'
	released
	# Without the secrets the registry lets nobody in.
	jobs_on github "$WORK/ubuntu" "${runner[@]}"
	[ "$status" -eq 1 ]
	[[ $output == *"build-amd64 ended with exit status 4"* ]]
}

# What the end-to-end tests share. bats loads it with `load lib`.
# shellcheck shell=bash

# For `run !`: a plain `!` command fails no test, for set -e passes it over.
bats_require_minimum_version 1.5.0

# Debian's Python, which the judges' packages are installed for; a version manager's shim takes a tenth of a second a call.
python3() { /usr/bin/python3 "$@"; }

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
SLIPWAY=$ROOT/${BUILD:-build}/slipway
# For render: every concern that kubectl applies, the one too that is rendered by its name alone.
# shellcheck disable=SC2034
EVERYTHING=(--only namespace --only karpenter --only devices --only storage --only monitoring --only scheduler --only jobs --only nettest)

common_setup() {
	# Lower case only: podman makes an image name of an OCI layout's path.
	WORK=${TMPDIR:-/tmp}/slipway-e2e-$$-$RANDOM$RANDOM
	mkdir -m 0700 "$WORK" || return 1
	export XDG_CACHE_HOME=$WORK/cache HOME=$WORK/home DOCKER_CONFIG=$WORK/docker
	unset SOURCE_DATE_EPOCH
	mkdir -p "$HOME"
	cd "$WORK" || return 1
	PIDS=()
}

common_teardown() {
	local pid
	for pid in "${PIDS[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; done
	# A set-up that failed leaves no folder of ours: then nothing here may run, least of all as root.
	[[ ${WORK:-} == */slipway-e2e-* && -d $WORK ]] || return 0
	# What a test mounted and could not unmount because it failed on the way: exactly these two folders.
	umount "$WORK/small" "$WORK/fixed" 2>/dev/null
	cd / && chmod -R u+rwX "$WORK" && rm -rf "$WORK"
}

need() { command -v "$1" >/dev/null || skip "$1 is not installed"; }

# judge_needed NAME...: programs that tests/judges builds, in JUDGES. Without one the test is skipped, or fails where it is
# required.
JUDGES=$ROOT/${BUILD:-build}/judges
judge_needed() {
	local name
	for name; do
		[[ ! -x $JUDGES/$name ]] || continue
		[[ ,${SLIPWAY_TEST_REQUIRE:-}, != *,$name,* ]] || return 1
		skip "$name is not built: tests/judges/build ${BUILD:-build}/judges"
	done
}

# wait_for FILE: until it has content, at most a minute.
wait_for() {
	local i
	for ((i = 0; i < 1200; i++)); do
		[[ -s $1 ]] && return 0
		sleep 0.05
	done
	echo "nothing in $1 after a minute" >&2
	return 1
}

# catches PID: waits until it has a handler for SIGTERM, which would just kill it before.
catches() {
	local caught=0
	until ((0x$caught & 0x4000)); do
		sleep 0.02
		caught=$(awk '/^SigCgt:/ {print $2}' "/proc/$1/status") || return
	done
}

# root_of REF...: the digest of the image that a reference names.
root_of() { "$SLIPWAY" inspect --progress none "$@" | head -n 1; }

# json EXPRESSION: prints a Python expression over `d`, the JSON document on standard input.
json() { python3 -ISc 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }

# killed_after SECONDS COMMAND...: runs the program itself, no shell around it, and kills it with -9.
killed_after() {
	local seconds=$1 pid
	shift
	"$@" >/dev/null 2>&1 &
	pid=$!
	sleep "$seconds"
	kill -9 "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
}

# make_tree DIR: a small tree with a link, a hard link, an executable and an empty file.
make_tree() {
	mkdir -p "$1/bin" "$1/share/deep"
	printf '#!/bin/sh\necho hello\n' >"$1/bin/run"
	chmod 0755 "$1/bin/run"
	printf 'text\n' >"$1/share/a.txt"
	ln "$1/share/a.txt" "$1/share/b.txt"
	ln -s a.txt "$1/share/link"
	: >"$1/share/deep/empty"
	seq 1 20000 >"$1/share/deep/numbers"
}

# make_spec FILE [LINE...]: a spec that packs ./tree for both platforms; further lines go below image:.
make_spec() {
	local file=$1
	shift
	{
		printf 'apiVersion: slipway/v1\nname: sample\nimage:\n  tags: [v1]\n'
		(($# == 0)) || printf '  %s\n' "$@"
		printf '  layers:\n    - name: data\n      files:\n        - {from: tree, to: /opt/sample}\n'
	} >"$file"
}

# own_spec: this repository's own specification, whose trn1 computes on the processor: nothing is compiled for it ahead.
own_spec() { sed 's|^    compiler:.*|    args: [--device, cpu]|' "$ROOT/slipway.yaml"; }

digest_line() { tail -n 1 | grep -E '^sha256:[0-9a-f]{64}$'; }

# start_faultreg [ARGS...]: sets REG (host:port) and REGLOG. FAULTS (JSON) is used when set.
start_faultreg() {
	REGLOG=$WORK/registry.log
	: >"$REGLOG"
	rm -f "$WORK/ready"
	if [[ -n ${FAULTS:-} ]]; then
		printf '%s' "$FAULTS" >"$WORK/faults.json"
		set -- "$@" --faults "$WORK/faults.json"
	fi
	"$ROOT/tests/servers/faultreg" --ready "$WORK/ready" --log "$REGLOG" "$@" 3>&- &
	PIDS+=($!)
	wait_for "$WORK/ready"
	local port
	read -r port _ <"$WORK/ready"
	REG=127.0.0.1:$port
}

# start_registry [CONFIG LINE...]: Debian's docker-registry on a free port; sets REG and REGLOG.
start_registry() {
	need docker-registry
	REGLOG=$WORK/docker-registry.log
	{
		printf 'version: 0.1\nlog: {level: info, accesslog: {disabled: false}}\n'
		printf 'storage: {filesystem: {rootdirectory: %s/registry}}\n' "$WORK"
		printf 'http:\n  addr: 127.0.0.1:0\n'
		printf '%s\n' "$@"
	} >"$WORK/registry.yml"
	: >"$REGLOG"
	docker-registry serve "$WORK/registry.yml" >"$REGLOG" 2>&1 3>&- &
	PIDS+=($!)
	local i
	for ((i = 0; i < 1200; i++)); do
		# It names the port that the kernel chose.
		REG=$(sed -n 's/.*listening on \(127\.0\.0\.1:[0-9]*\).*/\1/p' "$REGLOG")
		[[ -z $REG ]] || return 0
		sleep 0.05
	done
	cat "$REGLOG" >&2
	return 1
}

# start_olareg: a registry that lists referrers itself, on a free port; sets REG.
start_olareg() {
	judge_needed olareg
	"$JUDGES/olareg" serve --addr 127.0.0.1 --port 0 --store-type mem >olareg.log 2>&1 3>&- &
	PIDS+=($!)
	local i port
	for ((i = 0; i < 600; i++)); do
		port=$(ss -Hltnp | sed -n "s/.* 127\.0\.0\.1:\([0-9]*\) .*,pid=$!,.*/\1/p")
		REG=127.0.0.1:$port
		[[ -z $port ]] || return 0
		sleep 0.05
	done
	cat olareg.log >&2
	return 1
}

# make_certificate: a CA and a certificate for 127.0.0.1 in ca.pem, cert.pem and key.pem.
make_certificate() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=test CA" -keyout ca.key -out ca.pem 2>/dev/null
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=127.0.0.1" -keyout key.pem -out req.pem 2>/dev/null
	printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\n' >ext
	openssl x509 -req -in req.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out cert.pem 2>/dev/null
}

# self_signed NAME...: a certificate for these host names in cert.pem, its key in key.pem.
self_signed() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test \
		-addext "subjectAltName=$(printf 'DNS:%s\n' "$@" | paste -sd,)" -keyout key.pem -out cert.pem 2>/dev/null
}

# uploads: how many blob uploads the fault registry took.
uploads() { grep -c '"method": "PUT", "path": "/v2/[^"]*/blobs/uploads/' "$REGLOG" || true; }

# start_fakeaws [ARGS...]: the fake AWS with the configuration config.json; sets HTTPS_PORT, PORT, URL and LOG.
start_fakeaws() {
	LOG=$WORK/fakeaws.log
	"$ROOT/tests/servers/fakeaws" --ready "$WORK/fakeaws.ready" --log "$LOG" --config config.json "$@" 3>&- &
	PIDS+=($!)
	wait_for "$WORK/fakeaws.ready"
	read -r HTTPS_PORT PORT <"$WORK/fakeaws.ready"
	URL=http://127.0.0.1:$PORT
}

# What the fake AWS is configured with while it runs, and what it says of itself.
config() { curl -sSf -d "$1" "$URL/__control/config" >/dev/null; }
state() { curl -sSf "$URL/__control/state" | json "$1"; }

# containers_needed: skips where podman cannot run this machine's images.
containers_needed() {
	need podman
	need runc
	[ "$EUID" -eq 0 ] || skip "containers need root here"
	[ "$(uname -m)" = x86_64 ] || skip "not an amd64 machine"
}

# podman_here ARGS...: podman with a store of this test's own.
podman_here() {
	env -u DOCKER_CONFIG podman --runtime runc --cgroup-manager cgroupfs --storage-driver vfs --root "$WORK/podman" \
		--runroot "$WORK/podman-run" "$@"
}

# podman_run ARGS...: with what a small container host may lack turned off.
podman_run() {
	podman_here run --rm --network none --ulimit nofile=1024:1024 --ulimit nproc=4096:4096 "$@"
}

# emulation_needed: skips where this machine cannot run arm64 programs.
emulation_needed() {
	[ -e /proc/sys/fs/binfmt_misc/register ] || mount -t binfmt_misc none /proc/sys/fs/binfmt_misc 2>/dev/null ||
		skip "binfmt_misc cannot be mounted"
	[ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || update-binfmts --enable qemu-aarch64 2>/dev/null ||
		skip "qemu-aarch64 cannot be registered"
}

# shellcheck source=tests/e2e/series.bash
source "${BASH_SOURCE[0]%/*}/series.bash"

#!/usr/bin/env bats
# The image of `make demo` as other programs see it.

load lib
setup() {
	common_setup
	cd "$ROOT" || return 1
	"$SLIPWAY" build --progress none -o "$WORK/image" >/dev/null
	cd "$WORK" || return 1
}
teardown() { common_teardown; }

# podman_run ARGS...: with what a small container host may lack turned off.
podman_run() {
	env -u DOCKER_CONFIG podman --runtime runc --cgroup-manager cgroupfs --storage-driver vfs --root "$WORK/podman" --runroot "$WORK/podman-run" run --rm \
		--network none --ulimit nofile=1024:1024 --ulimit nproc=4096:4096 "$@"
}

@test "consumers: an independent reader finds every digest, size and diff ID right" {
	python3 "$ROOT/tests/servers/check-layout" image
}

@test "consumers: skopeo inspects it and copies it to a registry and back, bit for bit" {
	need skopeo
	skopeo inspect --raw oci:image:v1 | grep -q '"mediaType":"application/vnd.oci.image.index.v1+json"'
	start_registry
	skopeo copy -q --all --preserve-digests --dest-tls-verify=false oci:image:v1 "docker://$REG/app:v1"
	skopeo copy -q --all --preserve-digests --src-tls-verify=false "docker://$REG/app:v1" oci:back:v1
	[ "$("$SLIPWAY" inspect oci:image:v1 | head -n 1)" = "$("$SLIPWAY" inspect oci:back:v1 | head -n 1)" ]
	"$SLIPWAY" verify --progress none oci:back:v1
}

@test "consumers: umoci unpacks each platform" {
	need umoci
	for arch in amd64 arm64; do
		(cd "$ROOT" && "$SLIPWAY" build --progress none --platform "linux/$arch" -o "$WORK/$arch" >/dev/null)
		umoci unpack --rootless --image "$arch:v1" "bundle-$arch"
		[ -x "bundle-$arch/rootfs/usr/bin/slipway-trainer" ]
	done
}

@test "consumers: podman runs the amd64 image" {
	need podman
	need runc
	[ "$EUID" -eq 0 ] || skip "containers need root here"
	[ "$(uname -m)" = x86_64 ] || skip "not an amd64 machine"
	run podman_run "oci:$WORK/image" probe
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"architecture: amd64"* ]]
}

@test "consumers: podman runs the arm64 image under qemu-user" {
	need podman
	need runc
	[ "$EUID" -eq 0 ] || skip "containers need root here"
	[ -e /proc/sys/fs/binfmt_misc/register ] || mount -t binfmt_misc none /proc/sys/fs/binfmt_misc 2>/dev/null ||
		skip "binfmt_misc cannot be mounted"
	[ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || update-binfmts --enable qemu-aarch64 2>/dev/null ||
		skip "qemu-aarch64 cannot be registered"
	run podman_run --arch arm64 "oci:$WORK/image" probe
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"architecture: arm64"* ]]
}

@test "consumers: the demo image has under 15 MB compressed on each platform" {
	"$SLIPWAY" inspect --output json oci:image:v1 | python3 -c '
import json, sys
for image in json.load(sys.stdin)["images"]:
    print(image["platform"], image["compressed_size"])
    assert image["compressed_size"] < 15_000_000' >&3
}

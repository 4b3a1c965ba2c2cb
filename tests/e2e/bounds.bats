#!/usr/bin/env bats
# What images expand to: each of tests/servers/hostile-layouts has 100 KB at most and was made to be slow or large. Every
# reader ends within seconds and 256 MB, rightly or with an error, and within one second of SIGTERM.

load lib
setup() { common_setup; }
teardown() { common_teardown; }

bounded() { "$ROOT/tests/servers/bounded" 5 256 "$@"; }

# base_spec REF: a spec that builds on this image.
base_spec() {
	echo x >file
	printf 'apiVersion: slipway/v1\nname: sample\nimage:\n  platforms: [linux/amd64]\n  base: %s\n' "$1" >slipway.yaml
	printf '  layers: [{name: data, files: [{from: file, to: /opt/file}]}]\n' >>slipway.yaml
}

# every_reader: of ./image, which ./other is compared with; prints what went wrong.
every_reader() {
	bounded "$SLIPWAY" verify --progress none oci:image
	bounded "$SLIPWAY" inspect --progress none --output json oci:image
	bounded "$SLIPWAY" diff --progress none oci:image oci:other
	base_spec oci:image
	bounded "$SLIPWAY" build --progress none -o built
}

# hole LAYOUT: a layer of 200 bytes with a file of 2^62.
hole() { "$ROOT/tests/servers/hostile-layouts" hole-pax-0-1 "$1"; }

@test "bounds: images made to be slow or large end soon, in little memory, and at SIGTERM at once" {
	local name failed=0 n=0
	for name in $("$ROOT/tests/servers/hostile-layouts"); do
		chosen "$name" || continue
		mkdir "$name" && cd "$name"
		"$ROOT/tests/servers/hostile-layouts" "$name" .
		every_reader >../said 2>&1 || true
		cd .. && rm -rf "$name"
		n=$((n + 1))
		[[ ! -s said ]] || { failed=$((failed + 1)) && echo "$name: $(cat said)"; }
	done
	echo "$n images, $failed of them failed"
	((n >= $(series 60) - 3 && failed == 0))
}

@test "bounds: a hole of 2^62 bytes is an error that says how to allow more" {
	hole .
	run timeout 60 "$SLIPWAY" verify --progress none oci:image
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"the layers unpack to more than"*"--max-unpacked SIZE"* ]]
}

@test "bounds: what a layer may unpack to is configurable, in both directions" {
	"$ROOT/tests/servers/hostile-layouts" zeros-gzip .
	"$SLIPWAY" verify --progress none oci:image
	run "$SLIPWAY" verify --progress none --max-unpacked 50MB oci:image
	[ "$status" -eq 1 ]
	[[ $output == *"unpack to more than 50.0 MB"* ]]
	run "$SLIPWAY" diff --progress none --max-unpacked 50MB oci:image oci:other
	[ "$status" -eq 1 ]
	base_spec oci:image
	"$SLIPWAY" build --progress none -o built
	sed -i 's/^  base/  check: {max_unpacked: 50MB}\n&/' slipway.yaml
	run "$SLIPWAY" build --progress none -o built
	[ "$status" -ne 0 ]
	[[ $output == *"unpack to more than 50.0 MB"* ]]
	run "$SLIPWAY" verify --max-unpacked much oci:image
	[ "$status" -eq 2 ]
	[[ $output == *"'much' is not a size"* ]]
	rm -rf image other
	"$ROOT/tests/servers/hostile-layouts" zeros-zstd .
	"$SLIPWAY" verify --progress none --off diff-id --max-unpacked 4GiB oci:image
}

@test "bounds: a compressed archive is bounded before it fills the disk" {
	python3 - <<-'EOF'
		import gzip, tarfile
		tar = tarfile.TarInfo("junk")
		tar.size = 512 << 30
		open("bomb.tar", "wb").write(tar.tobuf(tarfile.PAX_FORMAT))
	EOF
	# Zeros of two frames over and over: what is skipped is decompressed all the same.
	zstd -q -c bomb.tar >bomb.tar.zst
	head -c 512M /dev/zero | zstd -q -c >zeros.zst
	for _ in {1..8}; do cat zeros.zst >>bomb.tar.zst; done
	[ "$(stat -c %s bomb.tar.zst)" -lt 400000 ]
	run bounded "$SLIPWAY" verify --progress none oci-archive:bomb.tar.zst
	[ "$status" -eq 0 ] && [ -z "$output" ]
	run "$SLIPWAY" verify --progress none oci-archive:bomb.tar.zst
	[[ $output == *"unpack to more than"*"decompress it before"* ]]
}

@test "bounds: two signals for one request, as timeout sends them, end with an error and not at once" {
	"$ROOT/tests/servers/hostile-layouts" zeros-zstd .
	"$SLIPWAY" verify --progress none --max-unpacked 4GiB oci:image >out 2>&1 &
	pid=$!
	catches "$pid"
	kill -TERM "$pid" && kill -TERM "$pid" || true
	status=0
	wait "$pid" || status=$?
	[ "$status" -eq 1 ]
	grep -q interrupted out
}

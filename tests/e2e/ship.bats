#!/usr/bin/env bats
# slipway ships itself: its own image for both architectures, and its Debian package.

load lib

setup() { common_setup; }
teardown() { common_teardown; }

# own_image ARCH...: the image of builder/packaging/image.yaml in $WORK/image. Where `make image` was not run, only this
# machine's architecture, of the binary under test with this machine's libraries.
own_image() {
	local here=$ROOT/builder/packaging
	host=$(dpkg --print-architecture)
	built=("$host")
	if [[ -x $ROOT/build/amd64/slipway && -x $ROOT/build/arm64/slipway ]]; then
		built=(amd64 arm64)
		"$SLIPWAY" build --progress none -f "$here/image.yaml" -o "$WORK/image" >build.out
		return
	fi
	# shellcheck disable=SC2016 # slipway expands it
	sed -e "s|../../build/\${arch}/slipway|$SLIPWAY|" -e "s|../../LICENSE|$ROOT/LICENSE|" -e '/^      sysroot:/d' \
		-e "s|platforms: .*|platforms: [linux/$host]|" "$here/image.yaml" >"$WORK/image.yaml"
	"$SLIPWAY" build --progress none -f "$WORK/image.yaml" -o "$WORK/image" >build.out
}

# rootfs ARCH: what the image holds for it, in $WORK/ARCH/rootfs.
rootfs() {
	need umoci
	"$SLIPWAY" build --progress none -f "$([[ -e image.yaml ]] && echo image.yaml || echo "$ROOT/builder/packaging/image.yaml")" \
		--platform "linux/$1" --set image.compression=gzip -o "$WORK/of-$1" >/dev/null
	umoci unpack --rootless --image "of-$1:latest" "$1"
}

# podman_run ARGS...: with what a small container host may lack turned off.
podman_run() {
	env -u DOCKER_CONFIG podman --runtime runc --cgroup-manager cgroupfs --storage-driver vfs --root "$WORK/podman" \
		--runroot "$WORK/podman-run" run --rm --network none --ulimit nofile=1024:1024 --ulimit nproc=4096:4096 "$@"
}

@test "ship: slipway's own image is whole, small, and the same twice" {
	own_image
	"$SLIPWAY" verify --progress none "oci:$WORK/image"
	python3 "$ROOT/tests/servers/check-layout" image
	"$SLIPWAY" inspect --output json "oci:$WORK/image" >inspect.json
	[ "$(json 'len(d["images"])' <inspect.json)" = "${#built[@]}" ]
	json '"\n".join("# %s: %.1f MB compressed" % (i["platform"], i["compressed_size"] / 1e6) for i in d["images"])' <inspect.json >&3
	[ "$(json 'max(i["compressed_size"] for i in d["images"]) < 15_000_000' <inspect.json)" = True ]
	first=$(digest_line <build.out)
	rm -rf image cache
	own_image
	[ "$(digest_line <build.out)" = "$first" ]
}

@test "ship: the image is for nobody in particular: no root, no shell, nothing but the tool and what it needs" {
	own_image
	rootfs "$host"
	(cd "$host/rootfs" && find . -type f -o -type l | sort) >files
	run ! grep -E '/(bash|sh|apt|dpkg|perl|python3?)$' files
	grep -qx ./usr/bin/slipway files
	grep -qx ./etc/ssl/certs/ca-certificates.crt files
	[ "$(grep -c '\.so' files)" -lt 110 ]
	# No XML parser, no Unicode tables: libarchive is part of the binary.
	run ! grep -E 'libxml2|libicu|libarchive|libstdc' files
	"$SLIPWAY" inspect --output json "oci:$WORK/image" >inspect.json
	grep -qF 65532:65532 "$WORK"/image/blobs/sha256/*
}

@test "ship: podman runs the image: slipway version, and a build inside it" {
	need podman
	need runc
	[ "$EUID" -eq 0 ] || skip "containers need root here"
	own_image
	run podman_run "oci:$WORK/image" version
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"$("$SLIPWAY" version)" ]]
	# What a job in a cluster does: read a spec, write an image, with nothing but the image's own files.
	mkdir work && chmod 0777 work && cd work && make_tree tree && make_spec slipway.yaml 'check: {off: [no-entrypoint]}' && cd ..
	run podman_run -v "$WORK/work:/work" -w /work "oci:$WORK/image" build --progress none -o /work/out
	echo "$output"
	[ "$status" -eq 0 ]
	inside=$(digest_line <<<"$output")
	cd work
	[ "$("$SLIPWAY" build --progress none -o here | digest_line)" = "$inside" ]
}

@test "ship: the arm64 program runs from its own root under qemu-user" {
	need qemu-aarch64-static
	own_image
	[[ ${built[*]} == *arm64* ]] || skip "the arm64 binary is not built (make image)"
	rootfs arm64
	run qemu-aarch64-static -L "$WORK/arm64/rootfs" arm64/rootfs/usr/bin/slipway version
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "$("$SLIPWAY" version)" ]
}

@test "ship: what the binary needs at run time is a short list, and each entry is small" {
	readelf -d "$SLIPWAY" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort >needed
	diff needed - <<-'EOS'
		libbz2.so.1.0
		libc.so.6
		libcjson.so.1
		libcrypto.so.3
		libcurl.so.4
		liblz4.so.1
		liblzma.so.5
		libm.so.6
		libnettle.so.8
		libsodium.so.23
		libsqlite3.so.0
	EOS
	ldd "$SLIPWAY" | awk '/=> \// {print $3}' | xargs -n 1 readlink -f | sort -u >closure
	size=$(xargs du -bc <closure | tail -n 1 | cut -f 1)
	echo "# $(wc -l <closure) libraries, $((size / 1000000)) MB with all that they need" >&3
	[ "$size" -lt 25000000 ]
}

# deb: builds the package in a copy of what it is made of, so that two runs never meet; its path is DEB.
deb() {
	need dpkg-deb
	[ -x "$ROOT/build/slipway" ] || skip "built elsewhere"
	mkdir -p tree/builder tree/tests
	cp -a "$ROOT/Makefile" "$ROOT/README.md" "$ROOT/docs" "$ROOT/LICENSE" tree
	cp -a "$ROOT/builder/packaging" tree/builder
	mkdir -p tree/build && cp "$SLIPWAY" tree/build/slipway
	export DEBFULLNAME="Release Engineer" DEBEMAIL=release@example.com
	make -s -C tree -o build/slipway deb >/dev/null
	DEB=$(echo "$WORK"/tree/build/slipway_*.deb)
}

@test "ship: the Debian package holds the tool, its manual and completions, the same bytes each time" {
	deb
	one=$(sha256sum <"$DEB")
	(umask 077 && make -s -C tree -o build/slipway deb >/dev/null)
	[ "$(sha256sum <"$DEB")" = "$one" ]
	echo "# $(($(stat -c %s "$DEB") / 1000)) kB" >&3
	[ "$(stat -c %s "$DEB")" -lt 2000000 ]
	dpkg-deb -c "$DEB" >list
	for path in ./usr/bin/slipway ./usr/share/man/man1/slipway.1.gz ./usr/share/doc/slipway/copyright \
		./usr/share/bash-completion/completions/slipway; do
		grep -q "root/root.* $path\$" list
	done
}

@test "ship: the package is as Debian wants it: owners, modes, places, description" {
	deb
	dpkg-deb -c "$DEB" >list
	run ! grep -vE '^(drwxr-xr-x|-rwxr-xr-x|-rw-r--r--|lrwxrwxrwx) root/root ' list
	run ! grep -E ' \./(usr/local|home|tmp|var)/' list
	[ "$(grep -c '^-rwx' list)" = 1 ]
	dpkg-deb -x "$DEB" root
	[ -z "$(find root/usr/share/man -type f ! -name '*.gz')" ]
	zcat root/usr/share/man/man1/slipway.1.gz | head -n 3 | grep -q '^\.TH'
	# The time in a gzip header would differ from build to build.
	[ "$(od -An -tx1 -j4 -N4 root/usr/share/man/man1/slipway.1.gz | tr -d ' ')" = 00000000 ]
	file=$(readelf -S root/usr/bin/slipway)
	[[ $file != *.debug_info* ]]
	readelf -lW root/usr/bin/slipway | grep -q GNU_RELRO
	readelf -dW root/usr/bin/slipway | grep -q BIND_NOW
	for field in Package Version Architecture Maintainer Installed-Size Depends Section Priority Description; do
		[ -n "$(dpkg-deb -f "$DEB" "$field")" ]
	done
	[ "$(dpkg-deb -f "$DEB" Maintainer)" = "Release Engineer <release@example.com>" ]
	dpkg-deb -f "$DEB" Description | awk 'length > 80 {exit 1}'
	# Debian Policy, 5.6.20, as dpkg-gencontrol counts: files in whole KiB, anything else as one.
	[ "$(dpkg-deb -f "$DEB" Installed-Size)" = "$(find root/usr -printf '%y %s\n' | awk '{n += $1 == "f" ? int(($2 + 1023) / 1024) : 1} END {print n}')" ]
	# Everything that it needs at run time is among its dependencies, and nothing else is.
	dpkg-deb -f "$DEB" Depends | tr ',' '\n' | sed 's/^ *//; s/ .*//' | grep -v ca-certificates | sort -u >named
	for library in $(readelf -d root/usr/bin/slipway | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		path=$(ldd root/usr/bin/slipway | awk -v l="$library" '$1 == l {print $3}')
		dpkg -S "$path" 2>/dev/null || dpkg -S "$(readlink -f "$path")" || dpkg -S "/usr$path"
	done | sed 's/:.*//' | sort -u | diff - named
}

@test "ship: the package installs into a root of its own, and the tool in it runs" {
	deb
	dpkg-deb -x "$DEB" root
	run root/usr/bin/slipway version
	[ "$status" -eq 0 ]
	[ "$output" = "$("$SLIPWAY" version)" ]
	[ "$EUID" -eq 0 ] || skip "dpkg needs root"
	mkdir -p fresh/var/lib/dpkg/{info,updates}
	: >fresh/var/lib/dpkg/status
	dpkg --root="$WORK/fresh" --force-depends --force-script-chrootless -i "$DEB" >dpkg.out 2>&1 || { cat dpkg.out && false; }
	[ "$(dpkg-query --admindir="$WORK/fresh/var/lib/dpkg" -W -f '${Status}' slipway)" = "install ok installed" ]
	cmp fresh/usr/bin/slipway root/usr/bin/slipway
	dpkg --root="$WORK/fresh" --force-script-chrootless -r slipway >/dev/null 2>&1
	[ ! -e fresh/usr/bin/slipway ]
}

@test "ship: the three lines for CodeBuild are the documents', and install the package" {
	awk '/^install:$/ {on = 1; next} /^```$/ {on = 0} on' "$ROOT/docs/PIPELINE.md" >lines
	[ "$(wc -l <lines)" = 3 ]
	deb
	mkdir bin
	# What is not here: apt's network and the bucket.
	cat >bin/apt-get <<-EOS
		#!/bin/bash
		echo "apt-get \$*" >>$WORK/calls
		for last; do :; done
		[[ \$last != *.deb ]] || dpkg-deb -x "\$last" $WORK/machine
	EOS
	cat >bin/aws <<-EOS
		#!/bin/bash
		[[ "\$1 \$2 \$3" == "s3 cp s3://my-bucket/slipway.deb" ]] && cp "$DEB" "\$4"
	EOS
	chmod +x bin/*
	sed "s/^ *- //; s|/tmp/slipway.deb|$WORK/slipway.deb|g" lines >script
	PATH=$WORK/bin:$PATH bash -eux script
	[ "$(machine/usr/bin/slipway version)" = "$("$SLIPWAY" version)" ]
}

#!/usr/bin/env bats
# Closures above base images as distributions lay them out: /lib64 is a link, and libraries have one home. Every
# image is built, checked, and run by podman, arm64 under qemu.

load lib

setup() {
	common_setup
	need gcc
	need aarch64-linux-gnu-gcc
	# The program needs a library that the bases below do not have.
	printf '#include <stdio.h>\n#include <math.h>\nint main(int c, char **v){(void)v;printf("program %%.0f\\n", sqrt(c * 49.0));return 0;}\n' >program.c
	printf '#include <stdio.h>\nint main(void){puts("base tool");return 0;}\n' >tool.c
	mkdir amd64 arm64
	local arch
	for arch in amd64 arm64; do
		compile "$arch" program.c -o "$arch/program" -lm -Wl,--no-as-needed -latomic
		compile "$arch" tool.c -o "$arch/tool"
	done
}
teardown() { common_teardown; }

compile() {
	local cc=gcc
	[[ $1 == amd64 ]] || cc=aarch64-linux-gnu-gcc
	"$cc" "${@:2}"
}

# facts ARCH: sets triplet, libs (where this machine has the C library) and loader.
facts() {
	case $1 in
	amd64) triplet=x86_64-linux-gnu libs=/lib/$triplet loader=lib64/ld-linux-x86-64.so.2 ;;
	arm64) triplet=aarch64-linux-gnu libs=/usr/$triplet/lib loader=lib/ld-linux-aarch64.so.1 ;;
	esac
}

# merged DIR: an empty root with the links of a merged /usr.
merged() {
	local name
	mkdir -p "$1/usr/bin" "$1/usr/sbin" "$1/usr/lib" "$1/usr/lib64" "$1/etc" "$1/tmp"
	for name in bin sbin lib lib64; do ln -s "usr/$name" "$1/$name"; done
}

# debian DIR ARCH: the C library in its multiarch folder, the loader by a link, as Debian 12 has it.
debian() {
	local home
	facts "$2"
	merged "$1"
	home=$1/usr/lib/$triplet
	mkdir "$home"
	cp -L "$libs/libc.so.6" "$libs/libm.so.6" "$libs/${loader##*/}" "$home/"
	chmod 0755 "$home/${loader##*/}"
	ln -s "/lib/$triplet/${loader##*/}" "$1/$loader"
	install -m 0755 "$2/tool" "$1/usr/bin/tool"
}

# fedora DIR ARCH: libraries in /usr/lib64, whose loader searches there alone, and /usr/sbin merged too.
fedora() {
	facts "$2"
	merged "$1"
	rmdir "$1/usr/sbin"
	ln -s bin "$1/usr/sbin"
	cp -L "$libs/libc.so.6" "$libs/libm.so.6" "$1/usr/lib64/"
	[[ $2 == amd64 ]] || ln -s "../lib64/${loader##*/}" "$1/$loader"
	# A loader has the list of its folders twice: to search them, with lengths that compilers fold into the code, so
	# the new names are made as long by slashes; and for --help, which is where whoever reads the file sees them.
	python3 - "$libs/${loader##*/}" "$1/usr/lib64/${loader##*/}" "$triplet" <<-'END'
		import sys
		data = open(sys.argv[1], "rb").read()
		here = [f"/lib/{sys.argv[3]}/", f"/usr/lib/{sys.argv[3]}/"]
		text = lambda dirs: b"".join(d.encode() + b"\0" for d in dirs)
		help, search = text(["/lib64/", "/usr/lib64/"]), text([d.ljust(len(h), "/") for h, d in zip(here, ["/lib64/", "/usr/lib64/"])])
		parts = data.split(text(here))
		assert len(parts) == 3
		help = help.ljust(len(search), b"\0")
		open(sys.argv[2], "wb").write(parts[0] + search + parts[1] + help + parts[2])
	END
	chmod 0755 "$1/usr/lib64/${loader##*/}"
	install -m 0755 "$2/tool" "$1/usr/bin/tool"
}

# pack_base LAYOUT ARCH: the root of that layout as the image oci:base-LAYOUT-ARCH.
pack_base() {
	"$1" "root-$1-$2" "$2"
	tar -C "root-$1-$2" -cf "root-$1-$2.tar" .
	printf 'apiVersion: slipway/v1\nname: base\nimage:\n  platforms: [linux/%s]\n  cmd: [/usr/bin/tool]\n  layers: [{tar: [%s]}]\n' \
		"$2" "root-$1-$2.tar" >base.yaml
	"$SLIPWAY" build --progress none -f base.yaml -o "base-$1-$2" >/dev/null
}

# pack_program BASE ARCH CLOSURE [ARGS...]: the program above a base, as the image oci:image.
pack_program() {
	printf 'apiVersion: slipway/v1\nname: app\nimage:\n  base: oci:%s\n  platforms: [linux/%s]\n  entrypoint: [/opt/program]\n  layers:\n    - name: app\n      files: [{from: "${arch}/program", to: /opt/program, mode: "0755"}]\n      closure: [%s]\n' \
		"$1" "$2" "$3" >app.yaml
	rm -rf image
	"$SLIPWAY" build --progress none -f app.yaml -o image "${@:4}"
}

# runs ARCH: both the program and the base's own tool start.
runs() {
	containers_needed
	run podman_run --arch "$1" "oci:$WORK/image"
	[[ $output == *"program 7"* ]]
	run podman_run --arch "$1" --entrypoint '["/usr/bin/tool"]' "oci:$WORK/image"
	[[ $output == *"base tool"* ]]
}

# members: the files of the image's last layer, without folders.
members() {
	python3 - <<-'END' | tar -tf - | grep -v '/$'
		import gzip, json, subprocess, sys
		path = lambda digest: "image/blobs/" + digest.replace(":", "/")
		read = lambda digest: json.load(open(path(digest)))
		index = read(json.load(open("image/index.json"))["manifests"][0]["digest"])
		layer = read(index["manifests"][0]["digest"])["layers"][-1]["digest"]
		subprocess.run(["zstd", "-dcq", path(layer)], check=True)
	END
}

# check_base LAYOUT ARCH: both kinds of closure above that base, built, checked and run.
check_base() {
	pack_base "$1" "$2"
	pack_program "base-$1-$2" "$2" '"${arch}/program"'
	members >packed
	run ! grep '^lib' packed
	runs "$2"
	pack_program "base-$1-$2" "$2" '{path: "${arch}/program", on: base}'
	members >packed
	[[ $(grep -c libatomic packed) -ge 1 ]]
	run ! grep -e libc.so -e libm.so -e ld-linux packed
	runs "$2"
}

@test "closure: above a merged-usr base it lands where the base's links lead, and runs" {
	pack_base debian amd64
	pack_program base-debian-amd64 amd64 '"${arch}/program"'
	members >packed
	grep -x usr/lib64/ld-linux-x86-64.so.2 packed
	run ! grep '^lib' packed
	runs amd64
}

@test "closure: 'on: base' packs only what the base lacks, where the base's loader looks" {
	pack_base fedora arm64
	pack_program base-fedora-arm64 arm64 '{path: "${arch}/program", on: base}'
	members >packed
	[ "$(grep -v '^opt/' packed)" = "$(printf 'usr/lib64/libatomic.so.1\nusr/lib64/libatomic.so.1.2.0')" ]
	runs arm64
}

@test "closure: above Debian-like and Fedora-like bases, both platforms, with and without 'on: base'" {
	[ -n "${SLIPWAY_TEST_LONG:-}" ] || skip "a long series"
	local layout arch
	for layout in debian fedora; do
		for arch in amd64 arm64; do check_base "$layout" "$arch"; done
	done
}

# fetch SUITE ARCH DIR PACKAGE...: the packages' files on a merged root, by apt with a state of its own.
fetch() {
	local suite=$1 arch=$2 dir=$3 apt=$WORK/apt-$1-$2 deb
	mkdir -p "$apt/lists/partial" "$apt/debs"
	: >"$apt/status"
	printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian %s main\n' "$suite" >"$apt/list"
	local get=(apt-get -qq -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o APT::Sandbox::User=
		-o Dir::State="$apt" -o Dir::State::status="$apt/status" -o Dir::State::Lists="$apt/lists"
		-o Dir::Etc::sourcelist="$apt/list" -o Dir::Etc::sourceparts=- -o Acquire::Check-Valid-Until=false
		-o Acquire::Languages=none)
	"${get[@]}" update
	(cd "$apt/debs" && "${get[@]}" download "${@:4}")
	merged "$dir"
	for deb in "$apt"/debs/*.deb; do dpkg-deb --fsys-tarfile "$deb" | tar -C "$dir" --keep-directory-symlink -xf -; done
}
# What each root of a release holds, for pack_base: DIR ARCH.
release() { fetch "$1" "$3" "$2" base-files libc6 dash && install -m 0755 "$3/tool" "$2/usr/bin/tool"; }
bookworm() { release bookworm "$@"; }
sid() { release sid "$@"; }

@test "closure: on the C libraries of Debian 12 and of unstable, both platforms" {
	[ -n "${SLIPWAY_TEST_LONG:-}" ] || skip "a long series, from the network"
	local suite arch
	for arch in amd64 arm64; do
		check_base bookworm "$arch"
		pack_base sid "$arch"
		pack_program base-sid-"$arch" "$arch" '{path: "${arch}/program", on: base}'
		runs "$arch"
		# The older C library of this machine would take the place of the newer one.
		run pack_program base-sid-"$arch" "$arch" '"${arch}/program"'
		[[ $output == *"app.yaml:10:17: warning: closure: the packed libc.so.6 replaces a newer one of the base"*"on: base"* ]]
	done
}

@test "closure: a version that the base's C library lacks is an error about the base" {
	pack_base debian amd64
	# The program claims to need GLIBC_2.99: same length, so the file stays whole.
	sed -i 's/GLIBC_2\.34/GLIBC_2.99/g' amd64/program
	run pack_program base-debian-amd64 amd64 '{path: "${arch}/program", on: base}'
	[ "$status" -ne 0 ]
	[[ $output == *"app.yaml:10:17: error: closure: amd64/program needs GLIBC_2.99 of libc.so.6; the base '"*"' has GLIBC_2.3"[0-9]" at most"* ]]
	[[ $output == *"use a newer base"* ]]
}

@test "closure: what was learnt of a base is remembered, and an unchanged build reads none of it" {
	pack_base debian amd64
	pack_program base-debian-amd64 amd64 '{path: "${arch}/program", on: base}' --progress plain 2>first
	grep 'read base layer' first
	cp image/index.json index.json
	pack_program base-debian-amd64 amd64 '{path: "${arch}/program", on: base}' --progress plain 2>second
	run ! grep 'read base layer' second
	cmp index.json image/index.json
	# Another question is answered by the base again, also when its layers stay where they are.
	pack_program base-debian-amd64 amd64 '{path: "${arch}/tool", on: base, plugins: ["/usr/lib/${triplet}/libz.so.1"]}' --progress plain --sparse 2>third
	grep 'read base layer' third
}

@test "closure: plug-ins are packed at their own paths, and the program opens them" {
	printf '#include <iconv.h>\n#include <stdio.h>\nint main(void){puts(iconv_open("UTF-8", "ISO-8859-15") == (iconv_t)-1 ? "no" : "yes");return 0;}\n' |
		gcc -x c - -o amd64/program
	cat >app.yaml <<-'END'
		apiVersion: slipway/v1
		name: app
		image:
		  platforms: [linux/amd64]
		  entrypoint: [/opt/program]
		  layers:
		    - name: app
		      files:
		        - {from: "${arch}/program", to: /opt/program, mode: "0755"}
		        - {from: "/usr/lib/${triplet}/gconv/gconv-modules*", to: "/usr/lib/${triplet}/gconv/"}
		      closure:
		        - {path: "${arch}/pro*", plugins: ["/usr/lib/${triplet}/gconv/ISO8859*.so"]}
	END
	"$SLIPWAY" build --progress none -f app.yaml -o image
	containers_needed
	run podman_run "oci:$WORK/image"
	[[ $output == *yes* ]]
}

@test "closure: a glob that matches nothing is a problem at its place" {
	run pack_program scratch amd64 '{path: "${arch}/prg*", plugins: ["/usr/lib/${triplet}/*.nothing"]}' --set image.base=scratch
	[ "$status" -eq 3 ]
	[[ $output == *"app.yaml:10:17: error: closure: no program matches 'amd64/prg*'"* ]]
	[[ $output == *"app.yaml:10:"*": error: closure: no plug-in matches '/usr/lib/x86_64-linux-gnu/*.nothing'"* ]]
}

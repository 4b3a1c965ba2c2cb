# What the dynamic loader does not find, or cannot bind.
# shellcheck shell=bash

LIBRARIES=/usr/lib/x86_64-linux-gnu

# The files of the image that is being planted; the C library and its loader are in each.
begin() {
	FILES=()
	put "$(readlink -f /lib/x86_64-linux-gnu/libc.so.6)" $LIBRARIES/libc.so.6
	[[ ${1:-} == bare ]] || put "$(readlink -f /lib64/ld-linux-x86-64.so.2)" /lib64/ld-linux-x86-64.so.2
}

# put FILE PATH: packs a file; where PATH ends with /, under its own name.
put() {
	[[ $2 == */ ]] && set -- "$1" "$2$(basename "$1")"
	FILES+=("      - {from: $1, to: $2}")
}

# image [LINE...]: slipway.yaml with the files and further lines below image:.
image() { spec 'entrypoint: [/usr/bin/p]' "$@" 'layers:' '  - files:' "${FILES[@]}"; }

# library NAME SOURCE [ARGS...]: a shared library whose soname is its name.
library() { printf '%s\n' "$2" | gcc -x c - -x none -shared -fPIC -Wl,-soname,"$(basename "$1")" -o "$1" "${@:3}"; }

# program NAME SOURCE [ARGS...]; what it is linked with stands behind it.
program() { printf '%s\n' "$2" | gcc -x c - -x none -o "$1" "${@:3}"; }

# cache NAME PATH: an ld.so.cache that lists one library.
cache() {
	python3 - "$1" "$2" <<-'END'
		import struct, sys
		name, path = (a.encode() + b"\0" for a in sys.argv[1:])
		head = b"glibc-ld.so.cache1.1" + struct.pack("<IIB3xI12x", 1, len(name + path), 2, 0)
		entry = struct.pack("<iIIIQ", 0x303, 72, 72 + len(name), 0, 0)
		open("ld.so.cache", "wb").write(head + entry + name + path)
	END
	put ld.so.cache /etc/
}

FOO='int foo(void) { return 0; }'
CALLS_FOO='int foo(void); int main(void) { return foo(); }'

# foo_and_program [ARGS...]: libfoo.so.1, and p, which needs it.
foo_and_program() {
	library libfoo.so.1 "$FOO"
	program p "$CALLS_FOO" libfoo.so.1 "$@"
	put p /usr/bin/
}

defect library-missing elf-needed error breaks
plant_library_missing() {
	begin
	foo_and_program
	[[ $1 == defect ]] || put libfoo.so.1 $LIBRARIES/
	image
}

defect soname-link-missing elf-needed error breaks
plant_soname_link_missing() {
	begin
	foo_and_program
	mv libfoo.so.1 libfoo.so.1.2
	put libfoo.so.1.2 $LIBRARIES/
	if [[ $1 == twin ]]; then ln -s libfoo.so.1.2 libfoo.so.1 && put libfoo.so.1 $LIBRARIES/; fi
	image
}

# Two programs share libfoo, which needs libbar; only the first says where that is.
second_program() {
	local tags=$1 kind=$2
	begin
	library libbar.so.1 'int bar(void) { return 0; }'
	library libfoo.so.1 'int bar(void); int foo(void) { return bar(); }' -Wl,--no-as-needed libbar.so.1
	program a "$CALLS_FOO" -Wl,--no-as-needed libfoo.so.1 libbar.so.1 "$tags" -Wl,-rpath,/opt/bar
	program p "$CALLS_FOO" libfoo.so.1 -Wl,-rpath-link,. "$tags" ${kind:+-Wl,--no-as-needed} ${kind:+libbar.so.1} ${kind:+-Wl,-rpath,/opt/bar}
	put a /usr/bin/
	put p /usr/bin/
	put libfoo.so.1 $LIBRARIES/
	put libbar.so.1 /opt/bar/
	image
}

defect second-program-without-runpath elf-needed error breaks
plant_second_program_without_runpath() {
	if [[ $1 == defect ]]; then second_program -Wl,--enable-new-dtags ''; else second_program -Wl,--enable-new-dtags yes; fi
}

defect second-program-without-rpath elf-needed error breaks
plant_second_program_without_rpath() {
	if [[ $1 == defect ]]; then second_program -Wl,--disable-new-dtags ''; else second_program -Wl,--disable-new-dtags yes; fi
}

defect runpath-not-inherited elf-needed error breaks
plant_runpath_not_inherited() {
	local tags=-Wl,--enable-new-dtags
	[[ $1 == defect ]] || tags=-Wl,--disable-new-dtags
	begin
	library libbar.so.1 'int bar(void) { return 0; }'
	library libfoo.so.1 'int bar(void); int foo(void) { return bar(); }' libbar.so.1
	program p "$CALLS_FOO" libfoo.so.1 -Wl,-rpath-link,. "$tags" -Wl,-rpath,/opt/lib
	put p /usr/bin/
	put libfoo.so.1 /opt/lib/
	put libbar.so.1 /opt/lib/
	image
}

defect origin-moved elf-needed error breaks
plant_origin_moved() {
	begin
	# shellcheck disable=SC2016 # $ORIGIN is the loader's
	foo_and_program '-Wl,-rpath,$ORIGIN/../lib/app'
	if [[ $1 == defect ]]; then put libfoo.so.1 /usr/app/lib/; else put libfoo.so.1 /usr/lib/app/; fi
	image
}

defect stale-cache elf-needed error breaks
plant_stale_cache() {
	begin
	foo_and_program
	put libfoo.so.1 /opt/lib/
	if [[ $1 == defect ]]; then cache libfoo.so.1 /opt/old/libfoo.so.1; else cache libfoo.so.1 /opt/lib/libfoo.so.1; fi
	image
}

defect conf-without-cache elf-needed error breaks
plant_conf_without_cache() {
	begin
	foo_and_program
	put libfoo.so.1 /opt/lib/
	echo /opt/lib >ld.so.conf
	put ld.so.conf /etc/
	[[ $1 == defect ]] || cache libfoo.so.1 /opt/lib/libfoo.so.1
	image
}

defect folder-not-in-cache elf-needed error breaks
plant_folder_not_in_cache() {
	begin
	foo_and_program
	echo /opt/lib >ld.so.conf
	put ld.so.conf /etc/
	put libfoo.so.1 /opt/lib/
	if [[ $1 == defect ]]; then cache libother.so.1 /opt/lib/libother.so.1; else cache libfoo.so.1 /opt/lib/libfoo.so.1; fi
	image
}

defect library-path-names-nothing elf-needed error breaks
plant_library_path_names_nothing() {
	local dir=/opt/libs
	[[ $1 == defect ]] || dir=/opt/lib
	begin
	foo_and_program
	put libfoo.so.1 /opt/lib/
	image "env: {LD_LIBRARY_PATH: $dir}"
}

defect library-cut-short elf-needed error breaks
plant_library_cut_short() {
	begin
	foo_and_program
	[[ $1 == twin ]] || truncate -s 9000 libfoo.so.1
	put libfoo.so.1 $LIBRARIES/
	image
}

defect library-is-a-text elf-needed error breaks
plant_library_is_a_text() {
	begin
	foo_and_program
	mkdir lib
	if [[ $1 == defect ]]; then echo 'INPUT(libfoo.so.2)' >lib/libfoo.so.1; else cp libfoo.so.1 lib; fi
	put lib/libfoo.so.1 $LIBRARIES/
	image
}

defect library-for-32-bit elf-needed error breaks
plant_library_for_32_bit() {
	begin
	foo_and_program
	[[ $1 == twin ]] || library libfoo.so.1 "$FOO" -m32 -nostdlib
	put libfoo.so.1 $LIBRARIES/
	image
}

# As an arm64 build would leave it: the machine of its header.
defect library-for-arm64 elf-machine error breaks
plant_library_for_arm64() {
	begin
	foo_and_program
	[[ $1 == twin ]] || printf '\267' | dd of=libfoo.so.1 bs=1 seek=18 conv=notrunc status=none
	put libfoo.so.1 $LIBRARIES/
	image
}

defect provided-misspelt elf-needed error
plant_provided_misspelt() {
	local name=libfo.so.1
	[[ $1 == defect ]] || name=libfoo.so.1
	begin
	foo_and_program
	image "check: {provided: [$name]}"
}

defect interpreter-missing elf-interpreter error breaks
plant_interpreter_missing() {
	if [[ $1 == defect ]]; then begin bare; else begin; fi
	program p 'int main(void) { return 0; }'
	put p /usr/bin/
	image
}

defect musl-program-without-musl elf-interpreter error breaks
plant_musl_program_without_musl() {
	local args=()
	[[ $1 == twin ]] || args=("-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1")
	begin
	program p 'int main(void) { return 0; }' "${args[@]}"
	put p /usr/bin/
	image
}

# older KIND NEW OLD PROGRAM [ARGS...]: the program is linked with the new library; the defect ships the old one.
older() {
	local kind=$1 new=$2 old=$3 source=$4 args=("${@:5}")
	begin
	library libfoo.so.1 "$new" "${args[@]}"
	program p "$source" libfoo.so.1 -Wl,-z,lazy
	[[ $kind == twin ]] || library libfoo.so.1 "$old" "${args[@]}"
	put p /usr/bin/
	put libfoo.so.1 $LIBRARIES/
	image
}

defect older-library-without-the-function elf-symbol error breaks
plant_older_library_without_the_function() {
	older "$1" "$FOO" 'int older(void) { return 0; }' "$CALLS_FOO"
}

defect older-library-without-the-data elf-symbol error breaks
plant_older_library_without_the_data() {
	older "$1" 'int level = 0;' 'int older = 0;' 'extern int level; int main(void) { return level; }'
}

defect older-library-without-the-symbol-of-a-version elf-symbol error breaks
plant_older_library_without_the_symbol_of_a_version() {
	echo 'V_1 { foo; older; };' >versions
	older "$1" "$FOO int older(void) { return 0; }" 'int older(void) { return 0; }' "$CALLS_FOO" -Wl,--version-script=versions
}

defect older-library-without-the-version glibc-version error breaks
plant_older_library_without_the_version() {
	begin
	echo 'V_1 { older; }; V_2 { foo; } V_1;' >versions
	library libfoo.so.1 "$FOO int older(void) { return 0; }" -Wl,--version-script=versions
	program p "$CALLS_FOO" libfoo.so.1
	echo 'V_1 { older; foo; };' >versions
	[[ $1 == twin ]] || library libfoo.so.1 "$FOO int older(void) { return 0; }" -Wl,--version-script=versions
	put p /usr/bin/
	put libfoo.so.1 $LIBRARIES/
	image
}

# A library that was built against a newer one than the image has.
defect library-of-another-release elf-symbol error breaks
plant_library_of_another_release() {
	begin
	library libbar.so.1 'int level = 0;'
	library libfoo.so.1 'extern int level; int foo(void) { return level; }' libbar.so.1
	program p "$CALLS_FOO" libfoo.so.1 -Wl,-rpath-link,.
	[[ $1 == twin ]] || library libbar.so.1 'int older = 0;'
	put p /usr/bin/
	put libfoo.so.1 $LIBRARIES/
	put libbar.so.1 $LIBRARIES/
	image
}

# Linked with a C library that is newer than the image's: one that has a version more.
defect glibc-too-old glibc-version error breaks
plant_glibc_too_old() {
	local have=2.99
	[[ $1 == defect ]] || have=2.36
	begin
	echo "GLIBC_$have { arc4random; };" >versions
	library libn.so.6 "unsigned arc4random(void) { return 0; }" -nostdlib -Wl,--version-script=versions
	program p 'unsigned arc4random(void); int main(void) { return arc4random() & 0; }' libn.so.6 -Wl,-z,lazy
	sed -i 's/libn[.]so[.]6/libc.so.6/' p
	put p /usr/bin/
	image
}

defect text-relocations elf-textrel warning
plant_text_relocations() {
	local code='__asm__(".text\n.globl where\nwhere: .quad main\n");'
	[[ $1 == defect ]] || code=
	begin
	program p "$code int main(void) { return 0; }" -Wl,-z,notext
	put p /usr/bin/
	image
}

defect executable-stack elf-exec-stack warning
plant_executable_stack() {
	local args=()
	[[ $1 == twin ]] || args=("-Wl,-z,execstack")
	begin
	program p 'int main(void) { return 0; }' "${args[@]}"
	put p /usr/bin/
	image
}

defect runpath-in-a-build-folder elf-rpath warning
plant_runpath_in_a_build_folder() {
	local args=()
	[[ $1 == twin ]] || args=("-Wl,-rpath,/home/me/project/build/lib")
	begin
	foo_and_program "${args[@]}"
	put libfoo.so.1 $LIBRARIES/
	image
}

defect runpath-relative elf-rpath warning
plant_runpath_relative() {
	begin
	# shellcheck disable=SC2016 # $ORIGIN is the loader's
	if [[ $1 == defect ]]; then foo_and_program -Wl,-rpath,../lib; else foo_and_program '-Wl,-rpath,$ORIGIN/../lib'; fi
	put libfoo.so.1 $LIBRARIES/
	image
}

defect preload-missing ld-preload warning
plant_preload_missing() {
	begin
	foo_and_program
	put libfoo.so.1 $LIBRARIES/
	if [[ $1 == defect ]]; then image 'env: {LD_PRELOAD: /opt/lib/libfoo.so.1}'; else image 'env: {LD_PRELOAD: libfoo.so.1}'; fi
}

defect preload-file-names-nothing ld-preload warning
plant_preload_file_names_nothing() {
	begin
	foo_and_program
	put libfoo.so.1 $LIBRARIES/
	if [[ $1 == defect ]]; then echo /opt/libjemalloc.so.2 >ld.so.preload; else echo libfoo.so.1 >ld.so.preload; fi
	put ld.so.preload /etc/
	image
}

defect isa-above-the-fleet elf-isa warning
plant_isa_above_the_fleet() {
	local level=v4
	[[ $1 == defect ]] || level=v3
	begin
	program p 'int main(void) { return 0; }' -Wl,-z,x86-64-$level
	put p /usr/bin/
	image
	printf '%s\n' 'cluster: {name: sample, region: eu-west-1, zone: eu-west-1a}' 'fleet: {g5: {weight: 10}}' >>slipway.yaml
}

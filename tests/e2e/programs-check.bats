#!/usr/bin/env bats
# Real programs of Debian, from images of their packages: each with all that they depend on, and each with nothing but the
# libraries that its loader names. Every finding is written down here, and each of them is true. Two small programs run
# always, all of them in `make test-long`.

load lib

setup() {
	common_setup
	need apt-get
	need dpkg-deb
	[ "$(uname -m)" = x86_64 ] || skip "not an amd64 machine"
	[ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || skip "without Debian's keyring"
}
teardown() { common_teardown; }

# mirror SUITE: apt with lists and state of its own, for a suite of Debian.
mirror() {
	local state=$WORK/apt-$1
	export APT_CONFIG=$state/conf
	mkdir -p "$state"/{lists/partial,archives/partial,etc/apt.conf.d,etc/preferences.d,debs}
	: >"$state/status"
	printf 'deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian %s main\n' \
		"$1" >"$state/etc/sources.list"
	printf '%s\n' "Dir::Etc \"$state/etc\";" "Dir::State \"$state\";" "Dir::State::status \"$state/status\";" \
		"Dir::Cache \"$state\";" 'APT::Architecture "amd64";' 'APT::Architectures { "amd64"; };' \
		'APT::Install-Recommends "false";' 'Acquire::Check-Valid-Until "false";' 'Acquire::Languages "none";' \
		'APT::Sandbox::User "root";' >"$APT_CONFIG"
	# It ends with 0 when it could not fetch anything.
	apt-get -qq update >apt.log 2>&1 || true
	[ -n "$(apt-cache search --names-only '^libc6$')" ] || skip "Debian's mirror is not reachable"
}

# unpacked SUITE PACKAGE DIR: the package and all that it depends on.
unpacked() {
	local debs=$WORK/apt-$1/debs names
	names=$(apt-get -s install "$2" | sed -n 's/^Inst \([^ ]*\).*/\1/p')
	mkdir -p "$3"
	for name in $names; do
		compgen -G "$debs/${name}_*" >/dev/null || (cd "$debs" && apt-get -qq download "$name")
		dpkg-deb -x "$debs/$name"_*.deb "$3"
	done
}

# checked FILES... : the kinds of findings of an image of these items of `files`, sorted; the report is in the file `report`.
checked() {
	{
		printf 'apiVersion: slipway/v1\nname: sample\nimage:\n  tags: [v1]\n  platforms: [linux/amd64]\n'
		printf '  entrypoint: [%s]\n  layers:\n    - files:\n' "$PROGRAM"
		printf '        - %s\n' "$@"
	} >slipway.yaml
	rm -rf image
	"$SLIPWAY" build --progress none --no-check -o image >building 2>&1 || { cat building >&2 && return 1; }
	"$SLIPWAY" verify oci:image >report 2>&1 || true
	sed -n 's/^\(error\|warning\|note\): .* \[\([a-z-]*\)\]$/\1 \2/p' report | sort -u | paste -sd ,
}

# without_absences TREE: the kinds on standard input but for those that say of a file that it is not there (no
# maintainer script has run, and no alternative was made), after seeing that none of these files is in the tree.
without_absences() {
	python3 - "$1" <<-'EOF' >&2 || return 1
		import os, re, sys
		root = sys.argv[1]
		def inside(path, links=0):
		    """Whether a path leads to something, links followed below root."""
		    at = ""
		    parts = path.strip("/").split("/")
		    while parts:
		        part = parts.pop(0)
		        if part in ("", "."):
		            continue
		        at = os.path.dirname(at) if part == ".." else at + "/" + part
		        if os.path.islink(root + at):
		            links += 1
		            target = os.readlink(root + at)
		            parts = target.split("/") + parts
		            at = "" if target.startswith("/") else os.path.dirname(at)
		            if links > 40:
		                return False
		    return os.path.exists(root + at)
		untrue = []
		for line in open("report"):
		    link = re.search(r"(/\S+): is a symbolic link to '([^']*)', which is not there \[dangling-link\]", line)
		    script = re.search(r"interpreter '([^']*)' is not in the image \[script-interpreter\]", line)
		    if link and inside(link[1]) or script and inside(script[1]):
		        untrue.append(line)
		print("".join(untrue), end="")
		sys.exit(1 if untrue else 0)
	EOF
	tr , '\n' | grep -vE '^(warning|note) (dangling-link|script-interpreter)$' | paste -sd ,
}

# loaded TREE PROGRAM: the program, and what its loader names.
loaded() {
	local tree=$1 dirs
	dirs=$tree/lib/x86_64-linux-gnu:$tree/usr/lib/x86_64-linux-gnu
	printf '%s\n' "$2" /lib64/ld-linux-x86-64.so.2
	"$tree/lib64/ld-linux-x86-64.so.2" --inhibit-cache --library-path "$dirs" --list "$tree$2" | sed -n "s#.* => $tree\(/[^ ]*\) .*#\1#p"
}

# program PACKAGE PATH WHOLE BARE: what is found in an image of the packages, and in one of what the loader names.
program() {
	local PROGRAM=$2 tree=$PWD/tree-$1 items=() path found
	unpacked bookworm "$1" "$tree"
	found=$(checked "{from: $tree/, to: /}")
	found=$(without_absences "$tree" <<<"$found") || { echo "$1: an untrue finding" && return 1; }
	[[ $found == "$3" ]] || { echo "$1: found '$found', wanted '$3'" && cat report && return 1; }
	while read -r path; do items+=("{from: $(realpath "$tree$path"), to: $path}"); done < <(loaded "$tree" "$2")
	found=$(checked "${items[@]}")
	[[ $found == "$4" ]] || { echo "$1, bare: found '$found', wanted '$4'" && cat report && return 1; }
	rm -rf "$tree"
}

NS='warning name-service'
CA='warning ca-certificates'

@test "programs: two small programs of Debian show only true findings" {
	mirror bookworm
	program ripgrep /usr/bin/rg "$NS" "$NS"
	program sqlite3 /usr/bin/sqlite3 "note terminfo,$NS" "note terminfo,$NS"
}

@test "programs: fourteen programs of Debian show only true findings" {
	[ -n "${SLIPWAY_TEST_LONG:-}" ] || skip "downloads 200 packages: in the long run alone"
	local postgres=/usr/lib/postgresql/15/bin/postgres
	mirror bookworm
	program nginx /usr/sbin/nginx "note ca-certificates,warning elf-needed,$NS" "note ca-certificates,$NS"
	program redis-server /usr/bin/redis-check-rdb "$CA,$NS" "note ca-certificates"
	program postgresql-15 $postgres "note terminfo,$CA,$NS" "error program-data,note ca-certificates,$NS,warning program-data"
	program git /usr/bin/git "$CA,$NS" "$NS,warning program-data"
	program python3 /usr/bin/python3.11 "$CA,$NS" "error interpreter-library,warning interpreter-library,$NS"
	program nodejs /usr/bin/node "$CA,$NS" "error interpreter-library,$CA,$NS"
	program sqlite3 /usr/bin/sqlite3 "note terminfo,$NS" "note terminfo,$NS"
	program curl /usr/bin/curl "$CA,$NS" "$CA,$NS"
	program ninja-build /usr/bin/ninja "" ""
	program gron /usr/bin/gron "" ""
	program ripgrep /usr/bin/rg "$NS" "$NS"
	program perl /usr/bin/perl "$NS" "warning interpreter-library,$NS"
	program imagemagick /usr/bin/convert-im6.q16 "$NS" "warning program-data"
	program openmpi-bin /usr/bin/orterun "note terminfo,warning elf-needed,warning elf-rpath,$NS" "error program-data"
	program mpich /usr/bin/mpiexec.hydra "$NS,warning terminfo" "warning program-data"
}

# bootstrapped SUITE: a root file system in ./root. A mirror that does not answer is a reason to skip; whatever else
# debootstrap fails for is told, with its last words.
bootstrapped() {
	local mirror=http://deb.debian.org/debian
	debootstrap --variant=minbase "$1" "$PWD/root" "$mirror" >log 2>&1 && return
	curl -sSf --retry 2 --max-time 20 "$mirror/dists/$1/InRelease" -o /dev/null 2>reached ||
		skip "Debian's mirror is not reachable: $(tail -n 1 reached)"
	echo "debootstrap of $1 failed, and the mirror answers:"
	tail -n 20 log
	[ ! -e root/debootstrap/debootstrap.log ] || tail -n 20 root/debootstrap/debootstrap.log
	return 1
}

@test "programs: Debian's root file systems show only true findings" {
	local suite PROGRAM=/bin/sh found
	[ -n "${SLIPWAY_TEST_LONG:-}" ] || skip "makes three root file systems: in the long run alone"
	[ "$EUID" -eq 0 ] || skip "debootstrap needs root"
	need debootstrap
	for suite in bookworm trixie sid; do
		bootstrapped "$suite"
		rm -rf root/dev root/proc root/sys
		# The https of apt is without authorities until ca-certificates is installed.
		found=$(checked "{from: $PWD/root/, to: /}")
		[[ $found == "$CA" ]] || { echo "$suite: found '$found'" && cat report && return 1; }
		rm -rf root
	done
}

@test "programs: what trixie's libsystemd says that it loads is missed where it is not there" {
	[ -n "${SLIPWAY_TEST_LONG:-}" ] || skip "downloads packages: in the long run alone"
	need gcc
	mirror trixie
	local PROGRAM=/usr/bin/p lib=usr/lib/x86_64-linux-gnu items=() path found
	unpacked trixie libsystemd0 "$PWD/tree"
	unpacked trixie libzstd1 "$PWD/tree"
	echo 'int sd_notify(int, const char *); int main(void) { return sd_notify(0, "READY=1"); }' |
		gcc -x c - -x none -o p tree/$lib/libsystemd.so.0 -Wl,--allow-shlib-undefined
	for path in $lib/libsystemd.so.0 $lib/libcap.so.2 $lib/libc.so.6 $lib/libm.so.6; do
		items+=("{from: $(realpath "tree/$path"), to: /$path}")
	done
	items+=("{from: $(realpath tree/$lib/ld-linux-x86-64.so.2), to: /lib64/ld-linux-x86-64.so.2}" "{from: p, to: /usr/bin/p}")
	found=$(checked "${items[@]}")
	[ "$found" = "warning elf-dlopen" ]
	grep -q "'libzstd.so.1' (recommended for zstd: " report
	found=$(checked "${items[@]}" "{from: $(realpath tree/$lib/libzstd.so.1), to: /$lib/libzstd.so.1}")
	[ -z "$found" ]
}

#!/bin/sh
# Installs slipway's release below a folder, or removes it. What is installed was verified first: by the checksums, and
# these by their signature where openssl is there. It asks for no password and changes nothing outside the folder.
#
# usage: install.sh [--prefix DIR] [--version VERSION] [--url URL] [--uninstall]
#
#   --prefix DIR       where to (default: /usr/local as root, else ~/.local); DIR/bin/slipway is what is called
#   --version VERSION  which release (default: the newest)
#   --url URL          where releases live (default: where this script came from)
#   --uninstall        removes what this script has put below DIR
#
# curl or wget, tar, gzip and sha256sum are used.
set -eu

URL='@RELEASE_URL@'
# The key that signs releases, in PEM; empty where they are not signed.
KEY='@RELEASE_KEY@'

say() { printf 'slipway: %s\n' "$*" >&2; }
die() {
	say "error: $1"
	[ $# -lt 2 ] || printf '  hint: %s\n' "$2" >&2
	exit 1
}

fetch() { # URL FILE
	if command -v curl >/dev/null 2>&1; then
		curl -fsSL --proto '=https,http' --retry 3 --max-time 600 -o "$2" "$1"
	elif command -v wget >/dev/null 2>&1; then
		wget -q -T 60 -O "$2" "$1"
	else
		die "neither curl nor wget is installed" "install one of them"
	fi || die "cannot get '$1'" "check the address, and the network"
}

arch() {
	[ "$(uname -s)" = Linux ] || die "slipway runs on Linux; this is $(uname -s)" \
		"run its image with a container engine, or a Linux in a virtual machine"
	case $(uname -m) in
	x86_64 | amd64) echo amd64 ;;
	aarch64 | arm64) echo arm64 ;;
	*) die "there is no release for $(uname -m)" "build it from source: make tool" ;;
	esac
}

# The line of a file in the checksums, checked.
check_sum() { # FILE NAME SUMS
	want=$(awk -v name="$2" '$2 == name || $2 == "*" name {print $1}' "$3")
	case $want in
	*[!0-9a-f]* | '') die "SHA256SUMS has no checksum of $2" "the release is not whole: tell whoever published it" ;;
	esac
	have=$(sha256sum "$1" | awk '{print $1}')
	[ "$want" = "$have" ] || die "$2 is not what SHA256SUMS says: $have, not $want" \
		"try again; if it stays so, somebody has changed it"
}

check_signature() { # SUMS SIGNATURE_URL
	[ -n "$KEY" ] || return 0
	if ! command -v openssl >/dev/null 2>&1; then
		say "note: openssl is not installed, so the checksums' signature was not checked"
		return 0
	fi
	fetch "$2" "$work/SHA256SUMS.sig"
	printf '%s\n' "$KEY" >"$work/key.pem"
	openssl dgst -sha256 -verify "$work/key.pem" -signature "$work/SHA256SUMS.sig" "$1" >/dev/null 2>&1 ||
		die "the signature of SHA256SUMS is not valid" "do not use this release, and tell whoever published it"
}

# Is the link ours to replace or remove?
ours() {
	[ -L "$1" ] || return 1
	case $(readlink "$1") in
	*/slipway-*-linux-*) return 0 ;;
	esac
	return 1
}

# What lies below share/ is linked from where shells and man look.
SHARED='share/bash-completion/completions/slipway share/zsh/site-functions/_slipway share/fish/vendor_completions.d/slipway.fish'

link() { # PATH BELOW_PREFIX RELATIVE_TO_IT
	[ ! -e "$prefix/$1" ] || ours "$prefix/$1" || die "'$prefix/$1' is there and not by this script" \
		"remove it, or choose another --prefix"
	mkdir -p "$(dirname "$prefix/$1")"
	ln -s "$2" "$prefix/$1.new.$$"
	mv -f "$prefix/$1.new.$$" "$prefix/$1"
}

up() { # PATH: as many "../" as it has folders
	printf '%s' "$1" | sed 's|[^/]*/|../|g; s|[^/]*$||'
}

install_release() {
	[ -n "$URL" ] || die "it is not known where releases live" "name the place: --url https://HOST/PATH"
	URL=${URL%/}
	arch=$(arch)
	if [ -z "$version" ]; then
		fetch "$URL/latest" "$work/latest"
		version=$(head -n 1 "$work/latest")
	fi
	case $version in
	'' | *[!0-9.]*) die "'$version' is not a version" "write it as 1.2.3" ;;
	esac
	name=slipway-$version-linux-$arch
	if ! mkdir -p "$prefix/lib" "$prefix/bin" 2>/dev/null || ! [ -w "$prefix/lib" ] || ! [ -w "$prefix/bin" ]; then
		die "'$prefix' cannot be written" "choose a folder of yours: --prefix ~/.local"
	fi
	[ ! -e "$prefix/bin/slipway" ] || ours "$prefix/bin/slipway" ||
		die "'$prefix/bin/slipway' is there and not by this script" "remove it, or choose another --prefix"
	fetch "$URL/$version/SHA256SUMS" "$work/SHA256SUMS"
	check_signature "$work/SHA256SUMS" "$URL/$version/SHA256SUMS.sig"
	fetch "$URL/$version/$name.tar.gz" "$work/$name.tar.gz"
	check_sum "$work/$name.tar.gz" "$name.tar.gz" "$work/SHA256SUMS"
	mkdir "$work/files"
	tar -xzf "$work/$name.tar.gz" -C "$work/files"
	"$work/files/$name/bin/slipway" version >/dev/null || die "slipway does not start on this machine"
	place "$name"
}

# The new version is whole before anything points at it.
place() { # NAME
	[ ! -d "$prefix/lib/$1" ] || mv "$prefix/lib/$1" "$work/former"
	cp -R "$work/files/$1" "$prefix/lib/$1.new.$$"
	mv "$prefix/lib/$1.new.$$" "$prefix/lib/$1"
	for path in bin/slipway $SHARED; do link "$path" "$(up "$path")lib/$1/$path"; done
	for page in "$prefix/lib/$1"/share/man/man1/*.1; do
		path=share/man/man1/$(basename "$page")
		link "$path" "$(up "$path")lib/$1/$path"
	done
	for former in "$prefix"/lib/slipway-*-linux-*; do
		[ "$former" = "$prefix/lib/$1" ] || rm -rf "$former"
	done
	say "installed $prefix/bin/slipway ($1)"
	case :$PATH: in
	*:"$prefix/bin":*) ;;
	*) say "note: $prefix/bin is not in PATH" ;;
	esac
}

uninstall() {
	[ -e "$prefix/bin/slipway" ] || die "there is no slipway in '$prefix'" "name the folder: --prefix DIR"
	ours "$prefix/bin/slipway" || die "'$prefix/bin/slipway' is not by this script" "remove it as it was installed"
	for path in bin/slipway $SHARED; do ! ours "$prefix/$path" || rm -f "$prefix/$path"; done
	for page in "$prefix"/share/man/man1/slipway*.1; do ! ours "$page" || rm -f "$page"; done
	rm -rf "$prefix"/lib/slipway-*-linux-*
	say "removed slipway from $prefix"
}

# All is read before anything is done: a script cut on its way here does nothing.
main() {
	if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=${HOME:-}/.local; fi
	version='' remove=''
	while [ $# -gt 0 ]; do
		case $1 in
		--prefix | --version | --url) [ $# -ge 2 ] || die "option $1 needs a value" ;;
		esac
		case $1 in
		--prefix) prefix=$2 && shift ;;
		--version) version=$2 && shift ;;
		--url) URL=$2 && shift ;;
		--uninstall) remove=yes ;;
		-h | --help)
			printf 'usage: install.sh [--prefix DIR] [--version VERSION] [--url URL] [--uninstall]\n'
			exit 0
			;;
		*) die "unknown option '$1'" "install.sh --help lists them" ;;
		esac
		shift
	done
	case $prefix in
	/*) ;;
	*) prefix=$(pwd)/$prefix ;;
	esac
	work=$(mktemp -d)
	trap 'rm -rf "$work" "$prefix"/lib/slipway-*.new.$$' EXIT
	trap 'exit 130' INT TERM HUP
	if [ -n "$remove" ]; then uninstall; else install_release; fi
}

main "$@"

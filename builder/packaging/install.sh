#!/bin/sh
# Installs slipway's release below a folder, or removes it. What is installed was verified first: by the checksums, and
# these by their signature where openssl is there. It asks for no password and changes nothing outside the folder. Whenever
# it ends, by a kill too, the program in the folder is the one that was there or the new one.
#
# usage: install.sh [--prefix DIR] [--version VERSION] [--url URL] [--uninstall]
#
#   --prefix DIR       where to (default: /usr/local as root, else ~/.local); DIR/bin/slipway is what is called
#   --version VERSION  which release (default: the newest)
#   --url URL          where releases live (default: where this script came from)
#   --uninstall        removes what this script has put below DIR
#
# curl or wget, awk, gzip, sed, sha256sum and tar are used.
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

# ---- getting it ----

# What begins with TLS stays with TLS, wherever it is sent on to.
fetch() { # URL FILE
	case $1 in
	https://*) only=https ;;
	*) only=http,https ;;
	esac
	if command -v curl >/dev/null 2>&1; then
		curl -fsSL --proto "=$only" --retry 3 --max-time 600 -o "$2" "$1" 2>"$work/said" || not_fetched "$1"
	elif command -v wget >/dev/null 2>&1; then
		wget -S -t 3 -O "$2" "$1" 2>"$work/said" || not_fetched "$1"
		wget_stayed "$1"
	else
		die "neither curl nor wget is installed" "install one of them"
	fi
}

not_fetched() { # URL
	tail -n 3 "$work/said" | sed 's/^/  /' >&2
	if grep -qiE 'certificate|CAfile|SSL' "$work/said"; then
		die "cannot get '$1'" "is ca-certificates installed, and does it know who signed the server's certificate?"
	fi
	die "cannot get '$1'" "check the address, and the network"
}

# wget follows to wherever it is sent, and some never look at a certificate.
wget_stayed() { # URL
	case $1 in
	https://*) ;;
	*) return 0 ;;
	esac
	if grep -qi '^ *location: *http:' "$work/said"; then
		die "'$1' leads away from https" "use an address that stays there"
	fi
	if grep -qi 'certificate validation not implemented' "$work/said"; then
		die "this machine's wget does not check who it talks to" "install curl"
	fi
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

# ---- is it what was released? ----

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

# Checksums that nobody signed are worth as much as the way that they came by: TLS, or no network at all.
check_way() {
	case $URL/ in
	https://* | http://localhost[:/]* | http://127.0.0.1[:/]* | http://\[::1\][:/]*) ;;
	*) die "nothing says that what comes from '$URL' is the release: no TLS, no signature that was checked" \
		"use an https:// address; or a release that is signed, and install openssl" ;;
	esac
}

check_signature() { # SUMS SIGNATURE_URL
	if [ -n "$KEY" ] && ! command -v openssl >/dev/null 2>&1; then
		say "note: openssl is not installed, so the checksums' signature was not checked"
	elif [ -n "$KEY" ]; then
		fetch "$2" "$work/SHA256SUMS.sig"
		printf '%s\n' "$KEY" >"$work/key.pem"
		openssl dgst -sha256 -verify "$work/key.pem" -signature "$work/SHA256SUMS.sig" "$1" >/dev/null 2>&1 ||
			die "the signature of SHA256SUMS is not valid" "do not use this release, and tell whoever published it"
		return 0
	fi
	check_way
}

# ---- which one ----

older() { # A B: is the version A older than B?
	awk -v a="$1" -v b="$2" 'BEGIN {
		n = split(a, x, "."); m = split(b, y, ".")
		for (i = 1; i <= n || i <= m; i++) if (x[i] + 0 != y[i] + 0) exit !(x[i] + 0 < y[i] + 0)
		exit 1
	}'
}

# What is newest is said by a file that nobody signs: it can bring no older program.
newest() {
	fetch "$URL/latest" "$work/latest"
	version=$(head -n 1 "$work/latest")
	is_version
	installed=$(readlink "$prefix/bin/slipway" 2>/dev/null | sed -n 's|.*/slipway-\([0-9.]*\)-linux-.*|\1|p')
	[ -z "$installed" ] || ! older "$version" "$installed" ||
		die "slipway $installed is installed, and the newest release there is $version" \
			"--version $version installs it all the same"
}

is_version() {
	case $version in
	'' | *[!0-9.]* | .* | *. | *..*) die "'$version' is not a version" "write it as 1.2.3" ;;
	esac
}

# ---- putting it there ----

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

# A link beside the one that it will replace.
stage() { # PATH BELOW_PREFIX RELATIVE_TO_IT
	if [ -e "$prefix/$1" ] && ! ours "$prefix/$1"; then
		die "'$prefix/$1' is there and not by this script" "remove it, or choose another --prefix"
	fi
	if ! mkdir -p "$(dirname "$prefix/$1")" || ! ln -s "$2" "$prefix/$1.new.$$"; then cannot_write; fi
	printf '%s\n' "$1" >>"$work/staged"
}

nearest() { # PATH: it, or the first folder above it that is there
	at=$1
	while [ ! -e "$at" ]; do at=$(dirname "$at"); done
	printf '%s' "$at"
}

cannot_write() { die "'$prefix' cannot be written" "choose a folder of yours, as --prefix ~/.local, with room for it"; }

up() { # PATH: as many "../" as it has folders
	printf '%s' "$1" | sed 's|[^/]*/|../|g; s|[^/]*$||'
}

# The name of the new folder: not that of the one in use, if it is the same version.
folder() { # NAME
	case $(readlink "$prefix/bin/slipway" 2>/dev/null) in
	*"/lib/$1/"*) echo "$1.again" ;;
	*) echo "$1" ;;
	esac
}

install_release() {
	[ -n "$URL" ] || die "it is not known where releases live" "name the place: --url https://HOST/PATH"
	URL=${URL%/}
	arch=$(arch)
	if [ -z "$version" ]; then newest; fi
	is_version
	name=slipway-$version-linux-$arch
	[ ! -e "$prefix/bin/slipway" ] || ours "$prefix/bin/slipway" ||
		die "'$prefix/bin/slipway' is there and not by this script" "remove it, or choose another --prefix"
	for path in bin lib; do [ -w "$(nearest "$prefix/$path")" ] || cannot_write; done
	fetch "$URL/$version/SHA256SUMS" "$work/SHA256SUMS"
	check_signature "$work/SHA256SUMS" "$URL/$version/SHA256SUMS.sig"
	fetch "$URL/$version/$name.tar.gz" "$work/$name.tar.gz"
	check_sum "$work/$name.tar.gz" "$name.tar.gz" "$work/SHA256SUMS"
	place "$name"
}

# The new version is whole, started once, and all links to it are made before the first takes its place: bin/slipway. What it
# replaces goes last.
place() { # NAME
	dir=$(folder "$1")
	mkdir -p "$new" 2>/dev/null || cannot_write
	tar -xzf "$work/$1.tar.gz" -C "$new" || cannot_write
	"$new/$1/bin/slipway" version >/dev/null || die "slipway does not start on this machine"
	for path in bin/slipway $SHARED; do stage "$path" "$(up "$path")lib/$dir/$path"; done
	for page in "$new/$1"/share/man/man1/*.1; do
		path=share/man/man1/${page##*/}
		stage "$path" "$(up "$path")lib/$dir/$path"
	done
	rm -rf "${prefix:?}/lib/$dir"
	mv "$new/$1" "$prefix/lib/$dir"
	while read -r path; do mv -f "$prefix/$path.new.$$" "$prefix/$path"; done <"$work/staged"
	sweep "$dir"
	say "installed $prefix/bin/slipway ($1)"
	case :$PATH: in
	*:"$prefix/bin":*) ;;
	*) say "note: $prefix/bin is not in PATH" ;;
	esac
}

stays() { # LINK FOLDER: does it lead there, and has it its own name?
	case $1 in
	*.new.*) return 1 ;;
	esac
	case $(readlink "$1") in
	*"/lib/$2/"*) return 0 ;;
	esac
	return 1
}

# All that is ours but one folder and what leads there: other versions, and what an interrupted run has left of one.
sweep() { # FOLDER_TO_KEEP, or nothing
	for path in bin/slipway $SHARED share/man/man1/slipway; do
		for link in "$prefix/$path"*; do
			if ours "$link" && ! stays "$link" "$1"; then rm -f "$link"; fi
		done
	done
	for former in "$prefix"/lib/slipway-*-linux-* "$prefix"/lib/slipway-new.*; do
		[ "$former" = "$prefix/lib/$1" ] || rm -rf "$former"
	done
}

uninstall() {
	if [ -e "$prefix/bin/slipway" ] && ! ours "$prefix/bin/slipway"; then
		die "'$prefix/bin/slipway' is not by this script" "remove it as it was installed"
	fi
	for found in "$prefix/bin/slipway" "$prefix"/lib/slipway-*-linux-*; do
		if [ -e "$found" ] || [ -L "$found" ]; then
			sweep ''
			say "removed slipway from $prefix"
			return 0
		fi
	done
	die "there is no slipway in '$prefix'" "name the folder: --prefix DIR"
}

leave() {
	[ ! -e "$work/staged" ] || while read -r path; do rm -f "$prefix/$path.new.$$"; done <"$work/staged"
	rm -rf "$work" "$new"
}

# All is read before anything is done: a script cut on its way here does nothing.
main() {
	if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=${HOME:+$HOME/.local}; fi
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
	'') die "there is no home folder to install into" "name a folder: --prefix DIR" ;;
	*) prefix=$(pwd)/$prefix ;;
	esac
	for program in awk gzip sed sha256sum tar; do
		command -v "$program" >/dev/null 2>&1 || die "'$program' is not installed" "install it, and start again"
	done
	# What root installs is for everybody.
	umask 022
	work=$(mktemp -d) new=$prefix/lib/slipway-new.$$
	trap leave EXIT
	trap 'exit 130' INT TERM HUP
	if [ -n "$remove" ]; then uninstall; else install_release; fi
}

main "$@"

#!/usr/bin/env bats
# The installer and the setup action against what goes wrong on the way and on the machine: the program that is there
# afterwards is the former one or the new one, whole.

load lib
load releases

setup_file() { make_releases; }
setup() {
	common_setup
	unset CURL_CA_BUNDLE AWS_CA_BUNDLE SSL_CERT_FILE SSL_CERT_DIR
}
teardown() { common_teardown; }

# refused TEXT COMMAND...: it fails and says this; the folder is as it was.
refused() {
	local text=$1 before
	shift
	before=$(state_of prefix)
	run "$@"
	echo "$output"
	[ "$status" -ne 0 ] && [[ $output == *"$text"* ]] && [ "$(state_of prefix)" = "$before" ]
}

# state_of DIR: all names, links and bytes below it.
state_of() {
	[ -e "$1" ] || return 0
	find "$1" -printf '%y %m %P %l\n' | sort
	find "$1" -type f -exec sha256sum {} + | sort
}

# one_program [FOLDER]: it runs, all links lead somewhere, and nothing else is there.
one_program() {
	prefix/bin/slipway version >/dev/null
	[ "$(readlink prefix/bin/slipway)" = "../lib/${1:-$NAME}/bin/slipway" ]
	[ "$(ls prefix/lib)" = "${1:-$NAME}" ]
	[ -z "$(find prefix -xtype l)" ]
	[ -z "$(find prefix -name '*.new*')" ]
}

# shellcheck disable=SC2153 # make_releases sets it
# release_again VERSION: the same program as a release of this version.
release_again() {
	local name=slipway-$1-linux-$ARCH
	rm -rf again
	mkdir -p "served/$1" again
	tar -xzf "$RELEASES/$VERSION/$NAME.tar.gz" -C again --transform "s|^$NAME|$name|"
	tar -C again -I 'gzip -1' -cf "served/$1/$name.tar.gz" "$name"
	(cd "served/$1" && sha256sum -- *.tar.gz >SHA256SUMS)
	echo "$1" >served/latest
}

# with PROGRAM COMMAND...: on a machine that has what the installer says that it uses, this one to fetch with, and no other.
with() {
	local program
	rm -rf machine && mkdir machine
	for program in sh awk basename cat cp dirname grep gzip head id ln mkdir mktemp mv readlink rm sed sha256sum tar timeout uname openssl; do
		ln -s "$(command -v "$program")" machine/
	done
	if [ "$1" = busybox ]; then
		printf '#!/bin/sh\nexec %s wget "$@"\n' "$(command -v busybox)" >machine/wget
		chmod +x machine/wget
	else
		ln -s "$(command -v "$1")" "machine/$1"
	fi
	shift
	PATH=$PWD/machine "$@"
}

# clients: those of curl, wget and busybox's wget that are here.
clients() {
	local client
	for client in curl wget busybox; do ! command -v "$client" >/dev/null || echo "$client"; done
}

@test "installer: it installs, replaces and removes with curl, with wget and in busybox, and leaves nothing behind" {
	serve
	for client in $(clients); do
		shell=(sh)
		[ "$client" != busybox ] || shell=("$(command -v busybox)" sh)
		with "$client" "${shell[@]}" served/install.sh --url "$URL" --prefix "$PWD/prefix"
		one_program
		[ -e prefix/share/man/man1/slipway.1 ]
		[ -s prefix/share/bash-completion/completions/slipway ]
		install_sh # again, beside the one in use
		one_program "$NAME.again"
		install_sh
		one_program
		install_sh --uninstall
		[ -z "$(find prefix -not -type d)" ]
		refused "there is no slipway" install_sh --uninstall
	done
	for wrong in ../etc .. 1..2 .1 1. x; do refused "is not a version" install_sh --version "$wrong"; done
}

@test "installer: changed bytes and signatures that are bad or not there are refused, and what is not its own is left alone" {
	serve
	install_sh --version "$VERSION"
	printf x >>"served/$VERSION/$NAME.tar.gz"
	refused "is not what SHA256SUMS says" install_sh
	(cd "served/$VERSION" && sha256sum -- *.tar.gz >SHA256SUMS)
	cp "$RELEASES/$VERSION/SHA256SUMS" was
	signed
	cp was "served/$VERSION/SHA256SUMS"
	refused "the signature of SHA256SUMS is not valid" install_sh
	mv "served/$VERSION/SHA256SUMS.sig" sig
	refused "cannot get '$URL/$VERSION/SHA256SUMS.sig'" install_sh
	cp "$RELEASES/$VERSION/$NAME.tar.gz" "served/$VERSION/"
	signed
	install_sh
	one_program "$NAME.again"
	printf '' >"served/$VERSION/SHA256SUMS"
	signed
	refused "SHA256SUMS has no checksum of $NAME.tar.gz" install_sh
	rm prefix/bin/slipway
	echo mine >prefix/bin/slipway
	refused "not by this script" install_sh
	refused "not by this script" install_sh --uninstall
}

@test "installer: another's completion script in the way is found before anything is changed" {
	serve
	mkdir -p prefix/share/fish/vendor_completions.d
	echo mine >prefix/share/fish/vendor_completions.d/slipway.fish
	run install_sh
	[ "$status" -ne 0 ]
	[[ $output == *"slipway.fish' is there and not by this script"* ]]
	[ "$(find prefix -not -type d)" = prefix/share/fish/vendor_completions.d/slipway.fish ]
}

@test "installer: a download that breaks off at any place changes nothing, and half of the script does nothing" {
	serve
	install_sh
	for client in $(clients); do
		for file in latest "$VERSION/SHA256SUMS" "$VERSION/$NAME.tar.gz"; do
			for bytes in 0 $(($(stat -c %s "served/$file") / 2)); do
				echo "$bytes" >"served/$file.cut"
				refused "cannot get '$URL/$file'" with "$client" timeout 60 sh served/install.sh --url "$URL" --prefix "$PWD/prefix"
			done
			rm "served/$file.cut"
		done
	done
	# `curl | sh`, cut off: no part of it is more than definitions.
	size=$(stat -c %s served/install.sh)
	for ((bytes = 1; bytes < size; bytes += 601)); do
		head -c "$bytes" served/install.sh | sh -s -- --url "$URL" --prefix "$PWD/other" >/dev/null 2>&1 || true
		[ ! -e other ]
	done
	sh -s -- --url "$URL" --prefix "$PWD/other" <served/install.sh
	other/bin/slipway version
}

@test "installer: what begins with TLS stays with TLS, and a server whose authority nobody knows is not asked" {
	make_certificate
	serve
	plain=$URL
	serve tls
	for client in curl wget; do
		command -v $client >/dev/null || continue
		printf 'ca_certificate = %s\n' "$PWD/ca.pem" >"$HOME/.wgetrc"
		rm -rf prefix
		CURL_CA_BUNDLE=$PWD/ca.pem with $client install_sh
		one_program
		for file in latest "$VERSION/SHA256SUMS" "$VERSION/$NAME.tar.gz"; do
			echo "$plain/$file" >"served/$file.elsewhere"
			CURL_CA_BUNDLE=$PWD/ca.pem refused "$URL/$file'" with $client install_sh
			rm "served/$file.elsewhere"
		done
		# From there to another place of the kind it follows.
		cp served/latest served/moved
		echo "$URL/moved" >served/latest.elsewhere
		CURL_CA_BUNDLE=$PWD/ca.pem with $client install_sh
		one_program "$NAME.again"
		rm served/latest.elsewhere
		: >"$HOME/.wgetrc"
		CURL_CA_BUNDLE=/dev/null refused "is ca-certificates installed" with $client install_sh
	done
	# Debian's busybox has no authorities at all.
	! command -v busybox >/dev/null || refused "$URL" with busybox install_sh
}

@test "installer: without TLS and without a signature it takes a release from this machine alone" {
	serve plain 127.0.0.2
	refused "nothing says that what comes from '$URL' is the release" install_sh
	signed
	install_sh
	one_program
	# The signature counts only where it can be checked.
	without_openssl() { rm machine/openssl && install_sh; }
	refused "openssl is not installed" with curl without_openssl
}

@test "installer: the newest release there is brings no older program, unless it is named" {
	serve
	release_again 99.1
	install_sh
	one_program "slipway-99.1-linux-$ARCH"
	echo "$VERSION" >served/latest
	refused "slipway 99.1 is installed, and the newest release there is $VERSION" install_sh
	for newer in 99.1.0 99.1.0.1 99.10 100; do
		release_again "$newer"
		install_sh
		one_program "slipway-$newer-linux-$ARCH"
	done
	install_sh --version "$VERSION"
	one_program
}

@test "installer: a folder that cannot be written, a full one, and a temporary folder that runs nothing" {
	[ "$EUID" -eq 0 ] || skip "mounting needs root"
	unshare -m true 2>/dev/null || skip "no mount namespaces here"
	serve
	install_sh
	# mounted COMMANDS ARG...: the installer after these commands, in a mount namespace of its own.
	mounted() {
		local commands=$1
		shift
		unshare -m sh -c "mount --make-rprivate / && $commands && sh served/install.sh --url '$URL' \"\$@\"" sh "$@"
	}
	refused "'$PWD/prefix' cannot be written" mounted 'mount --bind prefix prefix && mount -o remount,bind,ro prefix' --prefix "$PWD/prefix"
	mkdir small
	refused "'$PWD/small' cannot be written" mounted 'mount -t tmpfs -o size=4m none small && trap "find small -type f" EXIT' --prefix "$PWD/small"
	[[ $output == *"No space left on device"* && $output != *small/lib* ]]
	mounted "mount -t tmpfs -o noexec none small && umask 077 && export TMPDIR='$PWD/small'" --prefix "$PWD/prefix"
	one_program "$NAME.again"
	# Whatever the umask, what root installs is for everybody.
	[ -z "$(find prefix -type d -not -perm -055 -o -type f -not -perm -044)" ]
}

# cut_off MILLISECONDS ARG...: the installer and all that it has started are killed after this time, as by a power cut.
cut_off() {
	local after pid
	after=$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))
	shift
	setsid sh served/install.sh --url "$URL" --prefix "$PWD/prefix" "$@" 2>/dev/null 3>&- &
	pid=$!
	sleep "$after"
	kill -9 -- "-$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
}

@test "installer: killed at any instant it leaves the former program or the new one, and the next run cleans up" {
	serve
	install_sh
	former=$NAME
	release_again 99.1
	release_again 99.2
	for ((i = 0; i < $(series 100); i++)); do
		new=99.$((i % 2 + 1))
		cut_off $((i * 37 % 800)) --version $new
		prefix/bin/slipway version >/dev/null
		case $(readlink prefix/bin/slipway) in
		"../lib/$former/bin/slipway" | "../lib/slipway-$new-linux-$ARCH/bin/slipway") ;;
		*) return 1 ;;
		esac
		# What is half unpacked or half removed below lib/ is nobody's yet, or no longer.
		[ -z "$(find prefix/bin prefix/share -xtype l -not -name '*.new.*')" ]
		install_sh --version $new
		former=slipway-$new-linux-$ARCH
		one_program "$former"
	done
	# Before the first, too; and what is left of one is taken away.
	rm -rf prefix
	for ms in 100 300 500; do
		cut_off $ms
		[ ! -e prefix/bin/slipway ] || prefix/bin/slipway version >/dev/null
	done
	cut_off 100 --uninstall
	install_sh
	install_sh --uninstall
	[ -z "$(find prefix -not -type d)" ]
}

# step: the commands of the setup action, as a runner has them.
step() {
	python3 -c 'import sys, yaml; print(yaml.safe_load(open(sys.argv[1]))["runs"]["steps"][0]["run"])' \
		"$ROOT/docs/ci/setup/action.yml" >step
	export RELEASE_URL=$URL RELEASE_VERSION=$VERSION GITHUB_PATH=$PWD/path RUNNER_TEMP=$PWD/runner RELEASE_SHA256
	RELEASE_SHA256=$(cut -d' ' -f1 "served/$VERSION/SHA256SUMS")
}

@test "installer: the setup action installs what its checksum names, and puts nothing else on PATH" {
	serve
	step
	fails() {
		run "$@"
		echo "$output"
		[ "$status" -ne 0 ] && [ ! -e path ]
	}
	for sum in "$(printf '0%.0s' {1..64})" '' x "$RELEASE_SHA256 "$'\n'; do RELEASE_SHA256=$sum fails bash step; done
	RELEASE_VERSION=9.9 fails bash step
	echo 1000 >"served/$VERSION/$NAME.tar.gz.cut"
	fails bash step
	rm "served/$VERSION/$NAME.tar.gz.cut"
	for delay in 0.01 0.05 0.1 0.15; do
		rm -f path
		killed_after "$delay" bash step
		[ ! -e path ] || "$(cat path)/slipway" version
	done
	rm -f path
	bash step
	"$(cat path)/slipway" version
	# Where it was sent on to does not matter: the bytes do.
	printf x >>"served/$VERSION/$NAME.tar.gz"
	rm path
	fails bash step
}

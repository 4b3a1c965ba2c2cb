#!/usr/bin/env bats
# What a release is made of: the tarball that runs anywhere, the package, the question for a newer one. installer.bats has
# how it comes to a machine.

load lib
load releases

setup_file() { make_releases; }
setup() {
	common_setup
	# What this machine says of certificates and releases is not what is tested.
	unset SLIPWAY_CA_DEFAULT SLIPWAY_PROGRAM SLIPWAY_RELEASES SLIPWAY_CA_BUNDLE AWS_CA_BUNDLE SSL_CERT_FILE
}
teardown() { common_teardown; }

# sealed COMMAND...: in the folder root/ as the root of all files, with /proc.
sealed() {
	mkdir -p root/proc root/tmp root/dev
	[ -e root/dev/null ] || mknod -m 666 root/dev/null c 1 3
	unshare --mount sh -c 'mount --bind /proc root/proc && exec chroot root "$@"' sh "$@"
}

# static_busybox: skips where there is none; another brings libraries along, or does not start.
static_busybox() {
	need busybox
	! readelf -l "$(command -v busybox)" | grep -q INTERP || skip "busybox is not static: busybox-static has one that is"
}

@test "release: the tarball's bytes do not depend on umask, folder and time" {
	make_args=(BUILD="${BUILD:-build}" -o "${BUILD:-build}/slipway" tarball RELEASE="$WORK/again")
	(umask 077 && mkdir other && TMPDIR=$PWD/other TZ=Asia/Tokyo make -s -C "$ROOT" "${make_args[@]}")
	cmp "again/$NAME.tar.gz" "$RELEASES/$VERSION/$NAME.tar.gz"
}

@test "release: it builds the image that the program itself builds, from anywhere, by links and by PATH" {
	tar -xzf "$RELEASES/$VERSION/$NAME.tar.gz"
	mv "$NAME" "moved here"
	ln -s "$PWD/moved here/bin/slipway" link
	ln -s ../link build
	make_tree tree
	make_spec slipway.yaml
	"$SLIPWAY" build -q -o one | digest_line >expected
	./link build -q -o two | digest_line >got
	cmp expected got
	PATH="$PWD/moved here/bin:$PATH" slipway build -q -o three | digest_line >got
	cmp expected got
	# Nothing of the machine's libraries is loaded.
	run env LD_DEBUG=libs ./link version
	[ "$status" -eq 0 ]
	[[ $output == *"calling init:"*"moved here/lib/slipway/"* ]]
	run ! grep -E 'calling init: /(usr/)?lib' <<<"$output"
}

# demo PROGRAM: it makes the image of `make demo` to the digest to which the program of this tree makes it.
demo() {
	local arch
	mkdir -p demo/build
	cp "$ROOT/slipway.yaml" "$ROOT/LICENSE" demo/
	for arch in amd64 arm64; do
		ln -s "$ROOT/build/$arch" "$ROOT/build/sysroot-mpi-$arch" demo/build/
	done
	"$SLIPWAY" build -q -f demo/slipway.yaml -o image | digest_line >expected
	rm -rf cache
	"$1" build -q -f demo/slipway.yaml -o again | digest_line >got
	cmp expected got
}

@test "release: it makes the image of make demo to the same digest" {
	for arch in amd64 arm64; do
		[ -e "$ROOT/build/$arch/slipway-trainer" ] || skip "the trainer is not built"
		[ -e "$ROOT/build/sysroot-mpi-$arch/.complete" ] || skip "the root of MPICH's packages is not made"
	done
	tar -xzf "$RELEASES/$VERSION/$NAME.tar.gz"
	demo "$PWD/$NAME/bin/slipway"
}

@test "release: it runs where there is no Debian and no glibc, resolves names and trusts the certificates that it brings" {
	[ "$EUID" -eq 0 ] || skip "a root of its own needs root"
	static_busybox
	mkdir -p root/bin root/etc root/lib root/opt
	cp "$(command -v busybox)" root/bin/busybox
	ln -s busybox root/bin/env
	tar -xzf "$RELEASES/$VERSION/$NAME.tar.gz" -C root/opt
	printf '127.0.0.1 releases.test\n' >root/etc/hosts
	make_certificate
	printf 'subjectAltName=DNS:releases.test\n' >ext
	openssl x509 -req -in req.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out cert.pem 2>/dev/null
	serve tls
	make_tree root/tree
	make_spec root/slipway.yaml
	sealed "/opt/$NAME/bin/slipway" build -q -f /slipway.yaml -o /image
	local place
	place=https://releases.test:$(cat port)
	# Not yet trusted, whatever this machine trusts; then it is.
	run sealed env "SLIPWAY_RELEASES=$place" "/opt/$NAME/bin/slipway" version --check
	[ "$status" -ne 0 ]
	[[ $output == *certificate* ]]
	cat ca.pem >>"root/opt/$NAME/lib/slipway/ca-certificates.crt"
	run -0 sealed env "SLIPWAY_RELEASES=$place" "/opt/$NAME/bin/slipway" version --check
	[[ $output == *"newest release: $VERSION"* ]]
	# Where the system has certificates, they are those that count.
	mkdir -p root/etc/ssl
	cp "$ROOT/LICENSE" root/etc/ssl/cert.pem
	run ! sealed env "SLIPWAY_RELEASES=$place" "/opt/$NAME/bin/slipway" version --check
}

# alpine: the folder root/ with what such a machine has for libraries, musl alone, and its /bin/sh.
alpine() {
	local loader
	mkdir -p root/{bin,etc,lib,opt,tmp,root/.docker}
	cp "$(command -v busybox)" root/bin/busybox
	ln -s busybox root/bin/sh
	cp -L /lib/ld-musl-*.so.1 root/lib/
	loader=$(basename root/lib/ld-musl-*.so.1)
	ln -s "$loader" "root/lib/libc.musl-${loader:8:-5}.so.1"
	printf 'ID=alpine\nVERSION_ID=3.22.0\n' >root/etc/os-release
	tar -xzf "$RELEASES/$VERSION/$NAME.tar.gz" -C root/opt
}

@test "release: on a machine of musl's it packs that machine's programs, starts them, and is started by them" {
	[ "$EUID" -eq 0 ] || skip "a root of its own needs root"
	static_busybox
	need musl-gcc
	need htpasswd
	printf 'robot:%s\n' "$(htpasswd -nbB robot planted-token | cut -d: -f2)" >htpasswd
	start_registry "auth: {htpasswd: {realm: test, path: $WORK/htpasswd}}"
	alpine
	# A credential helper: slipway starts it, and it starts slipway. Neither finds the other's libraries in its way.
	cat >helper.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		int main(int argc, char **argv)
		{
			(void)argv;
			if (argc < 2 || getenv("LD_LIBRARY_PATH") != NULL || system("slipway version >/tmp/version") != 0)
				return 1;
			puts("{\"ServerURL\": \"x\", \"Username\": \"robot\", \"Secret\": \"planted-token\"}");
			return 0;
		}
	END
	musl-gcc -O2 -o root/bin/docker-credential-test helper.c
	printf '{"credHelpers": {"%s": "test"}}' "$REG" >root/root/.docker/config.json
	cat >root/slipway.yaml <<-END
		apiVersion: slipway/v1
		name: helper
		image:
		  platforms: [linux/amd64]
		  layers:
		    - {name: runtime, closure: [/bin/docker-credential-test]}
		    - {name: program, files: [{from: /bin/docker-credential-test, to: /bin/helper}]}
		  entrypoint: [/bin/helper, get]
	END
	here() { sealed /bin/busybox env -i HOME=/root PATH="/bin:/opt/$NAME/bin" "$@"; }
	here slipway build -q -f /slipway.yaml -o /image >/dev/null
	here slipway push -q --insecure /image "$REG/team/helper:v1"
	grep -q "^slipway $VERSION" root/tmp/version
	here slipway verify -q --insecure "$REG/team/helper:v1"
	# What the image needs of that machine is in it, and nothing of ours.
	here slipway build -q -f /slipway.yaml --format docker-archive -o /image.tar >/dev/null
	mkdir layers
	tar -xf root/image.tar -C layers
	cat layers/*/layer.tar | tar -tif - | grep -v '/$' | sort >files
	grep -q 'lib/ld-musl-' files
	run ! grep -E 'ld-linux|libc\.so\.6' files
	rm root/root/.docker/config.json
	run ! here slipway verify -q --insecure "$REG/team/helper:v1"
}

@test "release: version --check says newer, current, and offline, by exit status and as JSON" {
	serve
	export SLIPWAY_RELEASES=$URL
	run -0 "$SLIPWAY" version --check
	echo 99.0.0 >served/latest
	run -1 "$SLIPWAY" version --check
	[[ $output == *"newest release: 99.0.0"* ]]
	"$SLIPWAY" version --check --output json >document.json || true
	json '(d["latest"], d["current"])' <document.json | grep -qF "('99.0.0', False)"
	echo '<html>' >served/latest
	run -1 "$SLIPWAY" version --check
	[[ $output == *"does not hold a version"* ]]
	SLIPWAY_RELEASES=http://127.0.0.1:1 run -5 "$SLIPWAY" version --check
	SLIPWAY_RELEASES='' run -2 "$SLIPWAY" version --check
	[[ $output == *SLIPWAY_RELEASES* ]]
	# Without --check nobody is asked.
	SLIPWAY_RELEASES=http://127.0.0.1:1 run -0 "$SLIPWAY" version
}

@test "release: the .deb has pages, documents, completion and who maintains it" {
	DEBFULLNAME='A Packager' DEBEMAIL=packager@test.invalid make -s -C "$ROOT" BUILD="${BUILD:-build}" \
		-o "${BUILD:-build}/slipway" deb >/dev/null
	# shellcheck disable=SC2153 # make_releases sets it
	deb=$ROOT/${BUILD:-build}/slipway_${VERSION}_$ARCH.deb
	[ "$(dpkg-deb -f "$deb" Maintainer)" = 'A Packager <packager@test.invalid>' ]
	dpkg-deb -c "$deb" >contents
	for path in man/man1/slipway-build.1.gz doc/slipway/README.md doc/slipway/docs/SPEC.md doc/slipway/copyright \
		bash-completion/completions/slipway; do
		grep -q "root/root .* ./usr/share/$path\$" contents
	done
}

# made PLACE UMASK DAY OWNER VARIABLE=VALUE...: a release of this commit, by that user if we may, of files of that day.
made() {
	local place=$1 mask=$2 day=$3 owner=$4 as=()
	shift 4
	(umask "$mask" && git clone -q "$ROOT" "$place")
	find "$place" -path "$place/.git" -prune -o -type f -exec touch -d "$day" {} +
	if [ "$EUID" -eq 0 ]; then
		chown -R "$owner" "$place"
		as=(setpriv "--reuid=${owner%:*}" "--regid=${owner#*:}" --clear-groups)
	fi
	(umask "$mask" && "${as[@]}" env "$@" TMPDIR="$WORK" CCACHE_DISABLE=1 make -s -C "$place" -j"$(nproc)" -o deps release)
}

@test "release: made twice, in other folders, by another user, with another umask, time zone and times of files, it has the same bytes" {
	[ "${SLIPWAY_TEST_LONG:-}" = 1 ] || skip "builds slipway four times: SLIPWAY_TEST_LONG=1 runs it"
	# Others than we look at it.
	chmod 1777 .
	mkdir -m 755 two
	made one 022 now 0:0 TZ=UTC
	made two/deeper 077 2020-02-02 1000:1000 TZ=Asia/Tokyo LC_ALL=C.UTF-8 HOME="$WORK/two"
	cmp "one/build/release/$VERSION/SHA256SUMS" "two/deeper/build/release/$VERSION/SHA256SUMS"
	(cd "two/deeper/build/release/$VERSION" && sha256sum -c --quiet SHA256SUMS)
	[ "$(wc -l <"one/build/release/$VERSION/SHA256SUMS")" -ge 9 ]
	tar -xzf "one/build/release/$VERSION/$NAME.tar.gz"
	demo "$PWD/$NAME/bin/slipway"
}

#!/usr/bin/env bats
# What a release is made of: the tarball that runs anywhere, the installer that verifies first, the question for a newer one.

load lib

# The tarball of what is built here, once for all tests: where `make release` puts it, for the installer to find.
setup_file() {
	ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	export VERSION ARCH RELEASES=$BATS_FILE_TMPDIR/releases
	VERSION=$(sed -n 's/^VERSION *:= //p' "$ROOT/Makefile")
	ARCH=$(dpkg --print-architecture)
	export NAME=slipway-$VERSION-linux-$ARCH
	mkdir -p "$RELEASES/$VERSION"
	make -s -C "$ROOT" BUILD="${BUILD:-build}" -o "${BUILD:-build}/slipway" tarball RELEASE="$RELEASES/$VERSION" >&2
	sed 's/@RELEASE_[A-Z]*@//' "$ROOT/builder/packaging/install.sh" >"$RELEASES/install.sh"
	(cd "$RELEASES/$VERSION" && sha256sum -- *.tar.gz >SHA256SUMS)
	echo "$VERSION" >"$RELEASES/latest"
}
setup() {
	common_setup
	# What this machine says of certificates and releases is not what is tested.
	unset SLIPWAY_CA_DEFAULT SLIPWAY_PROGRAM SLIPWAY_RELEASES SLIPWAY_CA_BUNDLE AWS_CA_BUNDLE SSL_CERT_FILE
}
teardown() { common_teardown; }

# serve [TLS]: a copy of the releases in served/, on loopback; sets URL.
serve() {
	cp -r "$RELEASES" served
	cat >server.py <<-'END'
		import functools, http.server, os, ssl, sys
		class Quiet(http.server.SimpleHTTPRequestHandler):
		    def log_message(self, *_): pass
		server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory="served"))
		if len(sys.argv) > 1:
		    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
		    context.load_cert_chain("cert.pem", "key.pem")
		    server.socket = context.wrap_socket(server.socket, server_side=True)
		with open("port.new", "w") as file: print(server.server_port, file=file)
		os.rename("port.new", "port")
		server.serve_forever()
	END
	python3 server.py "$@" 3>&- &
	PIDS+=($!)
	wait_for port
	URL=http://127.0.0.1:$(cat port)
}

install_sh() { sh served/install.sh --url "$URL" --prefix "$PWD/prefix" "$@"; }

# sealed COMMAND...: in the folder root/ as the root of all files, with /proc.
sealed() {
	mkdir -p root/proc root/tmp root/dev
	[ -e root/dev/null ] || mknod -m 666 root/dev/null c 1 3
	unshare --mount sh -c 'mount --bind /proc root/proc && exec chroot root "$@"' sh "$@"
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
	need busybox
	mkdir -p root/bin root/etc root/lib root/opt
	cp "$(command -v busybox)" root/bin/busybox
	ln -s busybox root/bin/env
	find /lib -maxdepth 1 -name 'ld-musl-*.so.1' -exec cp -L -t root/lib {} +
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

@test "release: the installer installs, replaces and removes, and leaves nothing behind" {
	serve
	for shell in sh "busybox sh"; do
		command -v "${shell%% *}" >/dev/null || continue
		$shell served/install.sh --url "$URL" --prefix "$PWD/prefix"
		prefix/bin/slipway version
		[ -e prefix/share/man/man1/slipway.1 ]
		[ -s prefix/share/bash-completion/completions/slipway ]
		install_sh # again
		prefix/bin/slipway version
		install_sh --uninstall
		[ -z "$(find prefix -not -type d)" ]
		run ! install_sh --uninstall
	done
	run install_sh --version '../etc'
	[ "$status" -ne 0 ]
	[[ $output == *"is not a version"* ]]
}

@test "release: the installer refuses changed bytes, a bad signature and what is not its own, and changes nothing" {
	serve
	install_sh --version "$VERSION"
	before=$(find prefix | sort | sha256sum)
	printf x >>"served/$VERSION/$NAME.tar.gz"
	run install_sh
	[ "$status" -ne 0 ]
	[[ $output == *"is not what SHA256SUMS says"* ]]
	(cd "served/$VERSION" && sha256sum -- *.tar.gz >SHA256SUMS)
	openssl ecparam -name prime256v1 -genkey -noout -out key.pem
	openssl pkey -in key.pem -pubout >key.pub
	openssl dgst -sha256 -sign key.pem -out "served/$VERSION/SHA256SUMS.sig" "$RELEASES/$VERSION/SHA256SUMS"
	python3 -c 'import sys; t = open(sys.argv[1]).read(); k = open("key.pub").read(); open(sys.argv[1], "w").write(t.replace("KEY=\x27\x27", "KEY=\x27" + k + "\x27"))' served/install.sh
	run install_sh
	[ "$status" -ne 0 ]
	[[ $output == *"the signature of SHA256SUMS is not valid"* ]]
	[ "$before" = "$(find prefix | sort | sha256sum)" ]
	cp "$RELEASES/$VERSION/$NAME.tar.gz" "$RELEASES/$VERSION/SHA256SUMS" "served/$VERSION/"
	install_sh
	rm prefix/bin/slipway
	echo mine >prefix/bin/slipway
	run install_sh
	[ "$status" -ne 0 ]
	[[ $output == *"not by this script"* ]]
	[ "$(cat prefix/bin/slipway)" = mine ]
	run install_sh --uninstall
	[ "$status" -ne 0 ]
	[ "$(cat prefix/bin/slipway)" = mine ]
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
	deb=$ROOT/${BUILD:-build}/slipway_${VERSION}_$ARCH.deb
	[ "$(dpkg-deb -f "$deb" Maintainer)" = 'A Packager <packager@test.invalid>' ]
	dpkg-deb -c "$deb" >contents
	for path in man/man1/slipway-build.1.gz doc/slipway/README.md doc/slipway/docs/SPEC.md doc/slipway/copyright \
		bash-completion/completions/slipway; do
		grep -q "root/root .* ./usr/share/$path\$" contents
	done
}

@test "release: the setup action installs what its checksum names, and nothing else" {
	serve
	python3 -c 'import sys, yaml; print(yaml.safe_load(open(sys.argv[1]))["runs"]["steps"][0]["run"])' \
		"$ROOT/docs/ci/setup/action.yml" >step
	export RELEASE_URL=$URL RELEASE_VERSION=$VERSION GITHUB_PATH=$PWD/path RUNNER_TEMP=$PWD/runner RELEASE_SHA256
	RELEASE_SHA256=$(printf '0%.0s' {1..64})
	run ! bash step
	[ ! -e path ]
	RELEASE_SHA256=$(cut -d' ' -f1 "served/$VERSION/SHA256SUMS")
	bash step
	"$(cat path)/slipway" version
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

# A release's tarball and installer for tests, and a server of releases that misbehaves when it is told to. Beside lib.bash.
# shellcheck shell=bash

# make_releases: the tarball of what is built here, where `make release` puts it for the installer; once for all tests of a file.
make_releases() {
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

# serve [tls|plain [ADDRESS]]: a copy of the releases in served/, on loopback; sets URL. Beside a file there, FILE.cut is how
# many of its bytes are sent before the connection ends, FILE.elsewhere the URL to which the server with TLS says that it has moved.
serve() {
	[ -e served ] || cp -r "$RELEASES" served
	cat >server.py <<-'END'
		import functools, http.server, os, ssl, sys
		kind, address = sys.argv[1:]
		class Server(http.server.SimpleHTTPRequestHandler):
		    def log_message(self, *_): pass
		    def beside(self, what):
		        try:
		            with open("served" + self.path + what) as file: return file.read().strip()
		        except OSError: return None
		    def do_GET(self):
		        place, cut = self.beside(".elsewhere"), self.beside(".cut")
		        if place and kind == "tls":
		            self.send_response(302)
		            self.send_header("Location", place)
		            self.end_headers()
		        elif cut:
		            with open("served" + self.path, "rb") as file: whole = file.read()
		            self.send_response(200)
		            self.send_header("Content-Length", str(len(whole)))
		            self.end_headers()
		            self.wfile.write(whole[:int(cut)])
		        else:
		            super().do_GET()
		server = http.server.ThreadingHTTPServer((address, 0), functools.partial(Server, directory="served"))
		if kind == "tls":
		    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
		    context.load_cert_chain("cert.pem", "key.pem")
		    server.socket = context.wrap_socket(server.socket, server_side=True)
		with open("port.new", "w") as file: print(server.server_port, file=file)
		os.rename("port.new", "port")
		server.serve_forever()
	END
	rm -f port
	/usr/bin/python3 server.py "${1:-plain}" "${2:-127.0.0.1}" 3>&- &
	PIDS+=($!)
	wait_for port
	URL=http://${2:-127.0.0.1}:$(cat port)
	[ "${1:-plain}" = plain ] || URL=https://127.0.0.1:$(cat port)
}

install_sh() { sh served/install.sh --url "$URL" --prefix "$PWD/prefix" "$@"; }

# signed: the checksums as they are now get a signature, and the installer the key's public half.
signed() {
	[ -e release.key ] || openssl ecparam -name prime256v1 -genkey -noout -out release.key
	openssl pkey -in release.key -pubout >release.pub
	openssl dgst -sha256 -sign release.key -out "served/$VERSION/SHA256SUMS.sig" "served/$VERSION/SHA256SUMS"
	python3 - served/install.sh release.pub <<-'END'
		import sys
		text, key = (open(path).read() for path in sys.argv[1:])
		open(sys.argv[1], "w").write(text.replace("KEY=''", "KEY='" + key + "'"))
	END
}

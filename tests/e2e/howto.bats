#!/usr/bin/env bats
# The commands of docs/HOWTO.md; its specifications are built in sources.bats, programs.bats and ready-image.bats.

load lib

setup() { common_setup; }
teardown() { common_teardown; }

@test "howto: every recipe for registries and releases runs as it stands, in order" {
	need htpasswd
	need git
	need openssl
	printf 'robot:%s\n' "$(htpasswd -nbB robot planted-token | cut -d: -f2)" >htpasswd
	start_registry "auth: {htpasswd: {realm: test, path: $WORK/htpasswd}}"
	unset DOCKER_CONFIG
	make_tree tree
	mkdir bin
	# A base to be locked, which changes between the first build and the nightly one.
	make_spec base.yaml "platforms: [linux/amd64]"
	base() {
		"$SLIPWAY" build -f base.yaml -o base --set image.labels.n="$1" >/dev/null
		"$SLIPWAY" push base "$REG/base:v1" --insecure -u robot --password-stdin <<<planted-token >/dev/null
	}
	base 1
	make_spec slipway.yaml "repository: $REG/team/app" "platforms: [linux/amd64]" "base: $REG/base:v1"
	cat >bin/slipway <<-EOS
		#!/bin/bash
		exec "$SLIPWAY" "\$@" --insecure
	EOS
	chmod +x bin/slipway
	git init -q . && git config user.name t && git config user.email t@t
	awk '/^<!-- runs -->$/ {m = 1} /^```sh$/ && m {on = 1; next} /^```$/ {on = 0; m = 0} on' "$ROOT/docs/HOWTO.md" |
		sed "s|registry.example.com|$REG|g" >all
	[ "$(wc -l <all)" -ge 18 ]
	# The night comes before the last three lines.
	head -n -3 all >day && tail -n 3 all >night
	NAME=robot TOKEN=planted-token PATH=$WORK/bin:$PATH run bash -euxo pipefail day
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(stat -c %a home/.docker/config.json)" = 600 ]
	json 'd["SPDXID"]' <app.spdx.json | grep -qx SPDXRef-DOCUMENT
	[ "$(root_of --insecure "$REG/inside/app:v1")" = "$(root_of --insecure "$REG/team/app:v1")" ]
	git add slipway.lock && git commit -qm one
	base 2
	PATH=$WORK/bin:$PATH run bash -euxo pipefail night
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(git log -1 --format=%s)" = "Renew base images" ]
	# Without the login nothing goes.
	rm home/.docker/config.json
	run "$SLIPWAY" push --insecure
	[ "$status" -eq 4 ]
}

# commands MARK: the blocks of docs/HOWTO.md after `<!-- MARK -->`.
commands() {
	awk -v mark="<!-- $1 -->" '$0 == mark {m = 1} /^```sh$/ && m {on = 1; next} /^```$/ {on = 0; m = 0} on' "$ROOT/docs/HOWTO.md"
}

@test "howto: every recipe for machines and money runs as it stands, in order" {
	python3 -m pip --version >/dev/null 2>&1 || skip "pip is not installed"
	export KUBECTL=$ROOT/tests/servers/fakekubectl FAKEKUBE=$WORK/kube PIP_NO_INDEX=1 PIP_FIND_LINKS=$WORK/wheels
	mkdir -p "$FAKEKUBE" bin wheels
	ln -s "$SLIPWAY" bin/slipway
	# A base of one program, and a package of a local index.
	printf '%s\n' 'apiVersion: slipway/v1' 'name: base' 'image:' '  tags: [v1]' '  platforms: [linux/amd64]' '  env: {PATH: /bin}' \
		'  layers: [{closure: [/bin/true], files: [{from: /bin/true, to: /bin/torchrun}]}]' >base.yaml
	"$SLIPWAY" build -f base.yaml -o base --no-check -q >/dev/null
	python3 -c 'import zipfile
with zipfile.ZipFile("wheels/einops-1-py3-none-any.whl", "w") as z:
    z.writestr("einops/__init__.py", "")
    z.writestr("einops-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: einops\nVersion: 1\n")
    z.writestr("einops-1.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    z.writestr("einops-1.dist-info/RECORD", "")'
	printf '#!/bin/sh\nexec /usr/bin/python3 "$@"\n' >bin/python3 && chmod +x bin/python3
	mkdir work && cp -r base work/ && cd work && echo 'print(1)' >train.py
	commands own | sed 's|registry.example.com/team/pytorch:2.6|oci:base:v1|' >../script
	[ "$(wc -l <../script)" -ge 9 ]
	# Nothing is deployed: status says so by its exit status.
	sed -i 's/^slipway status .*/{ & || [ $? -eq 10 ]; }/' ../script
	PATH=$WORK/bin:$PATH run bash -euxo pipefail ../script
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"A pod is sized for g5.12xlarge"* ]]
	"$SLIPWAY" inspect --output json build/image | json 'd["images"][0]["config"]["config"]["Env"]' | grep -q PYTHONPATH=/app:/app/more
	"$SLIPWAY" diff build/image base --output json | grep -q app/more/einops/__init__.py
	grep -q 'activeDeadlineSeconds: 7200' bounded.yaml
	grep -A3 'karpenter.sh/capacity-type' bounded.yaml | grep -q spot
}

@test "howto: a registry is reached through a proxy, past it, and by an authority of one's own" {
	make_certificate
	cp ca.pem company-ca.pem
	start_faultreg --tls cert.pem key.pem
	make_tree tree
	make_spec slipway.yaml "platforms: [linux/amd64]" 'check: {off: [no-entrypoint]}'
	"$SLIPWAY" build -q --push -t "$REG/team/app:v1" --ca ca.pem >/dev/null
	cat >proxy.py <<-'END'
		import socket, socketserver, threading
		class Tunnel(socketserver.StreamRequestHandler):
		    def handle(self):
		        method, to, _ = self.rfile.readline().decode().split()
		        while self.rfile.readline().strip(): pass
		        with open("tunnels", "a") as log: print(method, to, file=log)
		        host, port = to.split(":")
		        with socket.create_connection((host, int(port))) as there:
		            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
		            def pump(a, b):
		                while data := a.recv(65536): b.sendall(data)
		                b.shutdown(socket.SHUT_WR)
		            other = threading.Thread(target=pump, args=(there, self.connection))
		            other.start()
		            pump(self.connection, there)
		            other.join()
		class Server(socketserver.ThreadingTCPServer): daemon_threads = True
		server = Server(("127.0.0.1", 0), Tunnel)
		with open("port", "w") as file: print(server.server_address[1], file=file)
		server.serve_forever()
	END
	python3 proxy.py 3>&- 2>/dev/null &
	PIDS+=($!)
	wait_for port
	commands proxy >script
	[ "$(wc -l <script)" -eq 3 ]
	mkdir bin && ln -s "$SLIPWAY" bin/slipway
	local n
	for n in 1 2 3; do
		sed -n "${n}p" script | sed "s|registry.example.com/|$REG/|; s|no_proxy=registry.example.com|no_proxy=127.0.0.1|" >one
		PATH=$WORK/bin:$PATH PROXY=http://127.0.0.1:$(cat port) SLIPWAY_CA_BUNDLE=$WORK/ca.pem run bash -eux one
		echo "$output"
		[ "$status" -eq 0 ]
		[ "$n" -gt 1 ] || cp tunnels first
		cmp tunnels first # the first line's, and no more of them
	done
	[ "$(sort -u tunnels)" = "CONNECT $REG" ]
	# Without the authority nobody is trusted.
	run "$SLIPWAY" inspect --retries 0 "$REG/team/app:v1"
	[ "$status" -ne 0 ]
}

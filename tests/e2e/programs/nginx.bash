# shellcheck shell=bash disable=SC2034,SC2154
PACKAGES="nginx"

prepare() {
	need nsenter
	need curl
	awk '/^```nginx$/ {on = 1; next} /^```$/ {on = 0} on' "$ROOT/docs/HOWTO.md" >nginx.conf
	mkdir -p site
	printf '<h1>served</h1>\n' >site/index.html
	seq 1 200000 >site/numbers.txt
}

# fetch PATH: by the server's own loopback device, for the network is its alone.
fetch() {
	nsenter --net --target "$(podman_here inspect --format '{{.State.Pid}}' server)" \
		curl --noproxy '*' -sSf -D headers "http://127.0.0.1:8080/$1"
}

work() {
	run_image -t
	serve
	until_done fetch ''
	[ "$(fetch '')" = "<h1>served</h1>" ]
	grep -qi '^content-type: text/html' headers
	fetch numbers.txt | cmp - site/numbers.txt
	run ! fetch missing
	# Its log is the container's, and it stops when asked to.
	podman_here stop --time 30 server >/dev/null
	[ "$(podman_here inspect --format '{{.State.ExitCode}}' server)" = 0 ]
	podman_here logs server 2>&1 | grep -q '"GET /numbers.txt HTTP/1.1" 200'
}

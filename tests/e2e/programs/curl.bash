# shellcheck shell=bash disable=SC2034,SC2154
PACKAGES="curl ca-certificates"

# One server for both platforms, on a socket, since containers here have no network.
prepare() {
	[ ! -e ca.pem ] || return 0
	make_certificate
	mkdir -m 0755 s
	openssl s_server -unix s/tls -cert cert.pem -key key.pem -www -quiet >/dev/null 2>&1 3>&- &
	PIDS+=($!)
	until_done test -S s/tls
	chmod 0777 s/tls
}

work() {
	OPTIONS=(-v "$WORK/s:/s")
	run_image -sSf --unix-socket /s/tls https://localhost/ >page
	grep -qi 's_server' page
	# The name in the certificate counts.
	run run_image -sS --unix-socket /s/tls https://example.org/
	[ "$status" -eq 60 ]
	# And so does the bundle: without it nobody is trusted.
	OPTIONS+=(-v /dev/null:/etc/ssl/certs/ca-certificates.crt)
	run run_image -sS --unix-socket /s/tls https://localhost/
	[ "$status" -eq 77 ] || [ "$status" -eq 60 ]
}

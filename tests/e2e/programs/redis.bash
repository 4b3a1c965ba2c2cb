# shellcheck shell=bash disable=SC2034,SC2154
PACKAGES="redis-server redis-tools ca-certificates"

work() {
	volume data 65532
	OPTIONS=(-v "$WORK/data:/home/app")
	serve --save "" --bind 127.0.0.1
	until_done in_server redis-cli ping
	[ "$(in_server redis-cli set greeting hello)" = OK ]
	[ "$(in_server redis-cli eval "return redis.call('get', 'greeting') .. '!'" 0)" = "hello!" ]
	[ "$(in_server redis-cli save)" = OK ]
	podman_here stop --time 30 server >/dev/null
	podman_here rm server >/dev/null
	serve --save "" --bind 127.0.0.1
	until_done in_server redis-cli ping
	[ "$(in_server redis-cli get greeting)" = hello ]
	rm -r data
}

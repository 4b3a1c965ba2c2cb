# shellcheck shell=bash disable=SC2034,SC2154
PACKAGES="ripgrep"

work() {
	mkdir -p text
	seq 1 1000 >text/numbers
	printf 'Grüße\n' >text/words
	OPTIONS=(-v "$WORK/text:/text:ro")
	[ "$(run_image --threads 2 --sort path -n -e '^99\d$' -e 'GRÜ(?i:SSE|ße)' -i /text | tail -n 2)" = "$(printf '/text/numbers:999:999\n/text/words:1:Grüße')" ]
	[ "$(run_image -c '7' /text/numbers)" = 271 ]
	run run_image nothing /text
	[ "$status" -eq 1 ]
}

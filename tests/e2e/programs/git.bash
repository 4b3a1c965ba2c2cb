# shellcheck shell=bash disable=SC2034,SC2154
PACKAGES="git ca-certificates"

work() {
	volume repository 65532
	OPTIONS=(-v "$WORK/repository:/home/app" -e GIT_AUTHOR_DATE=2026-01-01T00:00:00Z -e GIT_COMMITTER_DATE=2026-01-01T00:00:00Z)
	run_image init -q -b main .
	printf 'text\n' >repository/file
	run_image add file
	run_image -c user.email=app@example.org commit -q -m 'the first'
	printf 'more\n' >>repository/file
	[ "$(run_image diff --stat | tail -n 1)" = " 1 file changed, 1 insertion(+)" ]
	# The author's name is the account's.
	run_image -c user.email=app@example.org commit -q -a -m 'the second'
	[ "$(run_image log --format='%an %ae: %s')" = "$(printf 'The App app@example.org: the second\nThe App app@example.org: the first')" ]
	run_image gc -q
	run_image fsck --strict
	# https is spoken, though nobody answers here.
	run run_image ls-remote https://127.0.0.1:9/x
	[[ $output == *"Failed to connect to 127.0.0.1 port 9"* ]]
	rm -r repository
}

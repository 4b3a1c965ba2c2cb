#!/usr/bin/env bats
# Defects that release engineers really make, each planted in an image of its own beside a twin without it: the image
# check finds the one by its rule and lets the other pass. What breaks at start is shown by podman, too. A family of
# defects is a file in defects/; defects/plant.bash says how one is written.

load lib
load defects/plant

setup() {
	common_setup
	need gcc
}
teardown() { common_teardown; }

# family NAME: its defects are found, its twins pass.
family() {
	local row failures=0
	read_family "$1"
	for row in "${DEFECTS[@]}"; do
		# shellcheck disable=SC2086 # a row is words
		found $row || failures=$((failures + 1))
	done
	[ "${#DEFECTS[@]}" -gt 0 ]
	[ "$failures" -eq 0 ]
}

# in_podman NAME: what is said to break at start breaks, and its twin does not; a tenth of them unless all are wanted.
in_podman() {
	local row failures=0
	containers_needed
	read_family "$1"
	for row in "${DEFECTS[@]}"; do
		if [[ $row != *" breaks" ]] || ! chosen "$row"; then continue; fi
		# shellcheck disable=SC2086 # a row is words
		breaks $row || failures=$((failures + 1))
	done
	[ "$failures" -eq 0 ]
}

@test "defects: what stops a container at start is found" { family start; }
@test "defects: libraries that the loader does not find or cannot bind are found" { family linkage; }
@test "defects: keys, tokens and passwords are found" { family secrets; }
@test "defects: what should not be shipped is found" { family hygiene; }
@test "defects: data that programs need at run time and the image lacks is found" { family data; }

@test "defects: podman fails on what is said to stop at start, and runs its twin" { in_podman start; }
@test "defects: podman fails on what is said not to link, and runs its twin" { in_podman linkage; }
@test "defects: podman fails on what is said to lack data, and runs its twin" { in_podman data; }

@test "defects: at least 80 are planted, at least 74 of them found, and the rest explained" {
	local row
	read_all
	[ "${#DEFECTS[@]}" -ge 80 ]
	local missed=()
	for row in "${DEFECTS[@]}"; do [[ $row == *" missed "* || $row == *" missed" ]] && missed+=("${row%% *}"); done
	[ $((${#DEFECTS[@]} - ${#missed[@]})) -ge 74 ]
	for row in "${missed[@]}"; do grep -q "\`$row\`" "$ROOT/docs/CHECK.md"; done
	# What breaks at start is never among them.
	for row in "${DEFECTS[@]}"; do [[ $row != *" missed breaks" ]]; done
}

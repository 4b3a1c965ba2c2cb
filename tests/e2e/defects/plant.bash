# How a defect is planted. A family file, defects/FAMILY.bash, holds for each
#
#     defect NAME RULE error|warning|missed [breaks]
#     plant_NAME() { ... }        # the name with _ for -
#
# RULE is the one that finds it. `missed` says that no rule can: docs/CHECK.md names it with the reason. `breaks` says
# that the container dies at start because of it, which podman confirms.
#
# The function runs in an empty folder with $1 = defect or twin. It writes slipway.yaml (see spec) and the files that
# it names; the twin is the same image without the defect, and its program ends with status 0.
# shellcheck shell=bash

# The rows of the families read so far.
DEFECTS=()
defect() { DEFECTS+=("$*"); }

read_family() {
	# shellcheck source=/dev/null
	source "$ROOT/tests/e2e/defects/$1.bash"
}

read_all() {
	local file
	for file in "$ROOT"/tests/e2e/defects/*.bash; do
		[[ $file == */plant.bash ]] || read_family "$(basename "$file" .bash)"
	done
}

# spec LINE...: slipway.yaml for linux/amd64; the lines go below image:.
spec() {
	printf 'apiVersion: slipway/v1\nname: sample\nimage:\n  tags: [v1]\n  platforms: [linux/amd64]\n' >slipway.yaml
	printf '  %s\n' "$@" >>slipway.yaml
}

# static_program FILE [SOURCE]: a static program; without a source it ends with status 0.
static_program() {
	printf '%s\n' "${2:-int main(void){return 0;\}}" | gcc -x c - -static -o "$1"
}

# planted NAME KIND: builds the image into planted/NAME/KIND/image, check or no check; the report is in its file `report`,
# the build's status in `status`.
planted() {
	local folder=$WORK/planted/$1/$2
	mkdir -p "$folder"
	(
		cd "$folder" || exit 1
		"plant_${1//-/_}" "$2" >planting 2>&1 || { cat planting >&2 && exit 1; }
		"$SLIPWAY" build --progress none -o image >report 2>&1
		echo $? >status
	)
}

# found NAME RULE SEVERITY [breaks]
found() {
	local name=$1 rule=$2 severity=$3 folder=$WORK/planted/$1 wanted=0
	if ! planted "$name" defect || ! planted "$name" twin; then
		echo "$name: could not be planted" && return 1
	fi
	[[ $severity != error ]] || wanted=3
	if [[ $(cat "$folder/defect/status") != "$wanted" ]]; then
		echo "$name: status $(cat "$folder/defect/status"), wanted $wanted" && cat "$folder/defect/report" && return 1
	fi
	if [[ $severity != missed ]] && ! grep -qF "[$rule]" "$folder/defect/report"; then
		echo "$name: rule $rule says nothing" && cat "$folder/defect/report" && return 1
	fi
	if [[ $(cat "$folder/twin/status") != 0 ]] || grep -qF "[$rule]" "$folder/twin/report"; then
		echo "$name: the twin does not pass" && cat "$folder/twin/report" && return 1
	fi
	return 0
}

# runs NAME KIND: the image's status under podman.
runs() {
	local folder=$WORK/planted/$1/$2
	planted "$1" "$2" || return 1
	(cd "$folder" && "$SLIPWAY" build --progress none --no-check -o image) >"$folder/report" 2>&1 || return 1
	podman_run "oci:$folder/image" >"$folder/run" 2>&1
	echo $? >"$folder/status"
}

breaks() {
	local name=$1 folder=$WORK/planted/$1
	if ! runs "$name" defect || ! runs "$name" twin; then
		echo "$name: could not be built" && cat "$folder"/*/report && return 1
	fi
	if [[ $(cat "$folder/defect/status") == 0 ]]; then
		echo "$name: runs all the same" && cat "$folder/defect/run" && return 1
	fi
	if [[ $(cat "$folder/twin/status") != 0 ]]; then
		echo "$name: the twin does not run" && cat "$folder/twin/run" && return 1
	fi
	return 0
}

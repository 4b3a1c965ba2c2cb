# What stops a container before its program's first line.
# shellcheck shell=bash

defect script-without-interpreter entrypoint error breaks
plant_script_without_interpreter() {
	printf '#!%s\n' /sh >start && chmod 0755 start
	static_program sh
	local files=('      - {from: start, to: /start}')
	[[ $1 == defect ]] || files+=('      - {from: sh, to: /sh}')
	spec 'entrypoint: [/start]' 'layers:' '  - files:' "${files[@]}"
}

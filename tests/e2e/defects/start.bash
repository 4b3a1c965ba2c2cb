# What stops a container before its program's first line.
# shellcheck shell=bash

# put FILE TO [KEY: VALUE...]: an item of files:.
put() {
	local item="{from: $1, to: $2" key
	for key in "${@:3}"; do item+=", $key"; done
	printf '      - %s}\n' "$item"
}

# start_image ENTRYPOINT ITEM...: an image with one layer of such items. Lines of image: come first, in EXTRA.
start_image() {
	local entrypoint=$1
	shift
	spec "${EXTRA[@]}" "entrypoint: $entrypoint" 'layers:' '  - files:'
	printf '  %s\n' "$@" >>slipway.yaml
}

# Interpreters that really open their script, as a shell does, and an env that looks in PATH.
reading_shell() {
	static_program "$1" '#include <fcntl.h>
		int main(int n, char **v) { return n < 2 || open(v[n - 1], O_RDONLY) < 0; }'
}
small_env() {
	static_program env '#include <unistd.h>
		int main(int n, char **v) { if (n > 1) execvp(v[1], v + 1); return 127; }'
}

# A script /start with these first bytes, and the interpreters it may want.
script_image() {
	printf '%b' "$1" >start && chmod 0755 start
	reading_shell sh
	small_env
	EXTRA=('env: {PATH: /bin}')
	start_image '[/start]' "$(put start /start)" "$(put sh /bin/sh)" "$(put env /bin/env)"
}

# script_defect KIND DEFECT TWIN: the script's bytes, by printf's %b.
script_defect() { if [[ $1 == defect ]]; then script_image "$2"; else script_image "$3"; fi; }

# ---- scripts ----

defect script-without-interpreter entrypoint error breaks
plant_script_without_interpreter() { script_defect "$1" '#!/bin/bash\n' '#!/bin/sh\n'; }

defect script-with-crlf entrypoint error breaks
plant_script_with_crlf() { script_defect "$1" '#!/bin/sh\r\nexit 0\r\n' '#!/bin/sh\nexit 0\n'; }

defect script-for-env-with-crlf entrypoint error breaks
plant_script_for_env_with_crlf() { script_defect "$1" '#!/bin/env sh\r\nexit 0\r\n' '#!/bin/env sh\nexit 0\n'; }

defect script-without-shebang entrypoint error breaks
plant_script_without_shebang() { script_defect "$1" 'exit 0\n' '#!/bin/sh\nexit 0\n'; }

defect script-with-byte-order-mark entrypoint error breaks
plant_script_with_byte_order_mark() { script_defect "$1" '\xef\xbb\xbf#!/bin/sh\n' '#!/bin/sh\n'; }

defect script-in-utf16 entrypoint error breaks
plant_script_in_utf16() { script_defect "$1" '\xff\xfe#\0!\0/\0b\0i\0n\0/\0s\0h\0\n\0' '#!/bin/sh\n'; }

defect script-with-empty-first-line entrypoint error breaks
plant_script_with_empty_first_line() { script_defect "$1" '\n#!/bin/sh\n' '#!/bin/sh\n'; }

defect script-naming-nothing entrypoint error breaks
plant_script_naming_nothing() { script_defect "$1" '#! \nexit 0\n' '#! /bin/sh \nexit 0\n'; }

defect script-line-too-long entrypoint error breaks
plant_script_line_too_long() {
	script_defect "$1" "#!/$(printf '%.0s./' {1..130})bin/sh\n" "#!/$(printf '%.0s./' {1..100})bin/sh\n"
}

defect script-for-env-of-nothing entrypoint error breaks
plant_script_for_env_of_nothing() { script_defect "$1" '#!/bin/env python3\n' '#!/bin/env sh\n'; }

defect script-for-env-with-option entrypoint error breaks
plant_script_for_env_with_option() { script_defect "$1" '#!/bin/env sh -e\n' '#!/bin/env sh\n'; }

defect script-with-closed-interpreter entrypoint error breaks
plant_script_with_closed_interpreter() {
	local mode=0755
	[[ $1 == twin ]] || mode=0644
	printf '#!/sh\n' >start && chmod 0755 start
	reading_shell sh
	start_image '[/start]' "$(put start /start)" "$(put sh /sh "mode: $mode")"
}

# script_chain N: /1 is a script for /2, and so on; the last is for a program.
script_chain() {
	local i items=()
	for ((i = 1; i <= $1; i++)); do
		printf '#!/%s\n' $((i + 1)) >"$i" && chmod 0755 "$i"
		items+=("$(put "$i" "/$i")")
	done
	static_program last
	start_image '[/1]' "${items[@]}" "$(put last "/$(($1 + 1))")"
}

defect scripts-too-deep entrypoint error breaks
plant_scripts_too_deep() { if [[ $1 == defect ]]; then script_chain 6; else script_chain 5; fi; }

# ---- the program ----

# named ENTRYPOINT: an image with the program /opt/bin/app, and /bin/app as a link to it.
named() {
	static_program app
	EXTRA=('env: {PATH: "/bin"}')
	start_image "$1" "$(put app /opt/bin/app)" '      - {symlink: ../opt/bin/app, to: /bin/app}' \
		'      - {symlink: nowhere, to: /bin/lost}'
	# The lost link is for one defect alone, and a finding of its own.
	[[ $1 == *lost* ]] || sed -i /lost/d slipway.yaml
}
name_defect() { if [[ $1 == defect ]]; then named "$2"; else named "$3"; fi; }

defect program-missing entrypoint error breaks
plant_program_missing() { name_defect "$1" '[/usr/bin/app]' '[/opt/bin/app]'; }

defect program-not-in-path entrypoint error breaks
plant_program_not_in_path() { name_defect "$1" '[opt]' '[app]'; }

defect program-as-one-text entrypoint error breaks
plant_program_as_one_text() { name_defect "$1" '["/opt/bin/app --port 80"]' '[/opt/bin/app, --port, "80"]'; }

defect program-by-variable entrypoint error breaks
# shellcheck disable=SC2016 # the defect is that nobody expands it
plant_program_by_variable() { name_defect "$1" '["$APP/app"]' '[/opt/bin/app]'; }

defect program-is-folder entrypoint error breaks
plant_program_is_folder() { name_defect "$1" '[/opt/bin]' '[/opt/bin/app]'; }

defect program-is-lost-link entrypoint error breaks
plant_program_is_lost_link() { name_defect "$1" '[/bin/lost]' '[/bin/app]'; }

defect program-relative-to-elsewhere entrypoint error breaks
plant_program_relative_to_elsewhere() { name_defect "$1" '[./bin/lib/app]' '[./opt/bin/app]'; }

# The file /app is not what it seems.
app_image() { EXTRA=() && start_image '[/app]' "$(put app /app "mode: ${1:-0755}")"; }

defect program-not-executable entrypoint error breaks
plant_program_not_executable() {
	static_program app
	if [[ $1 == defect ]]; then app_image 0644; else app_image 0755; fi
}

defect program-is-empty entrypoint error breaks
plant_program_is_empty() {
	if [[ $1 == defect ]]; then : >app; else static_program app; fi
	app_image
}

defect program-is-object-file entrypoint error breaks
plant_program_is_object_file() {
	if [[ $1 == defect ]]; then echo 'int main(void){return 0;}' | gcc -x c - -c -o app; else static_program app; fi
	app_image
}

defect program-is-library entrypoint error breaks
plant_program_is_library() {
	if [[ $1 == defect ]]; then
		echo 'int f(void){return 0;}' | gcc -x c - -shared -nostdlib -Wl,-soname,libapp.so.1 -o app
	else static_program app; fi
	app_image
}

defect program-for-windows entrypoint error breaks
plant_program_for_windows() {
	if [[ $1 == defect ]]; then printf 'MZ\x90\0\3\0\0\0' >app; else static_program app; fi
	app_image
}

defect program-is-archive entrypoint error breaks
plant_program_is_archive() {
	if [[ $1 == defect ]]; then python3 -c 'import zipfile; zipfile.ZipFile("app", "w").writestr("Main.class", "x")'; else static_program app; fi
	app_image
}

# ---- what arguments make a program start ----

defect wrapped-program-missing entrypoint error breaks
plant_wrapped_program_missing() {
	static_program app
	static_program tini '#include <unistd.h>
		int main(int n, char **v) { if (n > 2) execvp(v[2], v + 2); return 127; }'
	EXTRA=()
	start_image "[/tini, --, $([[ $1 == defect ]] && echo /bin)/app]" "$(put app /app)" "$(put tini /tini)"
}

defect script-argument-missing entrypoint warning breaks
plant_script_argument_missing() {
	: >main.sh
	reading_shell sh
	EXTRA=('workdir: /srv')
	start_image "[/bin/sh, $([[ $1 == defect ]] && echo bin/)main.sh]" "$(put sh /bin/sh)" "$(put main.sh /srv/main.sh)"
}

defect no-program no-entrypoint warning breaks
plant_no_program() {
	named '[app]'
	[[ $1 == twin ]] || sed -i /entrypoint/d slipway.yaml
}

# ---- who starts it ----

# An image of a user's, with the file of users; KEYS are of /opt/app.
user_image() {
	static_program app
	printf 'root:x:0:0::/:\napp:x:1000:1000::/:\n' >passwd
	printf 'root:x:0:\napp:x:1000:\nteam:x:2000:app\n' >group
	EXTRA=("user: $1")
	start_image '[/opt/app]' "$(put app /opt/app "${@:2}")" "$(put passwd /etc/passwd)" "$(put group /etc/group)"
}
user_defect() { if [[ $1 == defect ]]; then user_image "$2"; else user_image "$3"; fi; }

defect user-unknown user error breaks
plant_user_unknown() { user_defect "$1" apps app; }

defect user-without-passwd user error breaks
plant_user_without_passwd() {
	user_image app
	[[ $1 == twin ]] || sed -i '/passwd/d' slipway.yaml
}

defect group-unknown user error breaks
plant_group_unknown() { user_defect "$1" app:apps app:team; }

defect user-too-large user error breaks
plant_user_too_large() { user_defect "$1" '"4294967295"' '"1001"'; }

defect program-closed-to-user user-rights error breaks
plant_program_closed_to_user() {
	if [[ $1 == defect ]]; then user_image 1001:1001 'mode: 0750'; else user_image 1001:1001 'mode: 0755'; fi
}

defect program-closed-to-named-group user-rights error breaks
plant_program_closed_to_named_group() {
	# With a group of their own choice, users lose those of the file.
	if [[ $1 == defect ]]; then user_image app:app 'mode: 0750' 'owner: 0:2000'; else user_image app 'mode: 0750' 'owner: 0:2000'; fi
}

defect folder-closed-to-user user-rights error breaks
plant_folder_closed_to_user() {
	user_image app
	printf "        - {directory: /opt, mode: %s}\n" "$([[ $1 == twin ]] && echo 0755 || echo 0700)" >>slipway.yaml
}

defect script-closed-to-user user-rights error breaks
plant_script_closed_to_user() {
	printf '#!/sh\n' >start
	reading_shell sh
	EXTRA=('user: 1001:1001')
	start_image '[/start]' "$(put start /start "mode: $([[ $1 == twin ]] && echo 0755 || echo 0711)")" "$(put sh /sh)"
}

defect interpreter-closed-to-user user-rights error breaks
plant_interpreter_closed_to_user() {
	printf '#!/sh\n' >start && chmod 0755 start
	reading_shell sh
	EXTRA=('user: 1001:1001')
	start_image '[/start]' "$(put start /start)" "$(put sh /sh "mode: $([[ $1 == twin ]] && echo 0755 || echo 0744)")"
}

defect library-closed-to-user user-rights error breaks
plant_library_closed_to_user() {
	echo 'int own(void){return 0;}' | gcc -x c - -shared -fPIC -Wl,-soname,libown.so.1 -o libown.so.1
	echo 'int own(void);int main(void){return own();}' | gcc -x c - -o app -Wl,-rpath,/opt/lib -x none ./libown.so.1
	EXTRA=('user: 1001:1001')
	start_image '[/opt/app]' "$(put app /opt/app)" "$(put libown.so.1 /opt/lib/libown.so.1 "mode: $([[ $1 == twin ]] && echo 0644 || echo 0640)")"
	# The C library comes with another program's closure; the own library is in no place where one would find it.
	echo 'int main(void){return 0;}' | gcc -x c - -o other
	printf '    - closure: [other]\n' >>slipway.yaml
}

# ---- where ----

defect workdir-is-file workdir error breaks
plant_workdir_is_file() {
	named '[app]'
	sed -i "s#^image:#image:\n  workdir: /opt/bin$([[ $1 == twin ]] || echo /app)#" slipway.yaml
}

defect workdir-closed-to-user workdir warning
plant_workdir_closed_to_user() {
	static_program app
	EXTRA=('user: 1001:1001' 'workdir: /srv')
	start_image '[/app]' "$(put app /app)" "      - {directory: /srv, mode: $([[ $1 == twin ]] && echo 0755 || echo 0700)}"
}

defect path-not-expanded search-path warning
# shellcheck disable=SC2016 # likewise
plant_path_not_expanded() {
	named '[/opt/bin/app]'
	[[ $1 == twin ]] || sed -i 's#PATH: "/bin"#PATH: "/opt/bin:$PATH"#' slipway.yaml
}

defect path-to-nowhere search-path warning
plant_path_to_nowhere() {
	named '[/opt/bin/app]'
	[[ $1 == twin ]] || sed -i 's#PATH: "/bin"#PATH: "/app/bin"#' slipway.yaml
}

defect helper-without-interpreter script-interpreter warning
plant_helper_without_interpreter() {
	printf '#!/usr/bin/perl\n' >helper
	[[ $1 == defect ]] || printf '#!/bin/app\n' >helper
	named '[app]'
	put helper /bin/helper 'mode: 0755' | sed 's/^/  /' >>slipway.yaml
}

defect helper-with-crlf script-interpreter warning
plant_helper_with_crlf() {
	printf '#!/bin/app\r\n' >helper
	[[ $1 == defect ]] || printf '#!/bin/app\n' >helper
	named '[app]'
	put helper /bin/helper 'mode: 0755' | sed 's/^/  /' >>slipway.yaml
}

# What an image starts with, all the same, and should not be shipped with.
# shellcheck shell=bash

# tree_image: ./tree below /srv, with its links and folders, beside a program.
tree_image() {
	static_program app
	spec 'entrypoint: [/app]' 'layers:' '  - files:' '      - {from: app, to: /app}' '      - {from: tree, to: /srv}' "$@"
}

# folder_with FOLDER FILE...: where a version control system keeps its history.
folder_with() {
	local file
	mkdir -p tree/src
	echo text >tree/src/readme
	for file in "${@:2}"; do
		mkdir -p "$(dirname "tree/src/$1/$file")"
		echo text >"tree/src/$1/$file"
	done
}

defect git-folder vcs-folder warning
plant_git_folder() {
	folder_with "$([[ $1 == defect ]] && echo .git || echo .github)" HEAD config objects/aa/bb
	tree_image
}

defect svn-folder vcs-folder warning
plant_svn_folder() {
	folder_with "$([[ $1 == defect ]] && echo .svn || echo svn)" wc.db
	tree_image
}

defect hg-folder vcs-folder warning
plant_hg_folder() {
	folder_with .hg "$([[ $1 == defect ]] && echo store/00manifest.i || echo notes)"
	tree_image
}

# A real one is made by the kernel where the machine allows it; this has its header and its notes.
defect core-dump-left core-dump warning
plant_core_dump_left() {
	mkdir tree
	python3 - "$1" <<-'EOF'
		import struct, sys
		kind = 4 if sys.argv[1] == "defect" else 1  # ET_CORE, ET_REL
		ident = b"\x7fELF\x02\x01\x01" + bytes(9)
		header = struct.pack("<HHIQQQIHHHHHH", kind, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
		note = struct.pack("<IIQQQQQQ", 4, 0, 120, 0, 0, 64, 0, 4)
		open("tree/core.4711", "wb").write(ident + header + note + bytes(64))
	EOF
	tree_image
}

# link_to TARGET: a link /srv/current beside /srv/v1.
link_to() {
	mkdir tree
	echo text >tree/v1
	ln -s "$1" tree/current
	tree_image
}

defect dangling-relative-link dangling-link warning
plant_dangling_relative_link() { link_to "$([[ $1 == defect ]] && echo v2 || echo v1)"; }

# Right on the machine where it was made, wrong in the image; /proc is there when the image runs.
defect dangling-absolute-link dangling-link warning
plant_dangling_absolute_link() { link_to "$([[ $1 == defect ]] && echo /home/build/v1 || echo /proc/self/mounts)"; }

defect link-to-itself dangling-link warning
plant_link_to_itself() { link_to "$([[ $1 == defect ]] && echo current || echo .)"; }

# moded MODE: /srv/tool with these bits.
moded() {
	mkdir tree
	static_program tree/tool
	tree_image "      - {from: tree/tool, to: /opt/tool, mode: $1}"
}

defect setuid-program setuid warning
plant_setuid_program() { moded "$([[ $1 == defect ]] && echo 04755 || echo 0755)"; }

defect setgid-program setuid warning
plant_setgid_program() { moded "$([[ $1 == defect ]] && echo 02755 || echo 0755)"; }

defect program-writable-by-all world-writable warning
plant_program_writable_by_all() { moded "$([[ $1 == defect ]] && echo 0777 || echo 0775)"; }

defect folder-writable-by-all world-writable warning
plant_folder_writable_by_all() {
	mkdir tree
	tree_image "      - {directory: /var/spool, mode: $([[ $1 == defect ]] && echo 0777 || echo 01777)}"
}

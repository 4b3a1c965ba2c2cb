#!/usr/bin/env bats
# Tab completion, typed into real shells: what stands on the command line after the tab is what runs.

load lib
setup() {
	common_setup
	mkdir -p build.d/inside help.d
	: >'a file.yaml'
}
teardown() { common_teardown; }

# tab SHELL LINE WORDS: after a tab behind LINE the program gets these words.
tab() {
	local script=slipway.$1 words
	[[ $1 != zsh-fpath ]] || script=_slipway
	"$SLIPWAY" completion "${1%-*}" >"$script"
	words=$("$ROOT/tests/e2e/tab" "$1" "$script" "slipway $2")
	echo "$1: slipway $2<TAB> -> $words, wanted $3"
	[ "$words" = "$3" ]
}

# typed SHELL: what is the same in every shell.
typed() {
	mkdir -p build
	tab "$1" "bu" "build" # though there is a folder of this name
	tab "$1" "help bu" "help|build"
	tab "$1" "build --no-ch" "build|--no-check"
	tab "$1" "build --progress pl" "build|--progress|plain"
	tab "$1" "build -f a" "build|-f|a file.yaml"
	tab "$1" "completion fi" "completion|fish"
	tab "$1" "neff pu" "neff|pu"
	tab "$1" "neff li" "neff|list"
	tab "$1" "neff push a" "neff|push|a file.yaml"
	tab "$1" "neff push --allow" "neff|push|--allow-none"
	tab "$1" "neff push --module x --create-r" "neff|push|--module|x|--create-r" # an option of push's alone
}

@test "completion: bash completes commands, options, choices and files" {
	typed bash
	tab bash "build --progress=pl" "build|--progress=plain"
	tab bash "build -o build.d/in" "build|-o|build.d/inside/"
	tab bash "--vers" "--version"
}

@test "completion: zsh completes commands, options, choices and files" {
	need zsh
	typed zsh
	tab zsh "build --progress=pl" "build|--progress=plain"
}

@test "completion: zsh finds the script by its own search, from the first tab on" {
	need zsh
	tab zsh-fpath "bu" "build"
}

@test "completion: fish completes commands, options, choices and files" {
	need fish
	typed fish
	tab fish "build --progress=pl" "build|--progress=plain"
}

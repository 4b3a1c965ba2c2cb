#!/usr/bin/env bats
# Blocks of code in the documents: each is run by a test or says why none can, and those of README.md, docs/IMAGES.md and
# docs/TRUST.md that are marked are run here.
# shellcheck disable=SC2016 # what is in single quotes is for sed and for the pages

load lib

setup() { common_setup; }
teardown() { common_teardown; }

# hosts: what the documents call their registries, and where they are here.
hosts() { sed -E "s#(registry|staging|old|new)\.example\.com#$REG/\1#g"; }

# consoles PAGE: the commands of its marked blocks, in order.
consoles() {
	awk '/^<!-- runs -->$/ {m = 1} /^```console$/ && m {on = 1; next} /^```$/ {on = 0; m = 0} on && sub(/^\$ /, "")' "$ROOT/$1" | hosts
}

# typed PAGE COMMANDS: so many commands, in a shell that stops at the first failure.
typed() {
	consoles "$1" >script
	[ "$(wc -l <script)" = "$2" ]
	PATH=$WORK/bin:$PATH run bash -euxo pipefail script
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "documents: marked commands of README.md, docs/IMAGES.md and docs/TRUST.md run as they stand" {
	need openssl
	start_registry
	make_tree tree
	make_spec slipway.yaml "repository: $REG/registry/team/app" "platforms: [linux/amd64, linux/arm64]"
	mkdir bin
	cat >bin/slipway <<-EOS
		#!/bin/bash
		case \$1 in
		build) exec "$SLIPWAY" "\$@" ;;
		*) exec "$SLIPWAY" "\$@" --insecure ;;
		esac
	EOS
	chmod +x bin/slipway
	# What is there already: a lock file, and images that others pushed.
	"$SLIPWAY" build -q >/dev/null
	for name in staging/team/app:v2 old/team/app:v1 old/team/app:v3; do "$SLIPWAY" push -q --insecure build/image "$REG/$name" >/dev/null; done
	typed README.md 2
	grep -qE '^sha256:' image.digest
	json 'd["digest"]' <image.json | grep -qxF "$(cat image.digest)"
	typed docs/IMAGES.md 5
	[ "$(curl -s "http://$REG/v2/new/team/app/tags/list" | json 'sorted(d["tags"])')" = "['v1', 'v3']" ]
	"$SLIPWAY" verify -q oci-archive:app.tar >/dev/null
	typed docs/TRUST.md 4
	[[ $output == *"3 signatures made, 0 already there"*"vouched for: the bytes of this digest"* ]]
}

@test "documents: every picture has a title, text on its axes, and no two bars of one name" {
	python3 - "$ROOT/docs" <<-'EOS'
		import collections, glob, sys
		from xml.dom import minidom

		def words(picture, tag):
		    return ["".join(c.data for c in e.childNodes) for e in picture.getElementsByTagName(tag)]

		pictures = {path: minidom.parse(path) for path in glob.glob(sys.argv[1] + "/**/*.svg", recursive=True)}
		assert len(pictures) >= 4, pictures
		for path, picture in pictures.items():
		    assert words(picture, "title") and words(picture, "title")[0], path
		for name, axis in (("bench", "seconds"), ("learning", "step ")):
		    (path,) = [p for p in pictures if p.endswith(f"/{name}.svg")]
		    assert any(axis in text for text in words(pictures[path], "text")), path
		    rows = collections.Counter(words(pictures[path], "text"))
		    assert name != "bench" or max(rows.values()) == 1, rows.most_common(1)
	EOS
}

@test "documents: every block is run by a test or says why none can, and the lint sees a new one, a wrong option and a wrong key" {
	run "$ROOT/tests/lint/doc-blocks" "$SLIPWAY"
	echo "$output"
	[ "$status" -eq 0 ]
	mkdir copy
	(cd "$ROOT" && tar -cf - README.md CONTRIBUTING.md docs tests/lint tests/bare tests/e2e) | tar -xf - -C copy
	printf '\n```sh\nslipway paint --red\n```\n' >>copy/docs/ECR.md
	sed -i 's/^\$ slipway copy --all-tags /$ slipway copy --every-tag /; s/^  tags: \["\${git/  tagz: ["${git/' copy/docs/IMAGES.md
	sed -i '/^<!-- runs -->$/d' copy/docs/TRUST.md
	run copy/tests/lint/doc-blocks "$SLIPWAY"
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"docs/ECR.md:"*"no test runs this block"* ]]
	[[ $output == *"docs/IMAGES.md:"*"copy has no option --every-tag"* ]]
	[[ $output == *"docs/IMAGES.md:"*"unknown key 'tagz'"* ]]
	[[ $output == *"no block is docs/TRUST.md, '<!-- runs -->'"* ]]
}

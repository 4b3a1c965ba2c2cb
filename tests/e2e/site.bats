#!/usr/bin/env bats
# The site of the documents: it is made, its links lead somewhere, nothing comes from elsewhere, and its search answers.

load lib
setup() {
	common_setup
	need mkdocs
	[ -d /usr/share/doc/mkdocs-material ] || skip "mkdocs-material is not installed"
}
teardown() { common_teardown; }

# copy: what the site is made of, to be broken.
copy() {
	mkdir copy
	(cd "$ROOT" && tar -cf - README.md CONTRIBUTING.md LICENSE slipway.yaml docs trainer/README.md tests/pipeline builder/packaging/site) | tar -xf - -C copy
}

@test "site: a link that leads nowhere, a page that nothing leads to, and subjects of no page stop it" {
	copy
	printf '\n[nowhere](no-such-page.md)\n' >>copy/docs/ECR.md
	run copy/builder/packaging/site/build site
	[ "$status" -ne 0 ]
	[[ $output == *"docs/ECR.md: a link leads nowhere: no-such-page.md"* ]]
	cp "$ROOT/docs/ECR.md" copy/docs/ECR.md
	printf '# Alone\n' >copy/docs/ALONE.md
	run copy/builder/packaging/site/build site
	[ "$status" -ne 0 ]
	[[ $output == *"not in its navigation: ALONE.md"* ]]
	rm copy/docs/ALONE.md
	echo 'GONE.html: gone' >>copy/builder/packaging/site/subjects
	run copy/builder/packaging/site/build site
	[ "$status" -ne 0 ]
	[[ $output == *"subjects: no such page: GONE.html"* ]]
	[ ! -e site ]
}

@test "site: every link leads somewhere, nothing comes from elsewhere, and the search has the page of each question in three hits" {
	need node
	"$ROOT/builder/packaging/site/build" site
	"$ROOT/tests/e2e/site-questions" site
	# A page of a link's name has its title there; a block has the name of its file.
	grep -q '<a href="SPEC.html"><em>slipway.yaml</em></a>' site/FLEET.html
	grep -q '<span class="filename">slipway.yaml</span>' site/MISTAKES.html
	# The checks can fail: a search that knows few pages, links to nothing, a script from elsewhere, Markdown left over.
	python3 -c 'import json; p = "site/search/search_index.json"; d = json.load(open(p)); d["docs"] = d["docs"][:3]; json.dump(d, open(p, "w"))'
	sed -i 's|</body>|<a href="gone.html">x</a><a href="SBOM.html#gone">x</a><script src="https://cdn.test/x.js"></script></body>|' site/ECR.html
	sed -i 's/<h2 /<target>\n<p>| a | b |<\/p>\n<h2 /' site/SCAN.html
	run "$ROOT/tests/e2e/site-questions" site
	[ "$status" -eq 1 ]
	[[ $output == *"SBOM.html is not among"* ]]
	[[ $output == *"ECR.html: leads nowhere: gone.html"* ]]
	[[ $output == *"ECR.html: leads to no heading: SBOM.html#gone"* ]]
	[[ $output == *"comes from elsewhere: https://cdn.test/x.js"* ]]
	[[ $output == *"SCAN.html: HTML has no tag <target>"* ]]
	[[ $output == *"SCAN.html: Markdown that came out as text: | a | b |"* ]]
}

@test "site: in a browser it is drawn in light and in dark, and no page is wider than a phone" {
	need chromium
	"$ROOT/builder/packaging/site/build" site
	mkdir pictures
	"$ROOT/tests/e2e/site-questions" site pictures
	[ -s pictures/phone.png ]
	[ -s pictures/light.png ]
	run ! cmp -s pictures/light.png pictures/dark.png
	sed -i 's|<h2 |<div style="width:900px">wide</div><h2 |' site/SCAN.html
	run "$ROOT/tests/e2e/site-questions" site pictures
	[ "$status" -eq 1 ]
	[[ $output == *"SCAN.html: "*" pixels wide on a phone of 390"* ]]
}

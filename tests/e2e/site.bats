#!/usr/bin/env bats
# The site of the documents: it is made, its links lead somewhere, nothing comes from elsewhere, and its search answers.

load lib
setup() {
	common_setup
	need mkdocs
	[ -d /usr/share/doc/mkdocs-material ] || skip "mkdocs-material is not installed"
}
teardown() { common_teardown; }

@test "site: a link that leads nowhere stops it" {
	mkdir copy
	(cd "$ROOT" && tar -cf - README.md CONTRIBUTING.md LICENSE docs builder/packaging/site) | tar -xf - -C copy
	printf '\n[nowhere](no-such-page.md)\n' >>copy/docs/ECR.md
	run copy/builder/packaging/site/build site
	[ "$status" -ne 0 ]
	[[ $output == *"docs/ECR.md: a link leads nowhere: no-such-page.md"* ]]
	[ ! -e site ]
}

@test "site: every link leads somewhere, nothing comes from elsewhere, and the search has the page of each question in three hits" {
	need chromium
	"$ROOT/builder/packaging/site/build" site
	mkdir pictures
	"$ROOT/tests/e2e/site-questions" site pictures
	# Light and dark were both drawn, and differ.
	[ -s pictures/light.png ]
	[ -s pictures/dark.png ]
	run ! cmp -s pictures/light.png pictures/dark.png
	# The checks can fail: a search that knows no page, a link to nothing, and a script from elsewhere.
	python3 -c 'import json; p = "site/search/search_index.json"; d = json.load(open(p)); d["docs"] = d["docs"][:3]; json.dump(d, open(p, "w"))'
	sed -i 's|</body>|<a href="gone.html">x</a><script src="https://cdn.test/x.js"></script></body>|' site/ECR.html
	run "$ROOT/tests/e2e/site-questions" site
	[ "$status" -eq 1 ]
	[[ $output == *"SBOM.html is not among"* ]]
	[[ $output == *"ECR.html: leads nowhere: gone.html"* ]]
	[[ $output == *"comes from elsewhere: https://cdn.test/x.js"* ]]
}

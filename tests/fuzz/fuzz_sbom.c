/*
 * Any bytes as a database of packages, as a list of its files and as os-release (the first byte
 * says which): the documents of what was read are JSON, whatever the bytes are.
 */
#include <stdint.h>
#include <string.h>

#include "base/attr.h"
#include "base/doc/json.h"
#include "builder/sbom/document.h"
#include "builder/sbom/inventory.h"
#include "builder/sbom/inventory_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const paths[] = {
	"var/lib/dpkg/status",
	"var/lib/dpkg/status.d/x",
	"lib/apk/db/installed",
	"usr/lib/x.dist-info/METADATA",
	"var/lib/dpkg/info/x:amd64.list",
	"etc/os-release",
	"var/lib/dpkg/status.d/x.md5sums",
	"var/lib/rpm/rpmdb.sqlite",
};

static void check_json(const struct strbuf *text)
{
	AUTO(json) cJSON *doc = NULL;
	struct err err = {0};

	if (json_parse("document", strbuf_str(text), text->len, &doc, &err) != 0)
		__builtin_trap();
}

static void check_documents(struct inventory *inv, struct arena *a)
{
	const struct sbom_subject subject = {.name = "x",
	                                     .platform = {"linux", "amd64", ""},
	                                     .created = "1970-01-01T00:00:00Z",
	                                     .version = "1"};
	AUTO(inventory) struct inventory back = {.arena = a};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct err err = {0};

	for (unsigned form = 0; form < SBOM_FORMS; form++) {
		strbuf_reset(&text);
		sbom_print((enum sbom_form)form, &subject, inv, &text);
		check_json(&text);
	}
	strbuf_reset(&text);
	inventory_json(inv, &text);
	if (inventory_parse(strbuf_str(&text), text.len, &back, &err) != 0)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	static const char package[] = "Package: x\nVersion: 1\nArchitecture: amd64\n";
	struct scan_member members[2] = {
		{.path = size > 0 ? paths[data[0] % ARRAY_LEN(paths)] : paths[0],
	         .type = MEMBER_FILE,
	         .text = size > 0 ? arena_strndup(&a, (const char *)data + 1, size - 1) : "",
	         .text_len = size > 0 ? size - 1 : 0,
	         .size = size > 0 ? (int64_t)size - 1 : 0},
		{.path = "var/lib/dpkg/status.d/y",
	         .type = MEMBER_FILE,
	         .text = package,
	         .text_len = sizeof(package) - 1,
	         .size = sizeof(package) - 1}};
	struct layer_scan scan = {0};
	struct view view;
	AUTO(inventory) struct inventory inv = {.arena = &a};
	const struct inventory_opts opts = {0};
	struct err err = {0};

	vec_push(&scan.members, &members[0]);
	vec_push(&scan.members, &members[1]);
	view_init(&view, &a, NULL, NULL);
	if (view_apply(&view, &scan, 0, &err) == 0 &&
	    inventory_read(&inv, &view, &opts, &err) == 0) {
		inventory_sort(&inv);
		check_documents(&inv, &a);
	}
	view_done(&view);
	layer_scan_done(&scan);
	return 0;
}

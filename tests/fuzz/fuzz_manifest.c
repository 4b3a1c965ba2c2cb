/*
 * Any bytes as a manifest, an index, a configuration and a descriptor. What is accepted is printed, and the
 * print must be accepted and print alike; a configuration also serves as a base.
 */
#include <string.h>

#include "builder/oci/config.h"
#include "builder/oci/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(const struct strbuf *a, const struct strbuf *b)
{
	if (a->len != b->len || memcmp(strbuf_str(a), strbuf_str(b), a->len) != 0)
		BUG("printed '%s', then '%s'", strbuf_str(a), strbuf_str(b));
}

static void check_manifest(const char *text, size_t len)
{
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf one = STRBUF_INIT(8 << 20), two = STRBUF_INIT(8 << 20);
	struct manifest m;
	struct err err = {0};

	if (manifest_parse(text, len, NULL, &a, &m, &err) != 0)
		return;
	manifest_print(&m, &one);
	if (manifest_parse(one.ptr, one.len, m.media_type, &a, &m, &err) != 0)
		BUG("'%s': %s", strbuf_str(&one), err.msg);
	manifest_print(&m, &two);
	same(&one, &two);
}

static void check_index(const char *text, size_t len)
{
	static const struct platform arm = {"linux", "arm", "v7"};
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf one = STRBUF_INIT(8 << 20), two = STRBUF_INIT(8 << 20);
	struct index ix;
	struct err err = {0};

	if (index_parse(text, len, NULL, &a, &ix, &err) != 0)
		return;
	index_choose(&ix, &arm);
	index_print(&ix, &one);
	if (index_parse(one.ptr, one.len, ix.media_type, &a, &ix, &err) != 0)
		BUG("'%s': %s", strbuf_str(&one), err.msg);
	index_print(&ix, &two);
	same(&one, &two);
}

static void check_config(const char *text, size_t len)
{
	static const struct config_layer layer = {.history = {.created_by = "fuzz"}};
	AUTO(arena) struct arena a = {0};
	AUTO(json) cJSON *doc = NULL;
	AUTO(strbuf) struct strbuf out = STRBUF_INIT(8 << 20);
	struct config_settings s = {.platform = {"linux", "amd64", ""}, .user = "1", .has_entrypoint = true};
	struct image_config c;
	struct descriptor d;
	struct err err = {0};

	(void)config_parse(text, len, &a, &c, &err);
	if (json_parse("fuzz", text, len, &doc, &err) != 0)
		return;
	(void)descriptor_parse(doc, &a, &d, &err);
	strmap_set(&s.env, &a, "A", "1");
	strmap_set(&s.labels, &a, "A", "1");
	(void)config_make(doc, &s, &layer, 1, &out, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = size > 0 ? (const char *)data : "";

	check_manifest(text, size);
	check_index(text, size);
	check_config(text, size);
	return 0;
}

/* The readable form of a diff document. */
#include <string.h>

#include "base/attr.h"
#include "builder/check/diff.h"

static const char *text_of(const cJSON *obj, const char *key)
{
	const char *text = json_string(obj, key);

	return text != NULL ? text : "-";
}

static void put_json(struct strbuf *sb, const cJSON *value)
{
	if (value == NULL)
		strbuf_adds(sb, "(none)");
	else
		json_print(value, sb);
}

static void put_number(struct strbuf *sb, const cJSON *obj, const char *key)
{
	struct err err = {0};
	int64_t value;

	if (json_size(obj, key, &value, &err) == 0)
		strbuf_addf(sb, "%lld", (long long)value);
	else
		strbuf_adds(sb, "-");
}

/* What one side has of a difference: "mode" -> "0755". */
static void put_side(struct strbuf *sb, const cJSON *side, const char *what)
{
	if (strcmp(what, "content") == 0) {
		put_number(sb, side, "size");
		strbuf_adds(sb, " bytes");
	} else if (strcmp(what, "owner") == 0) {
		put_number(sb, side, "uid");
		strbuf_addc(sb, ':');
		put_number(sb, side, "gid");
	} else if (strcmp(what, "mtime") == 0) {
		put_number(sb, side, "mtime");
	} else {
		strbuf_adds(sb, text_of(side, what));
	}
}

static void put_layer(struct strbuf *sb, const cJSON *side)
{
	const char *name = json_string(side, "layerName");

	strbuf_adds(sb, "  (layer ");
	put_number(sb, side, "layer");
	if (name != NULL)
		strbuf_addf(sb, " '%s'", name);
	strbuf_addc(sb, ')');
}

static void put_file(struct strbuf *sb, const cJSON *file)
{
	const cJSON *a = json_get(file, "a"), *b = json_get(file, "b"), *what;

	strbuf_addf(sb, "  %c %s", a == NULL ? '+' : b == NULL ? '-' : '~', text_of(file, "path"));
	put_layer(sb, b != NULL ? b : a);
	strbuf_addc(sb, '\n');
	cJSON_ArrayForEach (what, json_get(file, "what")) {
		strbuf_addf(sb, "      %s", what->valuestring);
		if (strcmp(what->valuestring, "xattrs") != 0) {
			strbuf_adds(sb, ": ");
			put_side(sb, a, what->valuestring);
			strbuf_adds(sb, " -> ");
			put_side(sb, b, what->valuestring);
		}
		strbuf_addc(sb, '\n');
	}
}

/* " 0x41 -> 0x42", "(end)" where a side has no more. */
static void put_byte(struct strbuf *sb, const cJSON *first, const char *key)
{
	struct err err = {0};
	int64_t byte;

	if (json_size(first, key, &byte, &err) == 0)
		strbuf_addf(sb, "0x%02x", (unsigned)byte & 0xff);
	else
		strbuf_adds(sb, "(end)");
}

static void put_bytes(struct strbuf *sb, const cJSON *first)
{
	strbuf_adds(sb, ": ");
	put_byte(sb, first, "a");
	strbuf_adds(sb, " -> ");
	put_byte(sb, first, "b");
	strbuf_addc(sb, '\n');
}

/* The first byte that differs in a layer. */
static void put_first(struct strbuf *sb, const cJSON *first)
{
	static const struct {
		const char *in, *text;
	} words[] = {{"content", "of the content of"},
	             {"header", "of the header of"},
	             {"padding", "of the padding behind"},
	             {"end", "behind the last file"},
	             {"compression", "of the compressed bytes; the tar is the same"}};
	const char *in = text_of(first, "in"), *path = json_string(first, "path");

	strbuf_adds(sb, "      first at byte ");
	put_number(sb, first, "offset");
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(words[i].in, in) == 0)
			strbuf_addf(sb, " %s", words[i].text);
	if (path != NULL)
		strbuf_addf(sb, " %s", path[0] != '\0' ? path : "/");
	if (json_get(first, "tar_offset") != NULL) {
		strbuf_adds(sb, " (byte ");
		put_number(sb, first, "tar_offset");
		strbuf_adds(sb, " of the tar)");
	}
	put_bytes(sb, first);
}

static void put_changed_layer(struct strbuf *sb, const cJSON *item)
{
	const char *name = json_string(item, "name");
	const cJSON *first = json_get(item, "first");

	strbuf_adds(sb, "  layer ");
	put_number(sb, item, "layer");
	if (first != NULL && name != NULL)
		strbuf_addf(sb, " '%s'", name);
	strbuf_addf(sb, ": %s -> %s\n", text_of(item, "a"), text_of(item, "b"));
	if (first != NULL)
		put_first(sb, first);
}

static void put_document(struct strbuf *sb, const cJSON *item)
{
	strbuf_addf(sb, "%s: first at byte ", text_of(item, "what"));
	put_number(sb, item, "offset");
	put_bytes(sb, item);
}

static void put_platform(struct strbuf *sb, const cJSON *doc, const cJSON *platform)
{
	const char *only = json_string(platform, "only");
	const cJSON *item, *files = json_get(platform, "files");

	strbuf_addf(sb, "%s:\n", text_of(platform, "platform"));
	if (only != NULL) {
		strbuf_addf(sb, "  only in %s\n", text_of(doc, only));
		return;
	}
	cJSON_ArrayForEach (item, json_get(platform, "config")) {
		strbuf_addf(sb, "  configuration %s: ", text_of(item, "member"));
		put_json(sb, json_get(item, "a"));
		strbuf_adds(sb, " -> ");
		put_json(sb, json_get(item, "b"));
		strbuf_addc(sb, '\n');
	}
	cJSON_ArrayForEach (item, json_get(platform, "layers")) {
		put_changed_layer(sb, item);
	}
	cJSON_ArrayForEach (item, files) {
		put_file(sb, item);
	}
	if (cJSON_GetArraySize(files) == 0)
		strbuf_adds(sb, "  no file differs\n");
}

void diff_text(const cJSON *doc, struct strbuf *sb)
{
	const cJSON *item;

	if (cJSON_IsTrue(json_get(doc, "equal"))) {
		strbuf_addf(sb, "%s and %s are equal\n", text_of(doc, "a"), text_of(doc, "b"));
		return;
	}
	strbuf_addf(sb, "--- %s\n+++ %s\n", text_of(doc, "a"), text_of(doc, "b"));
	cJSON_ArrayForEach (item, json_get(doc, "annotations")) {
		strbuf_addf(sb, "%s: annotation %s: %s -> %s\n", text_of(item, "where"),
		            text_of(item, "key"), text_of(item, "a"), text_of(item, "b"));
	}
	cJSON_ArrayForEach (item, json_get(doc, "documents")) {
		put_document(sb, item);
	}
	cJSON_ArrayForEach (item, json_get(doc, "platforms")) {
		put_platform(sb, doc, item);
	}
}

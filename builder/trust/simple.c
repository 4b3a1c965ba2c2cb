#include "builder/trust/simple.h"

#include <string.h>

#include "base/doc/json.h"

#define SIMPLE_TYPE "cosign container image signature"

enum { SIMPLE_ANNOTATIONS_MAX = 1024 };

char *simple_tag(const struct digest *subject, char out[SIMPLE_TAG_MAX])
{
	char hex[DIGEST_HEX_MAX];

	snprintf(out, SIMPLE_TAG_MAX, "sha256-%s.sig", digest_hex(subject, hex));
	return out;
}

static int parse_optional(const cJSON *obj, struct arena *a, struct strmap *map, struct err *err)
{
	const cJSON *item = NULL;

	if (obj == NULL || cJSON_IsNull(obj))
		return 0;
	if (!cJSON_IsObject(obj))
		return err_set(err, ERR_FORMAT, "optional is not an object");
	cJSON_ArrayForEach (item, obj) {
		if (map->n == SIMPLE_ANNOTATIONS_MAX)
			return err_set(err, ERR_LIMIT, "more than %d annotations",
			               SIMPLE_ANNOTATIONS_MAX);
		if (cJSON_IsString(item))
			strmap_set(map, a, item->string, item->valuestring);
	}
	return 0;
}

static int parse(const cJSON *doc, struct arena *a, struct simple_payload *p, struct err *err)
{
	const cJSON *critical = json_get(doc, "critical");
	const char *type = json_string(critical, "type"),
		   *digest = json_string(json_get(critical, "image"), "docker-manifest-digest"),
		   *reference = json_string(json_get(critical, "identity"), "docker-reference");

	if (type == NULL || strcmp(type, SIMPLE_TYPE) != 0)
		return err_set(err, ERR_FORMAT, "its type is '%.80s'", type != NULL ? type : "");
	if (digest == NULL)
		return err_set(err, ERR_FORMAT, "it names no image");
	if (digest_parse(digest, &p->digest, err) != 0)
		return -1;
	p->reference = arena_strdup(a, reference != NULL ? reference : "");
	return parse_optional(json_get(doc, "optional"), a, &p->annotations, err);
}

int simple_parse(const char *text, size_t len, struct arena *a, struct simple_payload *ret_payload,
                 struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	struct simple_payload p = {0};

	if (json_parse("signed payload", text, len, &doc, err) != 0)
		return -1;
	if (parse(doc, a, &p, err) != 0)
		return err_wrap(err, "signed payload");
	*ret_payload = p;
	return 0;
}

void simple_print(const struct simple_payload *payload, struct strbuf *sb)
{
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	cJSON *critical = json_add_object(doc, "critical"), *optional;
	char digest[DIGEST_TEXT_MAX];

	json_add_string(json_add_object(critical, "identity"), "docker-reference",
	                payload->reference);
	json_add_string(json_add_object(critical, "image"), "docker-manifest-digest",
	                digest_text(&payload->digest, digest));
	json_add_string(critical, "type", SIMPLE_TYPE);
	if (payload->annotations.n == 0)
		cJSON_AddNullToObject(doc, "optional");
	optional = payload->annotations.n > 0 ? json_add_object(doc, "optional") : NULL;
	for (size_t i = 0; i < payload->annotations.n; i++)
		json_add_string(optional, payload->annotations.at[i].key,
		                payload->annotations.at[i].value);
	json_print(doc, sb);
}

void simple_print_config(const struct digest *layers, size_t n, struct strbuf *sb)
{
	static const char created[] = "0001-01-01T00:00:00Z";
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	cJSON *history, *rootfs, *ids;
	char digest[DIGEST_TEXT_MAX];

	json_add_string(doc, "architecture", "");
	json_add_string(doc, "created", created);
	history = json_add_array(doc, "history");
	json_add_string(doc, "os", "");
	rootfs = json_add_object(doc, "rootfs");
	json_add_string(rootfs, "type", "layers");
	ids = json_add_array(rootfs, "diff_ids");
	for (size_t i = 0; i < n; i++) {
		cJSON *entry = cJSON_CreateObject();

		json_add_string(entry, "created", created);
		json_push(history, entry);
		json_push_string(ids, digest_text(&layers[i], digest));
	}
	json_add_object(doc, "config");
	json_print(doc, sb);
}

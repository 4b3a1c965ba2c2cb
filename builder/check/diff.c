#include "builder/check/diff.h"

#include <string.h>

#include "builder/check/diff_internal.h"
#include "builder/oci/config.h"
#include "builder/oci/mediatype.h"

struct diff_images {
	struct diff_image *at;
	size_t n;
	struct strmap annotations; /* of the index */
};

static void images_done(struct diff_images *list)
{
	for (size_t i = 0; i < list->n; i++)
		cJSON_Delete(list->at[i].config);
	list->n = 0;
}

static int read_image(struct diff_image *image, const struct diff_side *side,
                      const struct descriptor *desc, struct arena *arena, struct err *err)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(CONFIG_BYTES_MAX);
	struct platform platform = desc->platform;
	struct image_config config;

	image->store = side->store;
	image->desc = *desc;
	if (store_read(side->store, desc, MANIFEST_BYTES_MAX, &sb, err) != 0 ||
	    manifest_parse(strbuf_str(&sb), sb.len, desc->media_type, arena, &image->manifest,
	                   err) != 0)
		return err_wrap(err, "manifest");
	if (store_read(side->store, &image->manifest.config, CONFIG_BYTES_MAX, &sb, err) != 0 ||
	    config_parse(strbuf_str(&sb), sb.len, arena, &config, err) != 0 ||
	    json_parse("configuration", strbuf_str(&sb), sb.len, &image->config, err) != 0)
		return err_wrap(err, "configuration");
	if (platform.os[0] == '\0')
		platform = config.platform;
	platform_text(&platform, image->platform);
	return 0;
}

static int read_index(const struct diff_side *side, struct arena *arena, struct index *ret_index,
                      struct err *err)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(MANIFEST_BYTES_MAX);

	if (!media_is_index(side->root->media_type))
		return err_set(err, ERR_FORMAT, "'%s' is neither an image index nor a manifest",
		               side->root->media_type);
	if (store_read(side->store, side->root, MANIFEST_BYTES_MAX, &sb, err) != 0)
		return -1;
	return index_parse(strbuf_str(&sb), sb.len, side->root->media_type, arena, ret_index, err);
}

static int read_side(const struct diff_side *side, struct arena *arena, struct diff_images *list,
                     struct err *err)
{
	struct index index = {0};

	if (media_is_manifest(side->root->media_type)) {
		list->at = arena_calloc(arena, 1, sizeof(*list->at));
		list->n = 1;
		return read_image(&list->at[0], side, side->root, arena, err);
	}
	if (read_index(side, arena, &index, err) != 0)
		return -1;
	list->annotations = index.annotations;
	list->at = arena_calloc(arena, index.n_manifests + 1, sizeof(*list->at));
	for (size_t i = 0; i < index.n_manifests; i++) {
		const struct descriptor *desc = &index.manifests[i];

		if (!media_is_manifest(desc->media_type) ||
		    strcmp(desc->platform.os, "unknown") == 0)
			continue;
		if (read_image(&list->at[list->n++], side, desc, arena, err) != 0)
			return -1;
	}
	return 0;
}

/* ---- annotations and configuration ---- */

static void diff_annotation(cJSON *out, const char *where, const char *key, const char *a,
                            const char *b)
{
	cJSON *item;

	if (a != NULL && b != NULL && strcmp(a, b) == 0)
		return;
	item = cJSON_CreateObject();
	json_add_string(item, "where", where);
	json_add_string(item, "key", key);
	json_add_string(item, "a", a);
	json_add_string(item, "b", b);
	json_push(out, item);
}

static void diff_annotations(cJSON *out, const char *where, const struct strmap *a,
                             const struct strmap *b)
{
	for (size_t i = 0; i < a->n; i++)
		diff_annotation(out, where, a->at[i].key, a->at[i].value,
		                strmap_get(b, a->at[i].key));
	for (size_t i = 0; i < b->n; i++)
		if (strmap_get(a, b->at[i].key) == NULL)
			diff_annotation(out, where, b->at[i].key, NULL, b->at[i].value);
}

static void diff_member(cJSON *out, const char *member, const cJSON *a, const cJSON *b)
{
	cJSON *item;

	if (cJSON_Compare(a, b, true))
		return;
	item = cJSON_CreateObject();
	json_add_string(item, "member", member);
	if (a != NULL)
		cJSON_AddItemToObject(item, "a", cJSON_Duplicate(a, true));
	if (b != NULL)
		cJSON_AddItemToObject(item, "b", cJSON_Duplicate(b, true));
	json_push(out, item);
}

/* Members of two objects, `config` one level deeper; rootfs follows from the layers. */
static void diff_members(cJSON *out, const char *prefix, const cJSON *a, const cJSON *b,
                         struct arena *arena)
{
	const cJSON *sides[2] = {a, b}, *item;

	for (size_t i = 0; i < 2; i++) {
		cJSON_ArrayForEach (item, sides[i]) {
			const char *key = item->string;
			const cJSON *x = json_get(a, key), *y = json_get(b, key);

			if ((i == 1 && x != NULL) ||
			    (prefix[0] == '\0' && strcmp(key, "rootfs") == 0))
				continue;
			if (prefix[0] == '\0' && strcmp(key, "config") == 0 && cJSON_IsObject(x) &&
			    cJSON_IsObject(y))
				diff_members(out, "config.", x, y, arena);
			else
				diff_member(out, arena_printf(arena, "%s%s", prefix, key), x, y);
		}
	}
}

static void diff_layers(cJSON *out, const struct manifest *a, const struct manifest *b)
{
	size_t n = a->n_layers > b->n_layers ? a->n_layers : b->n_layers;
	char text[DIGEST_TEXT_MAX];

	for (size_t i = 0; i < n; i++) {
		const struct descriptor *x = i < a->n_layers ? &a->layers[i] : NULL;
		const struct descriptor *y = i < b->n_layers ? &b->layers[i] : NULL;
		cJSON *item;

		if (x != NULL && y != NULL && digest_equal(&x->digest, &y->digest))
			continue;
		item = cJSON_CreateObject();
		json_add_int(item, "layer", (int64_t)i + 1);
		json_add_string(
			item, "name",
			strmap_get(&(x != NULL ? x : y)->annotations, ANNOTATION_LAYER_NAME));
		json_add_string(item, "a", x != NULL ? digest_text(&x->digest, text) : NULL);
		json_add_string(item, "b", y != NULL ? digest_text(&y->digest, text) : NULL);
		json_push(out, item);
	}
}

/* ---- platforms ---- */

static const struct diff_image *find_platform(const struct diff_images *list, const char *platform)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->at[i].platform, platform) == 0)
			return &list->at[i];
	return NULL;
}

static void only_on(cJSON *platforms, const struct diff_images *have,
                    const struct diff_images *other, const char *side)
{
	for (size_t i = 0; i < have->n; i++) {
		cJSON *item;

		if (find_platform(other, have->at[i].platform) != NULL)
			continue;
		item = cJSON_CreateObject();
		json_add_string(item, "platform", have->at[i].platform);
		json_add_string(item, "only", side);
		json_push(platforms, item);
	}
}

static int diff_platform(cJSON *doc, const struct diff_image *a, const struct diff_image *b,
                         struct arena *arena, struct err *err)
{
	cJSON *item;

	if (digest_equal(&a->desc.digest, &b->desc.digest))
		return 0;
	item = cJSON_CreateObject();
	json_add_string(item, "platform", a->platform);
	json_push(cJSON_GetObjectItemCaseSensitive(doc, "platforms"), item);
	diff_annotations(cJSON_GetObjectItemCaseSensitive(doc, "annotations"), a->platform,
	                 &a->manifest.annotations, &b->manifest.annotations);
	diff_members(json_add_array(item, "config"), "", a->config, b->config, arena);
	diff_layers(json_add_array(item, "layers"), &a->manifest, &b->manifest);
	return diff_files(a, b, arena, json_add_array(item, "files"), err);
}

static int diff_all(cJSON *doc, const struct diff_images *x, const struct diff_images *y,
                    struct arena *arena, struct err *err)
{
	diff_annotations(cJSON_GetObjectItemCaseSensitive(doc, "annotations"), "index",
	                 &x->annotations, &y->annotations);
	for (size_t i = 0; i < x->n; i++) {
		const struct diff_image *other = find_platform(y, x->at[i].platform);

		if (other != NULL && diff_platform(doc, &x->at[i], other, arena, err) != 0)
			return err_wrap(err, "%s", x->at[i].platform);
	}
	only_on(cJSON_GetObjectItemCaseSensitive(doc, "platforms"), x, y, "a");
	only_on(cJSON_GetObjectItemCaseSensitive(doc, "platforms"), y, x, "b");
	return 0;
}

int diff_images(const struct diff_side *a, const struct diff_side *b, cJSON **ret_doc,
                struct err *err)
{
	AUTO(arena) struct arena arena = {0};
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	struct diff_images x = {0}, y = {0};
	bool equal = digest_equal(&a->root->digest, &b->root->digest);
	int rc = 0;

	json_add_bool(doc, "equal", equal);
	json_add_string(doc, "a", a->name);
	json_add_string(doc, "b", b->name);
	json_add_array(doc, "platforms");
	json_add_array(doc, "annotations");
	if (!equal) {
		if (read_side(a, &arena, &x, err) != 0)
			rc = err_wrap(err, "'%s'", a->name);
		else if (read_side(b, &arena, &y, err) != 0)
			rc = err_wrap(err, "'%s'", b->name);
		else
			rc = diff_all(doc, &x, &y, &arena, err);
	}
	images_done(&x);
	images_done(&y);
	if (rc != 0)
		return err_wrap(err, "diff");
	*ret_doc = doc;
	doc = NULL;
	return 0;
}

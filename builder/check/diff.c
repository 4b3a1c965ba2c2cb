#include "builder/check/diff.h"

#include <string.h>

#include "base/interrupt.h"
#include "builder/check/diff_internal.h"
#include "builder/oci/config.h"
#include "builder/oci/mediatype.h"

/* Bytes of memory that a byte of JSON may become, as a tree and in the document of a diff. */
enum { JSON_WEIGHT = 16 };

struct diff_images {
	struct diff_image *at;
	size_t n;
	struct strmap annotations; /* of the index */
};

static int read_image(struct diff_image *image, const struct diff_side *side,
                      const struct descriptor *desc, struct arena *arena, struct err *err)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(CONFIG_BYTES_MAX);
	AUTO(arena) struct arena passing = {0};
	struct platform platform = desc->platform;
	struct image_config config;

	image->store = side->store;
	image->desc = *desc;
	if (interrupt_check(err) != 0)
		return -1;
	if (store_read(side->store, desc, MANIFEST_BYTES_MAX, &sb, err) != 0 ||
	    manifest_parse(strbuf_str(&sb), sb.len, desc->media_type, arena, &image->manifest,
	                   err) != 0)
		return err_wrap(err, "manifest");
	if (store_read(side->store, &image->manifest.config, CONFIG_BYTES_MAX, &sb, err) != 0 ||
	    config_parse(strbuf_str(&sb), sb.len, &passing, &config, err) != 0)
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

static int diff_layers(struct diff_run *run, const struct diff_image *x_image,
                       const struct diff_image *y_image, cJSON *out, struct err *err)
{
	const struct manifest *a = &x_image->manifest, *b = &y_image->manifest;
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
		if (run->bytes && x != NULL && y != NULL &&
		    diff_layer_bytes(run, &(struct diff_blob){x_image->store, x},
		                     &(struct diff_blob){y_image->store, y}, item, err) != 0)
			return err_wrap(err, "layer %zu", i + 1);
	}
	return 0;
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

/* Read again rather than kept: an index may name one large configuration thousands of times. */
static int read_config(const struct diff_image *image, struct budget *budget, cJSON **ret_config,
                       struct err *err)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(CONFIG_BYTES_MAX);

	budget_spend(budget, BUDGET_KEPT, JSON_WEIGHT * image->manifest.config.size);
	if (budget_check(budget, err) != 0 ||
	    store_read(image->store, &image->manifest.config, CONFIG_BYTES_MAX, &sb, err) != 0 ||
	    json_parse("configuration", strbuf_str(&sb), sb.len, ret_config, err) != 0)
		return err_wrap(err, "configuration");
	return 0;
}

static int add_configs(struct diff_run *run, const struct diff_image *a, const struct diff_image *b,
                       cJSON *out, struct err *err)
{
	AUTO(json) cJSON *x = NULL;
	AUTO(json) cJSON *y = NULL;

	if (digest_equal(&a->manifest.config.digest, &b->manifest.config.digest))
		return 0;
	if (read_config(a, run->budget, &x, err) != 0 || read_config(b, run->budget, &y, err) != 0)
		return -1;
	diff_configs(x, y, run->arena, out);
	return 0;
}

/* The documents of one platform, as bytes. */
static int add_documents(struct diff_run *run, const struct diff_image *a,
                         const struct diff_image *b, struct err *err)
{
	const struct {
		const char *name;
		const struct descriptor *a, *b;
		size_t max;
	} rows[] = {{"manifest", &a->desc, &b->desc, MANIFEST_BYTES_MAX},
	            {"configuration", &a->manifest.config, &b->manifest.config, CONFIG_BYTES_MAX}};

	for (size_t i = 0; run->bytes && i < ARRAY_LEN(rows); i++)
		if (diff_document_bytes(
			    run, arena_printf(run->arena, "%s %s", a->platform, rows[i].name),
			    &(struct diff_blob){a->store, rows[i].a},
			    &(struct diff_blob){b->store, rows[i].b}, rows[i].max, err) != 0)
			return -1;
	return 0;
}

static int diff_platform(struct diff_run *run, cJSON *doc, const struct diff_image *a,
                         const struct diff_image *b, struct err *err)
{
	cJSON *item;

	if (digest_equal(&a->desc.digest, &b->desc.digest))
		return 0;
	item = cJSON_CreateObject();
	json_add_string(item, "platform", a->platform);
	json_push(cJSON_GetObjectItemCaseSensitive(doc, "platforms"), item);
	diff_annotations(cJSON_GetObjectItemCaseSensitive(doc, "annotations"), a->platform,
	                 &a->manifest.annotations, &b->manifest.annotations);
	if (add_configs(run, a, b, json_add_array(item, "config"), err) != 0)
		return -1;
	budget_spend(run->budget, BUDGET_KEPT,
	             JSON_WEIGHT * (a->desc.size + b->desc.size)); /* what follows is of these */
	if (diff_layers(run, a, b, json_add_array(item, "layers"), err) != 0 ||
	    diff_files(run, a, b, json_add_array(item, "files"), err) != 0)
		return -1;
	return add_documents(run, a, b, err);
}

static int diff_all(struct diff_run *run, cJSON *doc, const struct diff_images *x,
                    const struct diff_images *y, struct err *err)
{
	diff_annotations(cJSON_GetObjectItemCaseSensitive(doc, "annotations"), "index",
	                 &x->annotations, &y->annotations);
	for (size_t i = 0; i < x->n; i++) {
		const struct diff_image *other = find_platform(y, x->at[i].platform);

		if (other != NULL && diff_platform(run, doc, &x->at[i], other, err) != 0)
			return err_wrap(err, "%s", x->at[i].platform);
	}
	only_on(cJSON_GetObjectItemCaseSensitive(doc, "platforms"), x, y, "a");
	only_on(cJSON_GetObjectItemCaseSensitive(doc, "platforms"), y, x, "b");
	return 0;
}

/* An index against a manifest is compared by its images alone. */
static int diff_roots(const struct diff_side *a, const struct diff_side *b, struct diff_run *run,
                      struct err *err)
{
	if (!run->bytes || !media_is_index(a->root->media_type) ||
	    !media_is_index(b->root->media_type))
		return 0;
	return diff_document_bytes(run, "index", &(struct diff_blob){a->store, a->root},
	                           &(struct diff_blob){b->store, b->root}, MANIFEST_BYTES_MAX, err);
}

static int diff_sides(const struct diff_side *a, const struct diff_side *b, struct diff_run *run,
                      cJSON *doc, struct err *err)
{
	struct diff_images x = {0}, y = {0};

	if (read_side(a, run->arena, &x, err) != 0)
		return err_wrap(err, "'%s'", a->name);
	if (read_side(b, run->arena, &y, err) != 0)
		return err_wrap(err, "'%s'", b->name);
	return diff_all(run, doc, &x, &y, err) != 0 ? -1 : diff_roots(a, b, run, err);
}

int diff_images(const struct diff_side *a, const struct diff_side *b, const struct diff_opts *opts,
                cJSON **ret_doc, struct err *err)
{
	AUTO(arena) struct arena arena = {0};
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	struct diff_run run = {.arena = &arena, .budget = opts->budget, .bytes = opts->bytes};
	bool equal = digest_equal(&a->root->digest, &b->root->digest);
	int rc;

	json_add_bool(doc, "equal", equal);
	json_add_string(doc, "a", a->name);
	json_add_string(doc, "b", b->name);
	json_add_array(doc, "platforms");
	json_add_array(doc, "annotations");
	run.documents = opts->bytes ? json_add_array(doc, "documents") : NULL;
	rc = equal ? 0 : diff_sides(a, b, &run, doc, err);
	diff_run_done(&run);
	if (rc != 0)
		return err_wrap(err, "diff");
	*ret_doc = doc;
	doc = NULL;
	return 0;
}

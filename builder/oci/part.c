#include "builder/oci/part.h"

#include <string.h>

#include "base/attr.h"
#include "builder/oci/mediatype.h"
#include "builder/oci/ref.h"

static const char schema_name[] = "slipway.dev/part/v1";

cJSON *image_part_json(const struct image_part *part)
{
	cJSON *doc = cJSON_CreateObject();
	char platform[PLATFORM_TEXT_MAX];

	json_add_string(doc, "schema", schema_name);
	json_add_string(doc, "repository", part->repository);
	cJSON *manifests = json_add_array(doc, "manifests");

	for (size_t i = 0; i < part->n_manifests; i++)
		json_push(manifests, descriptor_json(&part->manifests[i]));
	cJSON *index = json_add_object(doc, "index");
	cJSON *platforms = json_add_array(index, "platforms");

	for (size_t i = 0; i < part->n_platforms; i++)
		json_push_string(platforms, platform_text(&part->platforms[i], platform));
	annotations_json(&part->annotations, index);
	return doc;
}

/* ---- reading ---- */

static int parse_repository(const cJSON *doc, struct arena *a, struct image_part *part,
                            struct err *err)
{
	const char *text = json_string(doc, "repository");
	struct ref ref;

	if (text == NULL)
		return err_set(err, ERR_FORMAT, "it has no repository");
	if (ref_parse(text, a, &ref, err) != 0)
		return err_wrap(err, "repository");
	if (ref.kind != REF_REGISTRY || ref.tag != NULL || ref.has_digest)
		return err_set(err, ERR_FORMAT, "'%.200s' is not HOST/NAME", text);
	part->repository = ref_text(&ref, a);
	return 0;
}

/* A list of at most `max`; NULL after an error. */
static const cJSON *list_of(const cJSON *doc, const char *key, int max, size_t *ret_n,
                            struct err *err)
{
	const cJSON *list = json_get(doc, key);
	int n = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;

	if (n == 0 || n > max) {
		err_set(err, ERR_FORMAT, "'%s' is not a list of 1 to %d entries", key, max);
		return NULL;
	}
	*ret_n = (size_t)n;
	return list;
}

static int parse_manifests(const cJSON *doc, struct arena *a, struct image_part *part,
                           struct err *err)
{
	const cJSON *list = list_of(doc, "manifests", 2 * PART_PLATFORMS_MAX, &part->n_manifests,
	                            err),
		    *item;
	size_t i = 0;

	if (list == NULL)
		return -1;
	part->manifests = arena_calloc(a, part->n_manifests, sizeof(*part->manifests));
	cJSON_ArrayForEach (item, list) {
		struct descriptor *d = &part->manifests[i++];

		if (descriptor_parse(item, a, d, err) != 0)
			return err_wrap(err, "manifests[%zu]", i - 1);
		if (strcmp(d->media_type, MEDIA_MANIFEST) != 0 || d->platform.os[0] == '\0' ||
		    d->size > MANIFEST_BYTES_MAX)
			return err_set(err, ERR_FORMAT,
			               "manifests[%zu] is not a platform's image manifest", i - 1);
	}
	return 0;
}

static int parse_platforms(const cJSON *index, struct arena *a, struct image_part *part,
                           struct err *err)
{
	const cJSON *list = list_of(index, "platforms", PART_PLATFORMS_MAX, &part->n_platforms,
	                            err),
		    *item;
	size_t i = 0;

	if (list == NULL)
		return -1;
	part->platforms = arena_calloc(a, part->n_platforms, sizeof(*part->platforms));
	cJSON_ArrayForEach (item, list) {
		if (!cJSON_IsString(item))
			return err_set(err, ERR_FORMAT, "index.platforms[%zu] is not a string", i);
		if (platform_parse(item->valuestring, &part->platforms[i], err) != 0)
			return err_wrap(err, "index.platforms[%zu]", i);
		i++;
	}
	return 0;
}

static int parse_document(const cJSON *doc, struct arena *a, struct image_part *part,
                          struct err *err)
{
	const char *schema = json_string(doc, "schema");
	const cJSON *index = json_get(doc, "index");

	if (schema == NULL || strcmp(schema, schema_name) != 0) {
		err_set(err, ERR_FORMAT, "it is not a build's result file");
		return err_hint(err, "`slipway build --push-by-digest --result-file FILE` writes "
		                     "one");
	}
	if (parse_repository(doc, a, part, err) != 0 || parse_manifests(doc, a, part, err) != 0 ||
	    parse_platforms(index, a, part, err) != 0)
		return -1;
	if (annotations_parse(index, a, &part->annotations, err) != 0)
		return err_wrap(err, "index");
	strmap_sort(&part->annotations);
	return 0;
}

int image_part_parse(const char *file, const char *text, size_t len, struct arena *a,
                     struct image_part *ret_part, struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	struct image_part part = {.file = file};

	if (json_parse(file, text, len, &doc, err) != 0)
		return -1;
	if (parse_document(doc, a, &part, err) != 0)
		return err_wrap(err, "'%s'", file);
	*ret_part = part;
	return 0;
}

/* ---- joining ---- */

static bool same_platforms(const struct image_part *one, const struct image_part *two)
{
	if (one->n_platforms != two->n_platforms)
		return false;
	for (size_t i = 0; i < one->n_platforms; i++)
		if (!platform_equal(&one->platforms[i], &two->platforms[i]))
			return false;
	return true;
}

static bool same_annotations(const struct strmap *one, const struct strmap *two)
{
	if (one->n != two->n)
		return false;
	for (size_t i = 0; i < one->n; i++)
		if (strcmp(one->at[i].key, two->at[i].key) != 0 ||
		    strcmp(one->at[i].value, two->at[i].value) != 0)
			return false;
	return true;
}

static int check_agreement(const struct image_part *first, const struct image_part *other,
                           struct err *err)
{
	const char *what = strcmp(first->repository, other->repository) != 0 ? "repositories"
	                   : !same_platforms(first, other)                   ? "platforms"
	                   : !same_annotations(&first->annotations, &other->annotations)
	                           ? "annotations"
	                           : NULL;

	if (what == NULL)
		return 0;
	err_set(err, ERR_CONFLICT, "'%s' and '%s' come from images with different %s", first->file,
	        other->file, what);
	return err_hint(err, "build every platform of the same commit, with the same spec, "
	                     "--set options and SOURCE_DATE_EPOCH");
}

/* Where a platform stands in the index; n_platforms when it does not. */
static size_t place_of(const struct image_part *part, const struct platform *p)
{
	size_t i = 0;

	while (i < part->n_platforms && !platform_equal(&part->platforms[i], p))
		i++;
	return i;
}

static int put_in_index(const struct image_part *part, struct index *index, const char **files,
                        struct err *err)
{
	char platform[PLATFORM_TEXT_MAX];

	for (size_t i = 0; i < part->n_manifests; i++) {
		const struct descriptor *d = &part->manifests[i];
		size_t at = place_of(part, &d->platform);

		platform_text(&d->platform, platform);
		if (at == part->n_platforms)
			return err_set(err, ERR_CONFLICT, "'%s': %s is not a platform of the image",
			               part->file, platform);
		if (!descriptor_is_image(d))
			at += part->n_platforms;
		if (files[at] != NULL)
			return err_set(err, ERR_CONFLICT, "%s is in '%s' and again in '%s'",
			               platform, files[at], part->file);
		files[at] = part->file;
		index->manifests[at] = *d;
	}
	return 0;
}

int image_parts_join(const struct image_part *parts, size_t n, struct arena *a,
                     struct index *ret_index, struct err *err)
{
	struct index index = {.media_type = MEDIA_INDEX, .n_manifests = parts[0].n_platforms};
	size_t n_places = 2 * index.n_manifests;
	const char **files = arena_calloc(a, n_places, sizeof(*files));
	char platform[PLATFORM_TEXT_MAX];

	index.annotations = parts[0].annotations;
	index.manifests = arena_calloc(a, n_places, sizeof(*index.manifests));
	for (size_t i = 0; i < n; i++)
		if ((i > 0 && check_agreement(&parts[0], &parts[i], err) != 0) ||
		    put_in_index(&parts[i], &index, files, err) != 0)
			return -1;
	for (size_t i = 0; i < index.n_manifests; i++)
		if (files[i] == NULL) {
			err_set(err, ERR_CONFLICT, "no result file has %s",
			        platform_text(&parts[0].platforms[i], platform));
			return err_hint(err, "name the result file of every platform's build");
		}
	/* What not every image has closes the gaps. */
	for (size_t i = parts[0].n_platforms; i < n_places; i++)
		if (files[i] != NULL)
			index.manifests[index.n_manifests++] = index.manifests[i];
	*ret_index = index;
	return 0;
}

#include "builder/oci/manifest.h"

#include <string.h>

#include "builder/oci/mediatype.h"

/*
 * The document's own media type, which must agree with what its descriptor or Content-Type said
 * (distribution-spec, "Pulling manifests"). Old documents have none of their own.
 */
static int check_type(const cJSON *doc, const char *outer, const char *fallback,
                      const char **ret_type, struct err *err)
{
	const cJSON *version = json_get(doc, "schemaVersion");
	const char *own = json_string(doc, "mediaType");

	if (!cJSON_IsObject(doc))
		return err_set(err, ERR_FORMAT, "not an object");
	if (!cJSON_IsNumber(version) || version->valuedouble != 2)
		return err_set(err, ERR_FORMAT, "schemaVersion is not 2");
	if (own != NULL && outer != NULL && strcmp(own, outer) != 0)
		return err_set(err, ERR_FORMAT, "mediaType is '%.120s', but '%.120s' was announced",
		               own, outer);
	*ret_type = own != NULL ? own : outer != NULL ? outer : fallback;
	return 0;
}

static int parse_list(const cJSON *array, const char *name, struct arena *a,
                      struct descriptor **ret_list, size_t *ret_n, struct err *err)
{
	size_t n = cJSON_IsArray(array) ? (size_t)cJSON_GetArraySize(array) : 0, i = 0;
	struct descriptor *list;
	const cJSON *item = NULL;

	/* Go programs print an empty list as null. */
	if (!cJSON_IsArray(array) && !cJSON_IsNull(array))
		return err_set(err, ERR_FORMAT, "%s is missing or not an array", name);
	if (n > MANIFEST_LAYERS_MAX)
		return err_set(err, ERR_LIMIT, "%s has %zu entries, at most %d", name, n,
		               MANIFEST_LAYERS_MAX);
	list = arena_calloc(a, n, sizeof(*list));
	cJSON_ArrayForEach (item, array) {
		if (descriptor_parse(item, a, &list[i], err) != 0)
			return err_wrap(err, "%s[%zu]", name, i);
		i++;
	}
	*ret_list = list;
	*ret_n = n;
	return 0;
}

static int parse_subject(const cJSON *doc, struct arena *a, struct descriptor **ret_subject,
                         struct err *err)
{
	const cJSON *subject = json_get(doc, "subject");

	if (subject == NULL || cJSON_IsNull(subject))
		return 0;
	*ret_subject = arena_alloc(a, sizeof(**ret_subject));
	if (descriptor_parse(subject, a, *ret_subject, err) != 0)
		return err_wrap(err, "subject");
	return 0;
}

static int parse_document(const char *what, const char *bytes, size_t len, cJSON **ret_doc,
                          struct err *err)
{
	if (len > MANIFEST_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "%s of %zu bytes, at most %d", what, len,
		               MANIFEST_BYTES_MAX);
	return json_parse(what, bytes, len, ret_doc, err);
}

int manifest_parse(const char *bytes, size_t len, const char *media_type, struct arena *a,
                   struct manifest *ret_manifest, struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	struct manifest m = {0};
	const char *type = NULL;

	if (parse_document("manifest", bytes, len, &doc, err) != 0)
		return -1;
	if (check_type(doc, media_type, MEDIA_MANIFEST, &type, err) != 0)
		return err_wrap(err, "manifest");
	if (!media_is_manifest(type))
		return err_set(err, ERR_FORMAT, "'%.120s' is not an image manifest", type);
	if (descriptor_parse(json_get(doc, "config"), a, &m.config, err) != 0)
		return err_wrap(err, "manifest: config");
	if (parse_list(json_get(doc, "layers"), "layers", a, &m.layers, &m.n_layers, err) != 0 ||
	    annotations_parse(doc, a, &m.annotations, err) != 0 ||
	    parse_subject(doc, a, &m.subject, err) != 0)
		return err_wrap(err, "manifest");
	m.media_type = arena_strdup(a, type);
	m.artifact_type = arena_strdup(a, json_string(doc, "artifactType"));
	*ret_manifest = m;
	return 0;
}

int index_parse(const char *bytes, size_t len, const char *media_type, struct arena *a,
                struct index *ret_index, struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	struct index ix = {0};
	const char *type = NULL;

	if (parse_document("image index", bytes, len, &doc, err) != 0)
		return -1;
	if (check_type(doc, media_type, MEDIA_INDEX, &type, err) != 0)
		return err_wrap(err, "image index");
	if (!media_is_index(type))
		return err_set(err, ERR_FORMAT, "'%.120s' is not an image index", type);
	if (parse_list(json_get(doc, "manifests"), "manifests", a, &ix.manifests, &ix.n_manifests,
	               err) != 0 ||
	    annotations_parse(doc, a, &ix.annotations, err) != 0)
		return err_wrap(err, "image index");
	ix.media_type = arena_strdup(a, type);
	*ret_index = ix;
	return 0;
}

static cJSON *new_document(const char *media_type)
{
	cJSON *doc = cJSON_CreateObject();

	json_add_int(doc, "schemaVersion", 2);
	json_add_string(doc, "mediaType", media_type);
	return doc;
}

static void add_list(cJSON *doc, const char *key, const struct descriptor *list, size_t n)
{
	cJSON *array = json_add_array(doc, key);

	for (size_t i = 0; i < n; i++)
		json_push(array, descriptor_json(&list[i]));
}

void manifest_print(const struct manifest *m, struct strbuf *sb)
{
	AUTO(json) cJSON *doc = new_document(m->media_type);

	json_add_string(doc, "artifactType", m->artifact_type);
	cJSON_AddItemToObject(doc, "config", descriptor_json(&m->config));
	add_list(doc, "layers", m->layers, m->n_layers);
	if (m->subject != NULL)
		cJSON_AddItemToObject(doc, "subject", descriptor_json(m->subject));
	annotations_json(&m->annotations, doc);
	json_print(doc, sb);
}

void index_print(const struct index *ix, struct strbuf *sb)
{
	AUTO(json) cJSON *doc = new_document(ix->media_type);

	add_list(doc, "manifests", ix->manifests, ix->n_manifests);
	annotations_json(&ix->annotations, doc);
	json_print(doc, sb);
}

const struct descriptor *index_choose(const struct index *ix, const struct platform *want)
{
	const struct descriptor *best = NULL;
	int best_match = 0;

	for (size_t i = 0; i < ix->n_manifests; i++) {
		const struct descriptor *d = &ix->manifests[i];
		bool artifact = d->artifact_type != NULL && !media_is_config(d->artifact_type);
		int match = artifact ? 0 : platform_match(want, &d->platform);

		if (match > best_match) {
			best = d;
			best_match = match;
		}
	}
	return best;
}

#include "builder/check/images.h"

#include <string.h>

#include "builder/oci/mediatype.h"

struct image_search {
	struct store *store;
	struct arena *arena;
	struct digest seen[IMAGES_INDEXES_MAX]; /* the indexes that were read */
	struct index *indexes;                  /* as they were parsed, in the same order */
	size_t n_entries;
	struct image_list list;
};

/* An index that many name is read once: else a few of them would stand for millions. */
static bool was_seen(const struct image_search *w, const struct digest *d)
{
	for (size_t i = 0; i < w->list.n_indexes; i++)
		if (digest_equal(&w->seen[i], d))
			return true;
	return false;
}

static int read_index(struct image_search *w, const struct descriptor *desc,
                      struct index *ret_index, struct err *err)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(MANIFEST_BYTES_MAX);

	if (store_read(w->store, desc, MANIFEST_BYTES_MAX, &sb, err) != 0 ||
	    index_parse(strbuf_str(&sb), sb.len, desc->media_type, w->arena, ret_index, err) != 0)
		return err_wrap(err, "image index");
	return 0;
}

static void skip_artifact(struct images_skipped *skipped, const char *type)
{
	if (skipped->n_artifacts++ == 0)
		skipped->type = type;
}

static void skip_entry(struct images_skipped *skipped, const struct descriptor *entry)
{
	if (descriptor_is_attestation(entry))
		skipped->n_attestations++;
	else
		skip_artifact(skipped, entry->artifact_type != NULL ? entry->artifact_type
		                                                    : entry->media_type);
}

bool images_skip_artifact(const struct descriptor *entry, const struct manifest *manifest,
                          struct images_skipped *skipped)
{
	if (media_is_config(manifest->config.media_type) ||
	    (manifest->artifact_type == NULL && entry->platform.os[0] != '\0'))
		return false;
	skip_artifact(skipped, manifest->artifact_type != NULL ? manifest->artifact_type
	                                                       : manifest->config.media_type);
	return true;
}

void images_describe_skipped(const struct images_skipped *s, struct strbuf *sb)
{
	if (s->n_attestations > 0)
		strbuf_addf(sb, "%zu attestation%s", s->n_attestations,
		            s->n_attestations > 1 ? "s" : "");
	if (s->n_artifacts > 0)
		strbuf_addf(sb, "%s%zu artifact%s (%.200s)", sb->len > 0 ? " and " : "",
		            s->n_artifacts, s->n_artifacts > 1 ? "s" : "", s->type);
}

static int walk_index(struct image_search *w, const struct descriptor *desc, int depth,
                      struct err *err)
{
	struct index index = {0};

	if (was_seen(w, &desc->digest))
		return 0;
	if (depth > IMAGES_DEPTH_MAX)
		return err_set(err, ERR_LIMIT, "image indexes are nested more than %d deep",
		               IMAGES_DEPTH_MAX);
	if (w->list.n_indexes == IMAGES_INDEXES_MAX)
		return err_set(err, ERR_LIMIT, "the image has more than %d indexes",
		               IMAGES_INDEXES_MAX);
	if (read_index(w, desc, &index, err) != 0)
		return -1;
	w->indexes[w->list.n_indexes] = index;
	w->seen[w->list.n_indexes++] = desc->digest;
	if (index.n_manifests > IMAGES_ENTRIES_MAX - w->n_entries)
		return err_set(err, ERR_LIMIT, "the image's indexes have more than %d entries",
		               IMAGES_ENTRIES_MAX);
	w->n_entries += index.n_manifests;
	for (size_t i = 0; i < index.n_manifests; i++) {
		const struct descriptor *entry = &index.manifests[i];

		if (descriptor_is_image(entry))
			w->list.at[w->list.n++] = *entry;
		else if (!media_is_index(entry->media_type))
			skip_entry(&w->list.skipped, entry);
		else if (walk_index(w, entry, depth + 1, err) != 0)
			return -1;
	}
	return 0;
}

/* What there is instead, as the hint. */
static int not_for(const struct image_list *list, const struct platform *only, struct err *err)
{
	AUTO(strbuf) struct strbuf have = STRBUF_INIT(ERR_HINT_MAX);
	char text[PLATFORM_TEXT_MAX];

	for (size_t i = 0; i < list->n; i++)
		strbuf_addf(&have, "%s%s", i > 0 ? ", " : "",
		            platform_text(&list->at[i].platform, text));
	err_set(err, ERR_NOT_FOUND, "it has no image for %s", platform_text(only, text));
	return err_hint(err, "it is for %s: choose among these, or another image",
	                strbuf_str(&have));
}

static int keep_only(struct image_list *list, const struct platform *only, struct err *err)
{
	const struct index all = {.manifests = list->at, .n_manifests = list->n};
	const struct descriptor *chosen = index_choose(&all, only);

	if (chosen == NULL)
		return not_for(list, only, err);
	list->at[0] = *chosen;
	list->n = 1;
	return 0;
}

int images_list(struct store *store, const struct descriptor *root, const struct platform *only,
                struct arena *a, struct image_list *ret_list, struct err *err)
{
	struct image_search w = {.store = store, .arena = a};

	w.list.at = arena_calloc(a, IMAGES_ENTRIES_MAX, sizeof(*w.list.at));
	w.list.indexes = w.indexes = arena_calloc(a, IMAGES_INDEXES_MAX, sizeof(*w.indexes));
	if (media_is_manifest(root->media_type)) {
		w.list.at[w.list.n++] = *root;
		*ret_list = w.list;
		return 0;
	}
	if (!media_is_index(root->media_type))
		return err_set(err, ERR_FORMAT, "'%s' is neither an image index nor a manifest",
		               root->media_type);
	if (walk_index(&w, root, 1, err) != 0)
		return -1;
	if (w.list.n == 0) {
		err_set(err, ERR_CHECK,
		        "the image index names no image: there is nothing to check");
		return err_hint(err, "build or push the image again");
	}
	if (only != NULL && keep_only(&w.list, only, err) != 0)
		return -1;
	*ret_list = w.list;
	return 0;
}

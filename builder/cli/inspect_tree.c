#include "builder/cli/inspect_tree.h"

#include <string.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "builder/oci/artifact.h"
#include "builder/oci/mediatype.h"
#include "builder/oci/referrers.h"
#include "builder/trust/bundle.h"
#include "builder/trust/signatures.h"

/* Referrers of referrers, and all of them: somebody may have made them refer to each other. */
enum { TREE_DEPTH_MAX = 4, TREE_MAX = 4096 };

struct attached_tree {
	struct store *store;
	struct arena *arena;
	size_t n;
};

static int add_attached(struct attached_tree *t, const struct digest *subject, cJSON *obj,
                        int depth, struct err *err);

static void describe_bundle(struct attached_tree *t, const struct descriptor *d,
                            const struct digest *subject, cJSON *obj)
{
	const char *predicate = NULL;
	const char *key = signature_claimed_key(t->store, d, subject, t->arena, &predicate);

	json_add_string(obj, "says", predicate);
	json_add_string(obj, "key", key);
}

static int add_referrer(struct attached_tree *t, const struct descriptor *d,
                        const struct digest *subject, cJSON *array, int depth, struct err *err)
{
	cJSON *obj = cJSON_CreateObject();
	char digest[DIGEST_TEXT_MAX];

	json_push(array, obj);
	if (interrupt_check(err) != 0)
		return -1;
	if (++t->n > TREE_MAX)
		return err_set(err, ERR_LIMIT, "more than %d documents are attached to the image",
		               TREE_MAX);
	json_add_string(obj, "digest", digest_text(&d->digest, digest));
	json_add_string(obj, "type", d->artifact_type);
	json_add_int(obj, "size", d->size);
	if (strcmp(d->artifact_type, MEDIA_BUNDLE) == 0)
		describe_bundle(t, d, subject, obj);
	return depth < TREE_DEPTH_MAX ? add_attached(t, &d->digest, obj, depth + 1, err) : 0;
}

/* What older clients put beside an image: under its digest as a tag, and one of these. */
static const char *const suffixes[] = {".sig", ".att", ".sbom"};

static int add_tagged(struct attached_tree *t, const struct digest *subject, const char *suffix,
                      cJSON *array, struct err *err)
{
	char base[REFERRERS_TAG_MAX], digest[DIGEST_TEXT_MAX];
	const char *tag = arena_printf(t->arena, "%s%s", referrers_tag(subject, base), suffix);
	struct descriptor d;
	struct manifest m;
	struct err why = {0};

	if (store_resolve(t->store, tag, t->arena, &d, &why) != 0) {
		if (why.code == ERR_NOT_FOUND)
			return 0;
		*err = why;
		return -1;
	}
	cJSON *obj = cJSON_CreateObject();

	json_push(array, obj);
	json_add_string(obj, "digest", digest_text(&d.digest, digest));
	json_add_string(obj, "tag", tag);
	json_add_string(obj, "type", d.media_type);
	json_add_int(obj, "size", d.size);
	if (artifact_open(t->store, &d, t->arena, &m, &why) == 0) {
		if (m.n_layers > 0)
			json_add_string(obj, "holds", m.layers[0].media_type);
		json_add_int(obj, "documents", (int64_t)m.n_layers);
	}
	return 0;
}

static int add_attached(struct attached_tree *t, const struct digest *subject, cJSON *obj,
                        int depth, struct err *err)
{
	struct referrers all;

	if (store_referrers(t->store, subject, NULL, t->arena, &all, err) != 0)
		return -1;
	cJSON *array = json_add_array(obj, "attached");

	for (size_t i = 0; i < all.n; i++)
		if (add_referrer(t, &all.at[i], subject, array, depth, err) != 0)
			return -1;
	for (size_t i = 0; depth == 0 && i < ARRAY_LEN(suffixes); i++)
		if (add_tagged(t, subject, suffixes[i], array, err) != 0)
			return -1;
	return 0;
}

int inspect_attached(struct store *store, cJSON *obj, struct arena *a, struct err *err)
{
	struct attached_tree t = {.store = store, .arena = a};
	struct digest subject;

	return digest_parse(json_string(obj, "digest"), &subject, err) != 0
	               ? -1
	               : add_attached(&t, &subject, obj, 0, err);
}

static void print_level(const struct cli *cli, const cJSON *obj, int depth)
{
	static const char *const keys[] = {"tag", "holds", "says", "key"};
	const cJSON *item = NULL;

	cJSON_ArrayForEach (item, json_get(obj, "attached")) {
		fprintf(cli->out, "%*s+ %s  %s", 2 * depth, "", json_string(item, "digest"),
		        json_string(item, "type"));
		for (size_t i = 0; i < ARRAY_LEN(keys); i++)
			if (json_string(item, keys[i]) != NULL)
				fprintf(cli->out, "  %s %s%s", keys[i],
				        strcmp(keys[i], "key") == 0 ? "SHA256:" : "",
				        json_string(item, keys[i]));
		fprintf(cli->out, "\n");
		print_level(cli, item, depth + 1);
	}
}

void inspect_print_attached(const struct cli *cli, const cJSON *obj)
{
	print_level(cli, obj, 1);
}

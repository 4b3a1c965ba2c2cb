#include "builder/image/attest.h"

#include <string.h>

#include "base/interrupt.h"
#include "builder/image/sign.h"
#include "builder/oci/artifact.h"
#include "builder/oci/mediatype.h"
#include "builder/oci/referrers.h"
#include "builder/provenance/index_statement.h"
#include "builder/provenance/statement.h"
#include "builder/trust/bundle.h"
#include "builder/trust/statement.h"

struct attesting {
	const struct attest_opts *opts;
	struct arena *arena;
	struct attest_result result;
	struct descriptor *manifests;  /* of images */
	struct provenance_part *parts; /* of those with a statement */
	size_t n, n_parts;
};

/* ---- what is attached ---- */

/* A list tells the type; where it does not, the statement itself is asked. */
static bool is_provenance(const struct descriptor *d)
{
	const char *type = strmap_get(&d->annotations, ANNOTATION_PREDICATE_TYPE);

	return type == NULL || strcmp(type, PROVENANCE_TYPE) == 0;
}

/* *ret_doc is NULL for a statement of something else; the caller frees. */
static int read_statement(const struct attesting *at, const struct descriptor *referrer,
                          const struct descriptor *subject, struct strbuf *text, cJSON **ret_doc,
                          struct err *err)
{
	struct trust_statement statement;

	*ret_doc = NULL;
	if (artifact_read(at->opts->from, referrer, &subject->digest, MEDIA_STATEMENT,
	                  STATEMENT_BYTES_MAX, at->arena, text, err) != 0 ||
	    statement_parse(text->ptr, text->len, at->arena, &statement, err) != 0)
		return -1;
	if (strcmp(statement.predicate_type, PROVENANCE_TYPE) != 0)
		return 0;
	if (statement_about(&statement, &subject->digest) == NULL)
		return err_set(err, ERR_FORMAT, "the statement is about another image");
	return json_parse("statement", text->ptr, text->len, ret_doc, err);
}

/* ---- signing ---- */

static int is_there(const struct attesting *at, const struct descriptor *subject,
                    const struct strbuf *text, bool *ret_there, struct err *err)
{
	const struct signature_wish wish = {
		.key = at->opts->key, .predicate_type = PROVENANCE_TYPE, .forms = SIGNATURE_BUNDLE};
	struct signatures all;

	*ret_there = false;
	if (signatures_verify(at->opts->store, &subject->digest, &wish, at->arena, &all, err) != 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		*ret_there =
			*ret_there || (all.at[i].good && all.at[i].statement_len == text->len &&
		                       memcmp(all.at[i].statement, text->ptr, text->len) == 0);
	return 0;
}

static int sign_text(struct attesting *at, const struct descriptor *subject,
                     const struct strbuf *text, struct err *err)
{
	bool there;

	if (interrupt_check(err) != 0 || is_there(at, subject, text, &there, err) != 0)
		return -1;
	at->result.n_there += there;
	at->result.n_signed += !there;
	return there ? 0
	             : image_attach_statement(at->opts->place, subject, at->opts->key, text->ptr,
	                                      text->len, PROVENANCE_TYPE, at->arena, err);
}

static void add_part(struct attesting *at, const struct descriptor *subject, cJSON *doc)
{
	char platform[PLATFORM_TEXT_MAX];

	at->parts[at->n_parts++] = (struct provenance_part){
		.platform = arena_strdup(at->arena, platform_text(&subject->platform, platform)),
		.media_type = subject->media_type,
		.digest = subject->digest,
		.statement = doc};
}

/* The first statement of how it was built; of several builds of the same bytes each is signed. */
static int sign_manifest(struct attesting *at, const struct descriptor *subject, struct err *err)
{
	struct referrers all;
	size_t before = at->n_parts;

	if (store_referrers(at->opts->from, &subject->digest, MEDIA_STATEMENT, at->arena, &all,
	                    err) != 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		AUTO(strbuf) struct strbuf text = STRBUF_INIT(STATEMENT_BYTES_MAX);
		cJSON *doc = NULL;

		if (!is_provenance(&all.at[i]))
			continue;
		if (read_statement(at, &all.at[i], subject, &text, &doc, err) != 0)
			return -1;
		if (doc == NULL)
			continue;
		if (at->n_parts == before)
			add_part(at, subject, doc);
		else
			cJSON_Delete(doc);
		if (sign_text(at, subject, &text, err) != 0)
			return -1;
	}
	at->result.n_without += at->n_parts == before;
	return 0;
}

/* What different machines built is an index that none of them vouches for. */
static int sign_index(struct attesting *at, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(STATEMENT_BYTES_MAX);

	if (!media_is_index(at->opts->root->media_type) || at->n == 0 || at->n_parts != at->n ||
	    !provenance_print_index(at->parts, at->n_parts, &at->opts->root->digest, &text))
		return 0;
	return sign_text(at, at->opts->root, &text, err);
}

/* ---- all ---- */

static int list_manifests(struct attesting *at, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	const struct descriptor *root = at->opts->root;
	struct index index = {.manifests = (struct descriptor *)root, .n_manifests = 1};

	if (media_is_index(root->media_type) &&
	    (store_read(at->opts->from, root, MANIFEST_BYTES_MAX, &text, err) != 0 ||
	     index_parse(text.ptr, text.len, root->media_type, at->arena, &index, err) != 0))
		return -1;
	at->manifests = arena_calloc(at->arena, index.n_manifests, sizeof(*at->manifests));
	at->parts = arena_calloc(at->arena, index.n_manifests, sizeof(*at->parts));
	for (size_t i = 0; i < index.n_manifests; i++)
		if (descriptor_is_image(&index.manifests[i]))
			at->manifests[at->n++] = index.manifests[i];
	return 0;
}

int image_attest(const struct attest_opts *opts, struct arena *a, struct attest_result *ret_result,
                 struct err *err)
{
	struct attesting at = {.opts = opts, .arena = a};
	int rc = list_manifests(&at, err);

	for (size_t i = 0; rc == 0 && i < at.n; i++)
		rc = sign_manifest(&at, &at.manifests[i], err);
	if (rc == 0)
		rc = sign_index(&at, err);
	for (size_t i = 0; i < at.n_parts; i++)
		cJSON_Delete((cJSON *)at.parts[i].statement);
	if (rc != 0)
		return err_wrap(err, "sign provenance");
	*ret_result = at.result;
	return 0;
}

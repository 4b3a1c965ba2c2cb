#include "builder/trust/signatures.h"

#include <string.h>

#include "base/interrupt.h"
#include "base/mem.h"
#include "builder/oci/artifact.h"
#include "builder/oci/mediatype.h"
#include "builder/trust/base64.h"
#include "builder/trust/bundle.h"
#include "builder/trust/bundles.h"
#include "builder/trust/simple.h"
#include "builder/trust/statement.h"

struct signature_scan {
	struct store *store;
	const struct digest *subject;
	const struct signature_wish *wish;
	struct arena *arena;
	VEC(struct signature) all;
	size_t n_good;
};

const char *signature_form_name(enum signature_forms form)
{
	return form == SIGNATURE_BUNDLE ? "bundle" : "tag";
}

/* Adds what a document came to; -1 when that is about the whole. */
static int add(struct signature_scan *scan, struct signature *s, int result, const struct err *why,
               struct err *err)
{
	if (result != 0 && !bundle_is_at_fault(why)) {
		*err = *why;
		return -1;
	}
	s->good = result == 0;
	s->why_not = result == 0 ? NULL : arena_strdup(scan->arena, why->msg);
	scan->n_good += s->good;
	vec_push(&scan->all, *s);
	return 0;
}

static int check_annotations(const struct signature_wish *wish, const struct strmap *has,
                             struct err *err)
{
	for (size_t i = 0; i < wish->annotations.n; i++) {
		const struct strpair *want = &wish->annotations.at[i];
		const char *value = strmap_get(has, want->key);

		if (value == NULL)
			return err_set(err, ERR_CHECK, "it has no annotation '%.100s'", want->key);
		if (strcmp(value, want->value) != 0)
			return err_set(err, ERR_CHECK,
			               "its annotation '%.100s' is '%.100s' instead of '%.100s'",
			               want->key, value, want->value);
	}
	return 0;
}

static int other_image(const struct digest *named, struct err *err)
{
	char digest[DIGEST_TEXT_MAX];

	return err_set(err, ERR_CHECK, "it is a signature of another image: %s",
	               digest_text(named, digest));
}

/* ---- bundles ---- */

static int check_signature(const struct signature_wish *wish, const struct bundle *b,
                           struct err *err)
{
	AUTO(strbuf) struct strbuf pae = STRBUF_INIT(2 * BUNDLE_BYTES_MAX);
	bool good;

	dsse_pae(b->payload_type, b->payload, b->payload_len, &pae);
	good = trust_key_verify(wish->key, pae.ptr, pae.len, b->signature, b->signature_len);
	if (good)
		return 0;
	if (b->hint != NULL && strcmp(b->hint, trust_key_fingerprint(wish->key)) != 0)
		return err_set(err, ERR_CHECK,
		               "it is signed by another key, which it calls '%.60s'", b->hint);
	return err_set(err, ERR_CHECK, "the signature is not this key's over what it holds");
}

static int check_statement(const struct signature_scan *scan, const struct bundle *b,
                           struct signature *s, struct err *err)
{
	const char *wanted =
		scan->wish->predicate_type != NULL ? scan->wish->predicate_type : PREDICATE_SIGN;
	const struct statement_subject *about;
	struct trust_statement statement;

	if (strcmp(b->payload_type, PAYLOAD_IN_TOTO) != 0)
		return err_set(err, ERR_CHECK, "what is signed is of the type '%.80s'",
		               b->payload_type);
	if (statement_parse(b->payload, b->payload_len, scan->arena, &statement, err) != 0)
		return -1;
	/* A signature has one form, which began with version 1. */
	if (strcmp(statement.predicate_type, PREDICATE_SIGN) == 0 &&
	    strcmp(statement.type, STATEMENT_TYPE) != 0)
		return err_set(err, ERR_CHECK, "its type is '%.80s'", statement.type);
	about = statement_about(&statement, scan->subject);
	if (about == NULL)
		return statement.n_subjects > 0
		               ? other_image(&statement.subjects[0].digest, err)
		               : err_set(err, ERR_CHECK, "it names no image by SHA-256");
	if (strcmp(statement.predicate_type, wanted) != 0)
		return err_set(err, ERR_CHECK, "it says '%.120s', which is not '%.120s'",
		               statement.predicate_type, wanted);
	s->annotations = about->annotations;
	s->statement = b->payload;
	s->statement_len = b->payload_len;
	return check_annotations(scan->wish, &about->annotations, err);
}

static int check_bundle(const struct signature_scan *scan, const struct bundle_entry *entry,
                        struct signature *s, struct err *err)
{
	if (entry->why_not != NULL)
		return err_set(err, ERR_CHECK, "%s", entry->why_not);
	return check_signature(scan->wish, &entry->bundle, err) != 0
	               ? -1
	               : check_statement(scan, &entry->bundle, s, err);
}

static int scan_bundles(struct signature_scan *scan, struct err *err)
{
	struct bundle_cache *cache = scan->wish->cache;
	struct bundle_list bundles;

	if ((cache != NULL
	             ? bundle_cache_get(cache, scan->subject, &bundles, err)
	             : bundles_read(scan->store, scan->subject, scan->arena, &bundles, err)) != 0)
		return -1;
	for (size_t i = 0; i < bundles.n; i++) {
		struct signature s = {.form = SIGNATURE_BUNDLE,
		                      .manifest = bundles.at[i].manifest,
		                      .reference = ""};
		struct err why = {0};

		if (interrupt_check(err) != 0)
			return -1;
		int result = check_bundle(scan, &bundles.at[i], &s, &why);

		if (add(scan, &s, result, &why, err) != 0)
			return -1;
	}
	return 0;
}

/* ---- simple signing ---- */

static int check_payload(const struct signature_scan *scan, const struct descriptor *layer,
                         const struct strbuf *text, struct signature *s, struct err *err)
{
	AUTO(strbuf) struct strbuf bytes = STRBUF_INIT(4096);
	const char *signature = strmap_get(&layer->annotations, ANNOTATION_SIMPLE_SIGNATURE);
	struct simple_payload payload;

	if (signature == NULL || !base64_decode(signature, &bytes))
		return err_set(err, ERR_CHECK, "its signature is missing or is not base64");
	if (!trust_key_verify(scan->wish->key, text->ptr, text->len, bytes.ptr, bytes.len))
		return err_set(err, ERR_CHECK,
		               "the signature is not this key's over what it holds");
	if (simple_parse(text->ptr, text->len, scan->arena, &payload, err) != 0)
		return -1;
	if (!digest_equal(&payload.digest, scan->subject))
		return other_image(&payload.digest, err);
	s->annotations = payload.annotations;
	s->reference = payload.reference;
	return check_annotations(scan->wish, &payload.annotations, err);
}

static int check_layer(const struct signature_scan *scan, const struct descriptor *layer,
                       struct signature *s, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(SIMPLE_BYTES_MAX);

	if (strcmp(layer->media_type, MEDIA_SIMPLE) != 0)
		return err_set(err, ERR_CHECK, "its media type is '%.80s'", layer->media_type);
	return store_read(scan->store, layer, SIMPLE_BYTES_MAX, &text, err) != 0
	               ? -1
	               : check_payload(scan, layer, &text, s, err);
}

/* *ret_found is false without that tag. What has the tag and is no manifest does not count. */
static int open_tag(struct signature_scan *scan, struct descriptor *ret_desc, struct manifest *m,
                    bool *ret_found, struct err *err)
{
	char tag[SIMPLE_TAG_MAX];
	struct err why = {0};

	*ret_found = false;
	if (store_resolve(scan->store, simple_tag(scan->subject, tag), scan->arena, ret_desc,
	                  &why) != 0) {
		if (why.code == ERR_NOT_FOUND)
			return 0;
		*err = why;
		return -1;
	}
	if (artifact_open(scan->store, ret_desc, scan->arena, m, &why) == 0) {
		*ret_found = true;
		return 0;
	}
	struct signature s = {.form = SIGNATURE_TAG, .manifest = ret_desc->digest, .reference = ""};

	return add(scan, &s, -1, &why, err);
}

static int scan_tag(struct signature_scan *scan, struct err *err)
{
	struct descriptor desc;
	struct manifest m;
	bool found;

	if (open_tag(scan, &desc, &m, &found, err) != 0)
		return -1;
	if (found && m.n_layers > SIGNATURES_MAX) {
		err_set(err, ERR_LIMIT, "the image has more than %d signatures under its tag",
		        SIGNATURES_MAX);
		return err_hint(err, "delete those that are no longer needed");
	}
	for (size_t i = 0; found && i < m.n_layers; i++) {
		struct signature s = {
			.form = SIGNATURE_TAG, .manifest = desc.digest, .reference = ""};
		struct err why = {0};

		if (interrupt_check(err) != 0)
			return -1;
		int result = check_layer(scan, &m.layers[i], &s, &why);

		if (add(scan, &s, result, &why, err) != 0)
			return -1;
	}
	return 0;
}

/* ---- all ---- */

/* A tag stands for a signature of the image and for nothing else. */
static bool looks_at_tag(const struct signature_wish *wish)
{
	return (wish->forms & SIGNATURE_TAG) != 0 &&
	       (wish->predicate_type == NULL || strcmp(wish->predicate_type, PREDICATE_SIGN) == 0);
}

int signatures_verify(struct store *s, const struct digest *subject,
                      const struct signature_wish *wish, struct arena *a,
                      struct signatures *ret_signatures, struct err *err)
{
	struct signature_scan scan = {.store = s, .subject = subject, .wish = wish, .arena = a};
	char digest[DIGEST_TEXT_MAX];
	int result = (wish->forms & SIGNATURE_BUNDLE) != 0 ? scan_bundles(&scan, err) : 0;

	if (result == 0 && looks_at_tag(wish))
		result = scan_tag(&scan, err);
	if (result == 0) {
		*ret_signatures = (struct signatures){
			arena_calloc(a, scan.all.n, sizeof(*scan.all.at)), scan.all.n, scan.n_good};
		if (scan.all.n > 0)
			memcpy(ret_signatures->at, scan.all.at, scan.all.n * sizeof(*scan.all.at));
	}
	vec_done(&scan.all);
	return result == 0 ? 0 : err_wrap(err, "signatures of %s", digest_text(subject, digest));
}

const char *signature_claimed_key(struct store *s, const struct descriptor *bundle,
                                  const struct digest *subject, struct arena *a,
                                  const char **ret_predicate)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(BUNDLE_BYTES_MAX);
	struct trust_statement statement;
	struct bundle b;
	struct err ignored = {0};

	*ret_predicate = NULL;
	if (artifact_read(s, bundle, subject, MEDIA_BUNDLE, BUNDLE_BYTES_MAX, a, &text, &ignored) !=
	            0 ||
	    bundle_parse(text.ptr, text.len, a, &b, &ignored) != 0)
		return NULL;
	if (strcmp(b.payload_type, PAYLOAD_IN_TOTO) == 0 &&
	    statement_parse(b.payload, b.payload_len, a, &statement, &ignored) == 0)
		*ret_predicate = statement.predicate_type;
	return b.hint;
}

#include "builder/image/stated.h"

#include <string.h>

#include "builder/oci/artifact.h"
#include "builder/oci/mediatype.h"
#include "builder/oci/referrers.h"
#include "builder/trust/vouched.h"

/* ---- a claim ---- */

static const char *created_of(const struct descriptor *d)
{
	const char *text = strmap_get(&d->annotations, ANNOTATION_CREATED);

	return text != NULL ? text : "";
}

static bool is_provenance(const struct descriptor *d)
{
	const char *type = strmap_get(&d->annotations, ANNOTATION_PREDICATE_TYPE);

	return type == NULL || strcmp(type, PROVENANCE_TYPE) == 0;
}

/* The one created last; of equal moments the one with the greatest digest. */
static const struct descriptor *newest(const struct referrers *all)
{
	const struct descriptor *best = NULL;

	for (size_t i = 0; i < all->n; i++) {
		const struct descriptor *d = &all->at[i];
		int order = best == NULL ? 1 : strcmp(created_of(d), created_of(best));

		if (!is_provenance(d))
			continue;
		if (order > 0 ||
		    (order == 0 && memcmp(d->digest.bytes, best->digest.bytes, DIGEST_BYTES) > 0))
			best = d;
	}
	return best;
}

static int none(const struct descriptor *manifest, struct err *err)
{
	char digest[DIGEST_TEXT_MAX];

	err_set(err, ERR_CHECK, "no statement of how it was built is attached to %s",
	        digest_text(&manifest->digest, digest));
	return err_hint(err, "build it with `image: {provenance: true}`; archives that hold the "
	                     "image alone have none");
}

static int read_claim(struct store *s, const struct descriptor *manifest, struct arena *a,
                      struct stated *ret_stated, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(STATEMENT_BYTES_MAX);
	const struct descriptor *found;
	struct referrers all;

	if (store_referrers(s, &manifest->digest, MEDIA_STATEMENT, a, &all, err) != 0)
		return -1;
	found = newest(&all);
	if (found == NULL)
		return none(manifest, err);
	ret_stated->carrier = found->digest;
	for (size_t i = 0; i < all.n; i++)
		ret_stated->n_others += is_provenance(&all.at[i]) && &all.at[i] != found;
	return artifact_read(s, found, &manifest->digest, MEDIA_STATEMENT, STATEMENT_BYTES_MAX, a,
	                     &text, err) != 0
	               ? -1
	               : provenance_parse(strbuf_str(&text), text.len, &manifest->digest, a,
	                                  &ret_stated->provenance, err);
}

/* ---- a signed statement ---- */

static int not_signed(const struct descriptor *manifest, const struct trust_key *key,
                      const struct signatures *all, struct diags *d, struct err *err)
{
	char digest[DIGEST_TEXT_MAX], carrier[DIGEST_TEXT_MAX];

	for (size_t i = 0; i < all->n; i++)
		if (!all->at[i].good)
			diags_add(d, DIAG_ERROR, (struct srcpos){0}, "bundle %s: %s",
			          digest_text(&all->at[i].manifest, carrier), all->at[i].why_not);
	err_set(err, ERR_CHECK, "key SHA256:%s has signed no statement of how %s was built",
	        trust_key_fingerprint(key), digest_text(&manifest->digest, digest));
	return err_hint(err, "a signature of the image is none of its provenance; without --key "
	                     "the attached statement is taken as a claim");
}

static int read_signed(struct store *s, const struct descriptor *manifest,
                       const struct stated_wish *wish, struct arena *a, struct diags *d,
                       struct stated *ret_stated, struct err *err)
{
	const struct vouchers by = {wish->keys, wish->n_keys, NULL};
	struct vouched found;

	if (vouched_find(s, &manifest->digest, PROVENANCE_TYPE, &by, a, &found, err) != 0)
		return -1;
	if (found.statement == NULL)
		return found.missing < by.n
		               ? not_signed(manifest, by.keys[found.missing], &found.all, d, err)
		               : err_set(err, ERR_CHECK,
		                         "the keys have not signed the same statement");
	ret_stated->carrier = found.statement->manifest;
	return provenance_parse(found.statement->statement, found.statement->statement_len,
	                        &manifest->digest, a, &ret_stated->provenance, err);
}

int stated_read(struct store *s, const struct descriptor *manifest, const struct stated_wish *wish,
                struct arena *a, struct diags *d, struct stated *ret_stated, struct err *err)
{
	struct stated stated = {.manifest = *manifest};

	if ((wish->n_keys == 0 ? read_claim(s, manifest, a, &stated, err)
	                       : read_signed(s, manifest, wish, a, d, &stated, err)) != 0)
		return -1;
	*ret_stated = stated;
	return 0;
}

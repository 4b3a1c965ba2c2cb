#include "builder/image/attest_sbom.h"

#include <string.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "builder/check/images.h"
#include "builder/image/image_sbom.h"
#include "builder/image/sign.h"
#include "builder/oci/referrers.h"
#include "builder/trust/bundle.h"
#include "builder/trust/statement.h"

/* Beside the document, a statement has little: its types and a digest. */
enum { STATEMENT_FRAME = 4096, SIGNED_SBOM_MAX = BUNDLE_PAYLOAD_MAX - STATEMENT_FRAME };

/* ---- one document ---- */

static int too_large(const struct descriptor *manifest, enum sbom_form form, int64_t bytes,
                     struct err *err)
{
	char platform[PLATFORM_TEXT_MAX], has[TEXT_BYTES_MAX], most[TEXT_BYTES_MAX];

	err_set(err, ERR_LIMIT, "the %s document of %s has %s; one that is signed has at most %s",
	        sbom_forms[form].name, platform_text(&manifest->platform, platform),
	        text_bytes(bytes, has), text_bytes(SIGNED_SBOM_MAX, most));
	return err_hint(err, "what makes it large is the list of all files: leave `files: true` "
	                     "of image.sbom out, or `formats: [spdx]` where one form is enough");
}

/* *ret_found is NULL where that form is not attached. */
static int find_document(struct store *from, const struct descriptor *manifest, enum sbom_form form,
                         struct arena *a, const struct descriptor **ret_found, struct err *err)
{
	struct referrers all;
	char digest[DIGEST_TEXT_MAX];

	if (store_referrers(from, &manifest->digest, sbom_forms[form].media_type, a, &all, err) !=
	    0)
		return -1;
	*ret_found = all.n == 1 ? &all.at[0] : NULL;
	if (all.n <= 1)
		return 0;
	err_set(err, ERR_CHECK, "%zu %s documents are attached to %s: which one is vouched for?",
	        all.n, sbom_forms[form].name, digest_text(&manifest->digest, digest));
	return err_hint(err, "delete those that do not count; `slipway inspect --tree` lists them");
}

/* ---- signing ---- */

static int is_there(const struct attest_opts *opts, const struct descriptor *manifest,
                    const char *predicate_type, const struct strbuf *statement, struct arena *a,
                    bool *ret_there, struct err *err)
{
	const struct signature_wish wish = {
		.key = opts->key, .predicate_type = predicate_type, .forms = SIGNATURE_BUNDLE};
	struct signatures all;

	*ret_there = false;
	if (signatures_verify(opts->store, &manifest->digest, &wish, a, &all, err) != 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		*ret_there = *ret_there ||
		             (all.at[i].good && all.at[i].statement_len == statement->len &&
		              memcmp(all.at[i].statement, statement->ptr, statement->len) == 0);
	return 0;
}

static int sign_document(const struct attest_opts *opts, const struct descriptor *manifest,
                         enum sbom_form form, const struct strbuf *document,
                         struct attest_result *result, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf statement = STRBUF_INIT(BUNDLE_PAYLOAD_MAX);
	const char *type = sbom_forms[form].predicate_type;
	bool there;

	if (document->len > SIGNED_SBOM_MAX)
		return too_large(manifest, form, (int64_t)document->len, err);
	statement_print(&manifest->digest, type, document->ptr, document->len, &statement);
	if (is_there(opts, manifest, type, &statement, &a, &there, err) != 0)
		return -1;
	result->n_there += there;
	result->n_signed += !there;
	return there ? 0
	             : image_attach_statement(opts->place, manifest, opts->key, statement.ptr,
	                                      statement.len, type, &a, err);
}

static int sign_forms_of(const struct attest_opts *opts, const struct descriptor *manifest,
                         struct arena *a, struct attest_result *result, struct err *err)
{
	size_t n = 0;

	for (enum sbom_form form = SBOM_SPDX; form < SBOM_FORMS; form++) {
		AUTO(strbuf) struct strbuf document = STRBUF_INIT(SBOM_BYTES_MAX);
		const struct descriptor *found;

		if (interrupt_check(err) != 0 ||
		    find_document(opts->from, manifest, form, a, &found, err) != 0)
			return -1;
		if (found == NULL)
			continue;
		if (image_sbom_read(opts->from, manifest, form, found, a, &document, err) != 0 ||
		    sign_document(opts, manifest, form, &document, result, err) != 0)
			return -1;
		n++;
	}
	result->n_without += n == 0;
	return 0;
}

int image_attest_sboms(const struct attest_opts *opts, struct arena *a,
                       struct attest_result *ret_result, struct err *err)
{
	struct attest_result result = {0};
	struct image_list all;

	if (images_list(opts->from, opts->root, NULL, a, &all, err) != 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (sign_forms_of(opts, &all.at[i], a, &result, err) != 0)
			return err_wrap(err, "sign bills of materials");
	*ret_result = result;
	return 0;
}

/* ---- before anything is sent ---- */

static int check_size(struct store *from, const struct descriptor *manifest, enum sbom_form form,
                      struct arena *a, struct err *err)
{
	const struct descriptor *found;
	struct manifest m;

	if (find_document(from, manifest, form, a, &found, err) != 0)
		return -1;
	if (found == NULL)
		return 0;
	if (artifact_open(from, found, a, &m, err) != 0)
		return -1;
	return m.n_layers == 1 && m.layers[0].size > SIGNED_SBOM_MAX
	               ? too_large(manifest, form, m.layers[0].size, err)
	               : 0;
}

int image_sboms_fit(struct store *from, const struct descriptor *root, struct arena *a,
                    struct err *err)
{
	struct image_list all;

	if (images_list(from, root, NULL, a, &all, err) != 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		for (enum sbom_form form = SBOM_SPDX; form < SBOM_FORMS; form++)
			if (check_size(from, &all.at[i], form, a, err) != 0)
				return -1;
	return 0;
}

/*
 * Whether each platform's manifest has a bill of materials: a document that is attached as it is,
 * or a statement that a key of the rule has signed.
 */
#include "builder/gate/gate_internal.h"
#include "builder/image/image_sbom.h"
#include "builder/sbom/document.h"

/* What the forms are called in attestations (in-toto/attestation, spec/predicates). */
static const char *const predicate_types[SBOM_FORMS] = {
	[SBOM_SPDX] = "https://spdx.dev/Document", [SBOM_CYCLONEDX] = "https://cyclonedx.org/bom"};

static int find_attached(const struct gate_view *v, const struct descriptor *manifest,
                         bool *ret_found, struct err *err)
{
	for (enum sbom_form form = SBOM_SPDX; form < SBOM_FORMS; form++) {
		AUTO(strbuf) struct strbuf document = STRBUF_INIT(SBOM_BYTES_MAX);

		if (image_sbom_attached(v->image, manifest, form, v->gate->arena, &document,
		                        ret_found, err) != 0)
			return -1;
		if (*ret_found)
			return 0;
	}
	return 0;
}

static int find_signed(const struct gate_view *v, const struct descriptor *manifest,
                       bool *ret_found, struct err *err)
{
	for (size_t i = 0; i < v->rule->keys.n && !*ret_found; i++)
		for (enum sbom_form form = SBOM_SPDX; form < SBOM_FORMS; form++) {
			struct signature_wish wish = {.predicate_type = predicate_types[form],
			                              .forms = SIGNATURE_BUNDLE};
			struct signatures all;

			if (gate_key(v->gate, v->rule->keys.at[i], &wish.key, err) != 0 ||
			    signatures_verify(v->image->store, &manifest->digest, &wish,
			                      v->gate->arena, &all, err) != 0)
				return -1;
			*ret_found = *ret_found || all.n_good > 0;
		}
	return 0;
}

int gate_check_sbom(const struct gate_view *v, struct err *err)
{
	for (size_t i = 0; i < v->n_platforms; i++) {
		const struct descriptor *manifest = &v->platforms[i];
		bool found = false;

		if (find_attached(v, manifest, &found, err) != 0 ||
		    (!found && find_signed(v, manifest, &found, err) != 0))
			return -1;
		if (found)
			continue;
		err_set(err, ERR_CHECK, "%s has no bill of materials", gate_name(v, manifest));
		return err_hint(err, "Build it with `sbom: true` below image; `slipway push` sends "
		                     "the documents with it.");
	}
	return 0;
}

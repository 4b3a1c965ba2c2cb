/*
 * Whether each platform's manifest has a bill of materials. Where the rule names keys, it is one
 * that they have signed: what is attached without a signature may be anybody's.
 */
#include "builder/gate/gate_internal.h"
#include "builder/image/image_sbom.h"

/* *why is set where keys are asked and none counts: the first reason that is told. */
static int find_signed(struct gate_view *v, const struct descriptor *manifest,
                       const struct vouchers *by, bool *ret_found, const char **why,
                       struct err *err)
{
	for (enum sbom_form form = SBOM_SPDX; form < SBOM_FORMS; form++) {
		AUTO(strbuf) struct strbuf document = STRBUF_INIT(SBOM_BYTES_MAX);
		struct vouched found;

		if (image_sbom_signed(v->image->store, manifest, form, by, v->gate->arena,
		                      &document, &found, err) != 0)
			return -1;
		*ret_found = found.statement != NULL;
		if (*ret_found)
			return 0;
		if ((*why)[0] == '\0')
			*why = gate_why_none(v, &found.all);
	}
	return 0;
}

static int find_attached(struct gate_view *v, const struct descriptor *manifest, bool *ret_found,
                         struct err *err)
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

static int none(const struct gate_view *v, const struct descriptor *manifest, const char *why,
                struct err *err)
{
	const struct strlist *keys = trust_statement_keys(v->rule);

	if (keys->n == 0) {
		err_set(err, ERR_CHECK, "%s has no bill of materials", gate_name(v, manifest));
		return err_hint(err, "Build it with `sbom: true` below image; `slipway push` sends "
		                     "the documents with it.");
	}
	err_set(err, ERR_CHECK, "%s has no bill of materials that '%s'%s signed%s%s",
	        gate_name(v, manifest), keys->at[0], keys->n == 1 ? " has" : " and the others have",
	        why[0] != '\0' ? ": " : "", why);
	return err_hint(err,
	                "Build it with `sbom: true` and `sign` below image, so that `slipway push` "
	                "signs the documents; `slipway sign --sbom --key KEY %s` signs those that "
	                "are attached.",
	                v->pinned);
}

int gate_check_sbom(struct gate_view *v, struct err *err)
{
	struct vouchers by;

	if (gate_vouchers(v, &by, err) != 0)
		return -1;
	for (size_t i = 0; i < v->n_platforms; i++) {
		const struct descriptor *manifest = &v->platforms[i];
		const char *why = "";
		bool found = false;

		if ((by.n > 0 ? find_signed(v, manifest, &by, &found, &why, err)
		              : find_attached(v, manifest, &found, err)) != 0)
			return -1;
		if (!found)
			return none(v, manifest, why, err);
	}
	return 0;
}

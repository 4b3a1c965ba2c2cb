#include "builder/spec/spec_iam.h"

#include <string.h>

#include "builder/trust/key.h"

struct strlist spec_iam_bases(const struct spec_image *image, const struct ref *to, struct arena *a)
{
	struct strlist bases = {arena_calloc(a, image->n_bases + 1, sizeof(*bases.at)), 0};

	for (size_t i = 0; i < image->n_bases; i++) {
		struct ref base;
		struct err ignored = {0};

		if (ref_parse(image->bases[i].ref, a, &base, &ignored) == 0 &&
		    base.kind == REF_REGISTRY && strcmp(base.host, to->host) == 0)
			bases.at[bases.n++] = base.repository;
	}
	return bases;
}

/* Appends those in KMS that are not there yet; there is room. */
static void add_keys(const struct strlist *refs, struct arena *a, struct kms_ref *keys, size_t *n)
{
	for (size_t i = 0; i < refs->n; i++) {
		struct kms_ref key;
		struct err ignored = {0};
		size_t k = 0;

		if (!trust_key_is_kms(refs->at[i]) ||
		    kms_ref_parse(refs->at[i], a, &key, &ignored) != 0)
			continue;
		while (k < *n && strcmp(keys[k].key, key.key) != 0)
			k++;
		keys[k] = key;
		*n += k == *n;
	}
}

void spec_iam_trust(const struct spec *spec, struct arena *a, struct iam_request *request)
{
	struct kms_ref *keys;
	size_t room = 0;

	for (size_t i = 0; i < spec->n_trust; i++)
		room += spec->trust[i].keys.n + trust_statement_keys(&spec->trust[i])->n;
	keys = arena_calloc(a, room + 1, sizeof(*keys));
	request->n_keys = 0;
	for (size_t i = 0; i < spec->n_trust; i++) {
		const struct trust_rule *rule = &spec->trust[i];

		add_keys(&rule->keys, a, keys, &request->n_keys);
		if (rule->provenance.set)
			add_keys(trust_statement_keys(rule), a, keys, &request->n_keys);
		if (rule->vulnerabilities.set && rule->vulnerabilities.db.n == 0)
			request->reads_findings = true;
	}
	request->keys = keys;
}

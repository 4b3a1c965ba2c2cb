/*
 * What the fleet's admission controllers are told of `trust`.
 */
#include "builder/spec/spec_internal.h"
#include "builder/trust/key.h"
#include "k8s/fleet/admission.h"

static struct admission_key *keys_of(const struct strlist *refs, struct arena *a)
{
	struct admission_key *keys = arena_calloc(a, refs->n, sizeof(*keys));

	for (size_t i = 0; i < refs->n; i++) {
		keys[i].ref = refs->at[i];
		if (trust_key_is_kms(refs->at[i]))
			keys[i].kms = refs->at[i];
	}
	return keys;
}

static void set_images(struct admission_rule *rule, const struct trust_rule *from, struct arena *a)
{
	static const char *const all = "*";
	const char *const *patterns = from->images.n > 0 ? from->images.at : &all;

	rule->n_images = from->images.n > 0 ? from->images.n : 1;
	rule->images = arena_calloc(a, rule->n_images, sizeof(*rule->images));
	for (size_t i = 0; i < rule->n_images; i++)
		rule->images[i].prefix =
			trust_pattern_prefix(patterns[i], a, &rule->images[i].below);
}

static void set_rule(struct admission_rule *rule, const struct trust_rule *from, struct arena *a)
{
	const struct strlist *builder_keys = trust_statement_keys(from);

	rule->at = from->at;
	set_images(rule, from, a);
	rule->keys = keys_of(&from->keys, a);
	rule->n_keys = from->keys.n;
	rule->annotations = &from->annotations;
	for (size_t i = 0; i < from->policies.n; i++)
		rule->kinds[choices_find(&trust_policy_choices, from->policies.at[i])] = true;
	if (!from->provenance.set)
		return;
	rule->builder = from->provenance.id;
	rule->builder_keys = keys_of(builder_keys, a);
	rule->n_builder_keys = builder_keys->n;
}

void spec_resolve_admission(struct spec *spec, struct arena *a)
{
	struct admission *admission = arena_calloc(a, 1, sizeof(*admission));

	admission->rules = arena_calloc(a, spec->n_trust, sizeof(*admission->rules));
	for (size_t i = 0; i < spec->n_trust; i++) {
		if (spec->trust[i].policies.n == 0)
			continue;
		struct admission_rule *rule = &admission->rules[admission->n++];

		rule->number = i + 1;
		set_rule(rule, &spec->trust[i], a);
	}
	spec->fleet.admission = admission->n > 0 ? admission : NULL;
}

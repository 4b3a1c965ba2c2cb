#include "k8s/admission/admission.h"

#include "base/attr.h"
#include "k8s/admission/admission_internal.h"

/* A kind of policy: its file, and who writes it. */
static const struct {
	const char *file, *about;
	void (*render)(const struct fleet *fleet, const struct admission_rule *rule,
	               struct k8s_output *out);
} kinds[] = {
	[ADMISSION_KYVERNO] = {"kyverno.yaml",
                               "Kyverno asks the images of the fleet's pods for signatures.\n"
                               "Needs Kyverno 1.17 or newer; docs/TRUST.md names what each version "
                               "gets wrong.",
                               render_kyverno},
	[ADMISSION_KYVERNO_CLUSTERPOLICY] =
		{"kyverno-clusterpolicy.yaml",
                 "Kyverno asks the images of the fleet's pods for signatures under tags\n"
                 "(image.sign.formats: [tag]): a ClusterPolicy reads no others, and no provenance.",
                 render_kyverno_clusterpolicy},
	[ADMISSION_POLICY_CONTROLLER] =
		{"policy-controller.yaml",
                 "sigstore's policy-controller asks the images of pods for signatures, in every\n"
                 "namespace with the label policy.sigstore.dev/include: \"true\". Each policy "
                 "that\n"
                 "is for an image has to be met; annotations are not asked for.",
                 render_policy_controller},
};
_Static_assert(ARRAY_LEN(kinds) == ADMISSION_KINDS, "kinds: one row each");

const char *policy_name(const struct fleet *fleet, const struct admission_rule *rule,
                        const char *suffix, struct k8s_output *out)
{
	return arena_printf(&out->arena, "%s-trust-%zu%s%s", fleet->name, rule->number,
	                    suffix[0] != '\0' ? "-" : "", suffix);
}

void policy_key(cJSON *object, const struct admission_key *key, const char *kms, const char *pem,
                const char *hash)
{
	if (key->kms != NULL) {
		json_add_string(object, kms, key->kms);
		return;
	}
	/* Who only looks for problems in a spec has opened no key. */
	json_add_string(object, pem, key->pem != NULL ? key->pem : key->ref);
	json_add_string(object, hash, key->hash != NULL ? key->hash : "sha256");
}

static bool wanted(const struct fleet *fleet)
{
	return fleet_has_cluster(fleet) && fleet->admission != NULL && fleet->admission->n > 0;
}

static void render(const struct fleet *fleet, struct k8s_output *out)
{
	for (enum admission_kind kind = 0; kind < ADMISSION_KINDS; kind++) {
		if (!admission_has(fleet->admission, kind))
			continue;
		k8s_file(out, kinds[kind].file, kinds[kind].about);
		for (size_t i = 0; i < fleet->admission->n; i++)
			if (fleet->admission->rules[i].kinds[kind])
				kinds[kind].render(fleet, &fleet->admission->rules[i], out);
	}
}

const struct k8s_renderer trust_renderer = {
	.number = "06",
	.name = "trust",
	.summary = "policies of admission controllers for the images of pods",
	.deployed = false,
	.wanted = wanted,
	.render = render,
};

/*
 * ClusterPolicy with verifyImages (Kyverno up to 1.19, kyverno.io_clusterpolicies.yaml; deprecated
 * since 1.17). It reads signatures under tags, and attestations in a form of cosign's that is not
 * written any more: provenance is not asked for.
 */
#include "k8s/admission/admission_internal.h"

static void add_reference(cJSON *list, struct k8s_output *out, const char *prefix, const char *rest)
{
	json_push_string(list, arena_printf(&out->arena, "%s%s", prefix, rest));
}

static void add_references(cJSON *verify, const struct admission_rule *rule, struct k8s_output *out)
{
	cJSON *list = json_add_array(verify, "imageReferences");

	for (size_t i = 0; i < rule->n_images; i++) {
		const struct admission_images *images = &rule->images[i];

		if (images->below) {
			add_reference(list, out, images->prefix, "*");
			continue;
		}
		add_reference(list, out, images->prefix, ":*");
		add_reference(list, out, images->prefix, "@*");
	}
}

static void add_attestor(cJSON *list, const struct admission_key *key,
                         const struct strmap *annotations)
{
	cJSON *attestor = k8s_push_object(list), *entry, *keys;

	json_add_int(attestor, "count", 1);
	entry = k8s_push_object(json_add_array(attestor, "entries"));
	keys = json_add_object(entry, "keys");
	policy_key(keys, key, "kms", "publicKeys", "signatureAlgorithm");
	json_add_bool(json_add_object(keys, "rekor"), "ignoreTlog", true);
	json_add_bool(json_add_object(keys, "ctlog"), "ignoreSCT", true);
	if (annotations->n > 0)
		k8s_add_map(json_add_object(entry, "annotations"), annotations);
}

static void add_verification(cJSON *list, const struct admission_rule *rule, struct k8s_output *out)
{
	cJSON *verify = k8s_push_object(list), *attestors;

	json_add_string(verify, "type", "Cosign");
	add_references(verify, rule, out);
	json_add_string(verify, "failureAction", "Enforce");
	json_add_bool(verify, "mutateDigest", false);
	json_add_bool(verify, "verifyDigest", true);
	json_add_bool(verify, "required", true);
	attestors = json_add_array(verify, "attestors");
	for (size_t i = 0; i < rule->n_keys; i++)
		add_attestor(attestors, &rule->keys[i], rule->annotations);
}

void render_kyverno_clusterpolicy(const struct fleet *fleet, const struct admission_rule *rule,
                                  struct k8s_output *out)
{
	static const char *const pods[] = {"Pod"};
	cJSON *policy = k8s_add(out, "kyverno.io/v1", "ClusterPolicy", NULL,
	                        policy_name(fleet, rule, "", out));
	cJSON *spec = json_add_object(policy, "spec"), *row, *resources;

	k8s_note(out, policy, "spec", rule->at, "trust");
	json_add_bool(spec, "background", false);
	json_add_string(spec, "failurePolicy", "Fail");
	json_add_int(json_add_object(spec, "webhookConfiguration"), "timeoutSeconds", 30);
	row = k8s_push_object(json_add_array(spec, "rules"));
	json_add_string(row, "name", "signatures");
	resources = json_add_object(
		k8s_push_object(json_add_array(json_add_object(row, "match"), "any")), "resources");
	k8s_add_strings(resources, "kinds", pods, 1);
	k8s_add_strings(resources, "namespaces", &fleet->namespace, 1);
	add_verification(json_add_array(row, "verifyImages"), rule, out);
}

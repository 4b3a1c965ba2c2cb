/*
 * ClusterImagePolicy (policy-controller 0.15, config/300-clusterimagepolicy.yaml). One authority of
 * a policy is enough for it, and every policy that is for an image has to be met: so there is a
 * policy for each key. Globs are matched against HOST/NAME:TAG or HOST/NAME@DIGEST, Docker Hub's
 * host being index.docker.io; `**` crosses slashes.
 */
#include <string.h>

#include "base/text.h"
#include "k8s/admission/admission_internal.h"

#define HUB "docker.io/"

static const char *hub(const struct admission_images *images)
{
	return text_has_prefix(images->prefix, HUB) ? "index." : "";
}

static void add_globs(cJSON *spec, const struct admission_rule *rule, struct k8s_output *out)
{
	cJSON *list = json_add_array(spec, "images");

	for (size_t i = 0; i < rule->n_images; i++) {
		const struct admission_images *images = &rule->images[i];
		const char *ends[] = {":**", "@**"};

		for (size_t k = images->below; k < ARRAY_LEN(ends); k++)
			json_add_string(k8s_push_object(list), "glob",
			                arena_printf(&out->arena, "%s%s%s", hub(images),
			                             images->prefix,
			                             images->below ? "**" : ends[k]));
	}
}

static cJSON *add_authority(const struct admission_rule *rule, const struct admission_key *key,
                            const char *name, cJSON *spec, struct k8s_output *out)
{
	cJSON *authority, *object;

	json_add_string(spec, "mode", "enforce");
	add_globs(spec, rule, out);
	authority = k8s_push_object(json_add_array(spec, "authorities"));
	json_add_string(authority, "name", name);
	object = json_add_object(authority, "key");
	policy_key(object, key, "kms", "data", "hashAlgorithm");
	json_add_string(authority, "signatureFormat", "bundle");
	return authority;
}

static cJSON *add_policy(const struct fleet *fleet, const struct admission_rule *rule,
                         const char *what, size_t i, struct k8s_output *out)
{
	const char *suffix = arena_printf(&out->arena, "%s%zu", what, i + 1);
	cJSON *policy = k8s_add(out, "policy.sigstore.dev/v1beta1", "ClusterImagePolicy", NULL,
	                        policy_name(fleet, rule, suffix, out));
	cJSON *spec = json_add_object(policy, "spec");

	k8s_note(out, policy, "spec", rule->at, "trust");
	return spec;
}

/* In CUE; an ID has no letter that a string would read otherwise (builder/trust/rules.c). */
static const char *builder_is(const char *builder, struct k8s_output *out)
{
	size_t len = strlen(builder);
	bool any = builder[len - 1] == '*';

	return arena_printf(&out->arena,
	                    "predicateType: \"https://slsa.dev/provenance/v1\"\n"
	                    "predicate: runDetails: builder: id: %s%.*s%s\n",
	                    any ? "=~\"^\\\\Q" : "\"", (int)(len - any), builder,
	                    any ? "\\\\E\"" : "\"");
}

static void add_provenance(cJSON *authority, const struct admission_rule *rule,
                           struct k8s_output *out)
{
	cJSON *attestation = k8s_push_object(json_add_array(authority, "attestations")), *policy;

	json_add_string(attestation, "name", "provenance");
	json_add_string(attestation, "predicateType", "https://slsa.dev/provenance/v1");
	policy = json_add_object(attestation, "policy");
	json_add_string(policy, "type", "cue");
	json_add_string(policy, "data", builder_is(rule->builder, out));
}

void render_policy_controller(const struct fleet *fleet, const struct admission_rule *rule,
                              struct k8s_output *out)
{
	for (size_t i = 0; i < rule->n_keys; i++)
		add_authority(rule, &rule->keys[i], "key", add_policy(fleet, rule, "key", i, out),
		              out);
	for (size_t i = 0; rule->builder != NULL && i < rule->n_builder_keys; i++)
		add_provenance(add_authority(rule, &rule->builder_keys[i], "builder",
		                             add_policy(fleet, rule, "builder", i, out), out),
		               rule, out);
}

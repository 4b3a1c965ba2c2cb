/*
 * ImageValidatingPolicy (Kyverno 1.19, policies.kyverno.io_imagevalidatingpolicies.yaml). Globs are
 * matched against the image as the pod has it, and a `*` crosses slashes.
 */
#include <string.h>

#include "k8s/admission/admission_internal.h"

#define ALL_IMAGES "(images.containers + images.initContainers + images.ephemeralContainers)"

static void add_glob(cJSON *list, struct k8s_output *out, const char *prefix, const char *rest)
{
	json_add_string(k8s_push_object(list), "glob",
	                arena_printf(&out->arena, "%s%s", prefix, rest));
}

static void add_images(cJSON *spec, const struct admission_rule *rule, struct k8s_output *out)
{
	cJSON *list = json_add_array(spec, "matchImageReferences");

	for (size_t i = 0; i < rule->n_images; i++) {
		const struct admission_images *images = &rule->images[i];

		if (images->below) {
			add_glob(list, out, images->prefix, "*");
			continue;
		}
		add_glob(list, out, images->prefix, "");
		add_glob(list, out, images->prefix, ":*");
		add_glob(list, out, images->prefix, "@*");
	}
}

static void add_scope(cJSON *spec, const struct fleet *fleet)
{
	static const char *const resources[] = {"pods", "pods/ephemeralcontainers"};
	static const char *const core[] = {""}, *const versions[] = {"v1"},
				 *const operations[] = {"CREATE", "UPDATE"};
	cJSON *match = json_add_object(spec, "matchConstraints"), *rule;

	json_add_string(json_add_object(json_add_object(match, "namespaceSelector"), "matchLabels"),
	                "kubernetes.io/metadata.name", fleet->namespace);
	rule = k8s_push_object(json_add_array(match, "resourceRules"));
	k8s_add_strings(rule, "apiGroups", core, 1);
	k8s_add_strings(rule, "apiVersions", versions, 1);
	k8s_add_strings(rule, "operations", operations, 2);
	k8s_add_strings(rule, "resources", resources, 2);
}

static void add_attestor(cJSON *list, struct k8s_output *out, const char *prefix, size_t i,
                         const struct admission_key *key, const struct strmap *annotations)
{
	cJSON *attestor = k8s_push_object(list), *cosign, *object;

	json_add_string(attestor, "name", arena_printf(&out->arena, "%s%zu", prefix, i + 1));
	cosign = json_add_object(attestor, "cosign");
	object = json_add_object(cosign, "key");
	policy_key(object, key, "kms", "data", "hashAlgorithm");
	object = json_add_object(cosign, "ctlog");
	json_add_bool(object, "insecureIgnoreTlog", true);
	json_add_bool(object, "insecureIgnoreSCT", true);
	if (annotations != NULL && annotations->n > 0)
		k8s_add_map(json_add_object(cosign, "annotations"), annotations);
}

static void add_validation(cJSON *list, struct k8s_output *out, const char *condition,
                           const char *message)
{
	cJSON *v = k8s_push_object(list);

	json_add_string(v, "expression",
	                arena_printf(&out->arena, ALL_IMAGES ".all(image, %s)", condition));
	json_add_string(v, "message", message);
}

static void ask_signatures(cJSON *list, const struct admission_rule *rule, struct k8s_output *out)
{
	for (size_t i = 0; i < rule->n_keys; i++)
		add_validation(list, out,
		               arena_printf(&out->arena,
		                            "verifyImageSignatures(image, [attestors.key%zu]) > 0",
		                            i + 1),
		               arena_printf(&out->arena, "an image is not signed by the key '%s'",
		                            rule->keys[i].ref));
}

/* An ID has no letter that a CEL string would read otherwise (builder/trust/rules.c). */
static void ask_builder(cJSON *list, const struct admission_rule *rule, struct k8s_output *out)
{
	size_t len = strlen(rule->builder);
	bool any = rule->builder[len - 1] == '*';

	for (size_t i = 0; i < rule->n_builder_keys; i++)
		add_validation(list, out,
		               arena_printf(&out->arena,
		                            "verifyAttestationSignatures(image, "
		                            "attestations.provenance, [attestors.builder%zu]) > 0",
		                            i + 1),
		               arena_printf(&out->arena,
		                            "an image has no provenance that the key '%s' signed",
		                            rule->builder_keys[i].ref));
	add_validation(list, out,
	               arena_printf(&out->arena,
	                            "extractPayload(image, attestations.provenance)"
	                            ".predicate.runDetails.builder.id%s'%.*s'%s",
	                            any ? ".startsWith(" : " == ", (int)(len - any), rule->builder,
	                            any ? ")" : ""),
	               arena_printf(&out->arena, "an image was not built by %s", rule->builder));
}

static void add_attestors(cJSON *spec, const struct admission_rule *rule, struct k8s_output *out)
{
	cJSON *list = json_add_array(spec, "attestors"), *attestation;

	for (size_t i = 0; i < rule->n_keys; i++)
		add_attestor(list, out, "key", i, &rule->keys[i], rule->annotations);
	if (rule->builder == NULL)
		return;
	for (size_t i = 0; i < rule->n_builder_keys; i++)
		add_attestor(list, out, "builder", i, &rule->builder_keys[i], NULL);
	attestation = k8s_push_object(json_add_array(spec, "attestations"));
	json_add_string(attestation, "name", "provenance");
	json_add_string(json_add_object(attestation, "intoto"), "type",
	                "https://slsa.dev/provenance/v1");
}

void render_kyverno(const struct fleet *fleet, const struct admission_rule *rule,
                    struct k8s_output *out)
{
	static const char *const deny[] = {"Deny"};
	cJSON *policy = k8s_add(out, "policies.kyverno.io/v1", "ImageValidatingPolicy", NULL,
	                        policy_name(fleet, rule, "", out));
	cJSON *spec = json_add_object(policy, "spec"), *list;

	k8s_note(out, policy, "spec", rule->at, "trust");
	json_add_string(spec, "failurePolicy", "Fail");
	k8s_add_strings(spec, "validationActions", deny, 1);
	json_add_int(json_add_object(spec, "webhookConfiguration"), "timeoutSeconds", 30);
	add_scope(spec, fleet);
	add_images(spec, rule, out);
	/* deploy names every image by digest: there is nothing to change, and a tag is refused. */
	list = json_add_object(spec, "validationConfigurations");
	json_add_bool(list, "mutateDigest", false);
	json_add_bool(list, "verifyDigest", true);
	json_add_bool(list, "required", true);
	add_attestors(spec, rule, out);
	list = json_add_array(spec, "validations");
	ask_signatures(list, rule, out);
	if (rule->builder != NULL)
		ask_builder(list, rule, out);
}

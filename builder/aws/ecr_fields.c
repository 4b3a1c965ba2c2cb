/*
 * `image.ecr` of the spec.
 */
#include <string.h>

#include "builder/aws/ecr.h"

static const struct choices mutabilities =
	CHOICE_TEXTS("MUTABLE", "IMMUTABLE", "MUTABLE_WITH_EXCLUSION", "IMMUTABLE_WITH_EXCLUSION");
static const struct choices encryptions = CHOICE_TEXTS("AES256", "KMS", "KMS_DSSE");

/* ECR: up to 128 characters of a tag, with at most two '*'. */
static const char *pattern_check(const char *text, const char **ret_hint)
{
	size_t stars = 0, len = strlen(text);

	for (const char *c = text; *c != '\0'; c++)
		stars += *c == '*';
	*ret_hint = "write a tag with '*' in it, as in dev-*";
	if (len == 0 || len > 128 || stars > 2 ||
	    strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-*") !=
	            len)
		return "is not a tag pattern";
	return NULL;
}

static const struct field rows[] = {
	FIELD_BOOL(struct ecr_settings, create, "create",
                   "Create the repository when a push finds that it does not exist."),
	FIELD_STRING(struct ecr_settings, mutability, "mutability",
                     "Whether tags may be moved: MUTABLE, IMMUTABLE, or either with exclusions.",
                     .choices = &mutabilities, .complaint = "is not one that ECR knows",
                     .fallback_doc = "MUTABLE"),
	FIELD_STRINGS(struct ecr_settings, exclusions, "exclusions",
                      "Tag patterns with '*' that mutability does not apply to, at most 5.",
                      .check = pattern_check),
	FIELD_BOOL(struct ecr_settings, scan_on_push, "scan_on_push",
                   "Scan each image that is pushed."),
	FIELD_STRING(struct ecr_settings, encryption, "encryption",
                     "Encryption at rest: AES256, KMS or KMS_DSSE.", .choices = &encryptions,
                     .complaint = "is not one that ECR knows", .fallback_doc = "AES256"),
	FIELD_STRING(struct ecr_settings, kms_key, "kms_key",
                     "ARN or alias of the KMS key, with encryption KMS or KMS_DSSE."),
	FIELD_MAP(struct ecr_settings, tags, "tags", "Tags of the repository, at most 50."),
	FIELD_INT(struct ecr_settings, expire_untagged_days, "expire_untagged_days",
                  "Lifecycle: days after which untagged images are deleted.", .min = 0,
                  .max = 36500),
	FIELD_INT(struct ecr_settings, keep_images, "keep_images",
                  "Lifecycle: how many of the newest images are kept; older ones are deleted.",
                  .min = 0, .max = 100000),
};

/* What no single row can see. */
static void check_ecr_settings(struct fields_context *c, const struct yaml_node *node, void *object)
{
	const struct ecr_settings *s = object;
	bool with = s->mutability != NULL && strstr(s->mutability, "_WITH_EXCLUSION") != NULL;
	bool kms = s->encryption != NULL && strncmp(s->encryption, "KMS", 3) == 0;

	if (with != (s->exclusions.n > 0))
		fields_problem(c, node,
		               "exclusions and a mutability ..._WITH_EXCLUSION go together");
	if (s->exclusions.n > 5)
		fields_problem(c, node, "ECR takes at most 5 exclusions");
	if (s->kms_key != NULL && !kms)
		fields_problem(c, node, "kms_key needs encryption KMS or KMS_DSSE");
	if (s->tags.n > 50)
		fields_problem(c, node, "ECR takes at most 50 tags");
}

const struct field_table ecr_settings_fields = FIELD_TABLE(
	struct ecr_settings, "ecr", rows, "The repository in Amazon ECR, when slipway creates it.",
	.check = check_ecr_settings);

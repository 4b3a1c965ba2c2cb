#include "builder/check/model.h"

#include <string.h>

#include "base/crypto/digest.h"
#include "base/text.h"

static const char *rule_check(const char *text, const char **ret_hint)
{
	for (size_t i = 0; i < check_rule_count; i++)
		if (strcmp(check_rule_names[i], text) == 0)
			return NULL;
	static _Thread_local char hint[64]; /* copied by the caller at once */
	const char *near = text_nearest(text, check_rule_names, check_rule_count);

	snprintf(hint, sizeof(hint),
	         near != NULL ? "did you mean '%s'?" : "docs/CHECK.md lists them%s",
	         near != NULL ? near : "");
	*ret_hint = hint;
	return "is not the name of a check rule";
}

static const char *digest_check(const char *text, const char **ret_hint)
{
	struct digest digest;
	struct err err = {0};

	if (digest_parse(text, &digest, &err) == 0)
		return NULL;
	*ret_hint = "the finding's hint names it; so does sha256sum";
	return "is not a digest as in sha256:<64 hex digits>";
}

static const char *text_check(const char *text, const char **ret_hint)
{
	*ret_hint = "say it in some words: those who read the file later need them";
	return text[strspn(text, " \t\n")] == '\0' ? "is empty" : NULL;
}

static const char *path_check(const char *text, const char **ret_hint)
{
	*ret_hint = "write where the finding is, as in /etc/example.key or env:NAME";
	return text[0] == '\0' ? "is empty" : NULL;
}

static const struct field allow_rows[] = {
	FIELD_STRING(struct check_allowance, rule, "rule", "The rule whose finding it is.",
                     .flags = FIELD_REQUIRED, .check = rule_check),
	FIELD_STRING(struct check_allowance, path, "path",
                     "Where it is: a path in the image, or a glob of paths. In the configuration "
                     "and annotations: `env:NAME`, `label:KEY`, `annotation:KEY`, as the finding "
                     "says.",
                     .flags = FIELD_REQUIRED, .check = path_check),
	FIELD_STRING(struct check_allowance, digest, "digest",
                     "Digest of the file, so that another content is found again.",
                     .fallback_doc = "whatever the file holds", .check = digest_check),
	FIELD_STRING(struct check_allowance, reason, "reason", "Why it may be there.",
                     .flags = FIELD_REQUIRED, .check = text_check),
};

static const struct field_table allow_fields =
	FIELD_TABLE(struct check_allowance, "allow", allow_rows,
                    "A finding of the image check that is allowed.", .has_pos = true,
                    .pos_offset = offsetof(struct check_allowance, at));

static const struct field rows[] = {
	FIELD_STRINGS(struct check_spec, off, "off",
                      "Names of rules that are turned off (docs/CHECK.md).", .check = rule_check),
	FIELD_STRINGS(struct check_spec, provided, "provided",
                      "Shared libraries (sonames or globs) that the node brings, besides the "
                      "layers' own lists."),
	FIELD_OBJECTS(struct check_spec, allow, n_allow, struct check_allowance, &allow_fields,
                      "allow",
                      "Findings that are meant to be there, each with its reason; one that allows "
                      "nothing is warned of."),
	FIELD_SIZE(
		struct check_spec, max_unpacked, "max_unpacked",
		"Most bytes that the layers of all platforms may unpack to, the base's included.",
		.fallback_doc = "512 MiB and 1,100 times the compressed size, at most 256 GiB"),
	FIELD_SIZE(struct check_spec, size_budget, "size_budget",
                   "Most compressed bytes of one platform's layers.", .fallback_doc = "no budget",
                   .pos_offset = offsetof(struct check_spec, size_budget_at)),
};

const struct field_table check_spec_fields = FIELD_TABLE(
	struct check_spec, "check", rows, "The image check: rules that are off, and its limits.",
	.has_pos = true, .pos_offset = offsetof(struct check_spec, at));

#include "builder/check/model.h"

#include <string.h>

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

static const struct field rows[] = {
	FIELD_STRINGS(struct check_spec, off, "off",
                      "Names of rules that are turned off (docs/CHECK.md).", .check = rule_check),
	FIELD_STRINGS(struct check_spec, provided, "provided",
                      "Shared libraries (sonames or globs) that the node brings, besides the "
                      "layers' own lists."),
	FIELD_SIZE(
		struct check_spec, max_unpacked, "max_unpacked",
		"Most bytes that the layers of all platforms may unpack to, the base's included.",
		.fallback_doc = "512 MiB and 1,100 times the compressed size, at most 256 GiB"),
	FIELD_SIZE(struct check_spec, size_budget, "size_budget",
                   "Most compressed bytes of one platform's layers.", .fallback_doc = "no budget"),
};

const struct field_table check_spec_fields = FIELD_TABLE(
	struct check_spec, "check", rows, "The image check: rules that are off, and its limits.",
	.has_pos = true, .pos_offset = offsetof(struct check_spec, at));

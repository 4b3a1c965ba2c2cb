/*
 * The options of commands that read the spec.
 */
#ifndef SLIPWAY_BUILDER_CLI_SPEC_OPTION_H
#define SLIPWAY_BUILDER_CLI_SPEC_OPTION_H

#include "builder/cli/command.h"
#include "builder/spec/spec.h"

struct spec_options {
	const char *file;
	struct strlist set;
};
#define SPEC_OPTIONS(object, member, ...)                                                          \
	SPEC_OPTIONS_IN(OPTION_MEMBER(object, member, struct spec_options), __VA_ARGS__)
#define SPEC_OPTIONS_IN(base, file_help, set_help)                                                 \
	TEXT_OPTION_IN(base, struct spec_options, file, "file", 'f', "FILE", file_help,            \
	               .fallback = "slipway.yaml", .complete = COMPLETE_FILE),                     \
		LIST_OPTION_IN(base, struct spec_options, set, "set", 0, "PATH=VALUE", set_help)

/* Loads the spec named by --file with every --set. */
int spec_from_options(struct cli *cli, const struct spec_options *o, struct spec **ret_spec,
                      struct err *err) MUST_USE;

/* The same, with what options of the command's own write over it (NULL = nothing). */
int spec_from_options_over(struct cli *cli, const struct spec_options *o,
                           const struct spec_over *over, struct spec **ret_spec,
                           struct err *err) MUST_USE;

#endif

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
#define SPEC_OPTIONS(object, member, file_help, set_help)                                          \
	TEXT_OPTION(object, member.file, "file", 'f', "FILE", file_help,                           \
	            .fallback = "slipway.yaml", .complete = COMPLETE_FILE),                        \
		LIST_OPTION(object, member.set, "set", 0, "PATH=VALUE", set_help)

/* Loads the spec named by --file with every --set. */
int spec_from_options(struct cli *cli, const struct spec_options *o, struct spec **ret_spec,
                      struct err *err) MUST_USE;

#endif

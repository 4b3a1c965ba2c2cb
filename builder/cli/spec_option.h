/*
 * The options of commands that read the spec.
 */
#ifndef SLIPWAY_BUILDER_CLI_SPEC_OPTION_H
#define SLIPWAY_BUILDER_CLI_SPEC_OPTION_H

#include "builder/cli/command.h"
#include "builder/spec/spec.h"

/* Loads the spec named by --file with every --set. */
int spec_from_options(struct cli *cli, struct spec **ret_spec, struct err *err) MUST_USE;

#endif

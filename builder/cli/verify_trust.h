/*
 * `slipway verify --trust`: an image held against `trust` of a spec, as deploy does.
 */
#ifndef SLIPWAY_BUILDER_CLI_VERIFY_TRUST_H
#define SLIPWAY_BUILDER_CLI_VERIFY_TRUST_H

#include "builder/cli/command.h"
#include "builder/image/remote.h"

/* ERR_CHECK when a rule is not met: cli->diags has each refusal; ERR_USAGE for a spec without
 * rules, or an image that is in no registry. */
int verify_trust(struct cli *cli, const char *spec_file, const struct remote *remote,
                 const char *image, struct err *err) MUST_USE;

#endif

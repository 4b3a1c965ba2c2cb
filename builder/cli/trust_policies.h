/*
 * The keys that rendered policies hold.
 */
#ifndef SLIPWAY_BUILDER_CLI_TRUST_POLICIES_H
#define SLIPWAY_BUILDER_CLI_TRUST_POLICIES_H

#include "builder/cli/command.h"
#include "builder/spec/spec.h"

/* Reads the public keys of spec->fleet.admission; keys in KMS stay names. Errors as trust_key_open,
 * with the rule's place. */
int trust_policies_open(struct cli *cli, struct spec *spec, struct err *err) MUST_USE;

#endif

/*
 * What is attached to an image, and to that in turn, as a tree.
 */
#ifndef SLIPWAY_BUILDER_CLI_INSPECT_TREE_H
#define SLIPWAY_BUILDER_CLI_INSPECT_TREE_H

#include "builder/cli/command.h"
#include "builder/oci/store.h"

/*
 * Adds "attached" to obj, whose "digest" names the subject: an array of objects with digest, type
 * and size, of bundles the key that they call their own (unverified) and what they say, and
 * "attached" of their own.
 */
int inspect_attached(struct store *store, cJSON *obj, struct arena *a, struct err *err) MUST_USE;

/* Prints it below the subject's line, indented. */
void inspect_print_attached(const struct cli *cli, const cJSON *obj);

#endif

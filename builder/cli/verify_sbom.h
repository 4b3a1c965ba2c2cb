/*
 * `slipway verify --sbom`: whether a key vouches for what is in an image.
 */
#ifndef SLIPWAY_BUILDER_CLI_VERIFY_SBOM_H
#define SLIPWAY_BUILDER_CLI_VERIFY_SBOM_H

#include "builder/cli/command.h"
#include "builder/image/image.h"
#include "builder/trust/key.h"

/* The manifests that each have to have a signed document; borrowed. */
struct sbom_subjects {
	const struct image *image;
	const struct descriptor *manifests;
	size_t n;
};

/*
 * Adds an object for each document that the key has signed to `array`. ERR_CHECK when a manifest
 * has none: cli->diags then says of each bundle why it does not count.
 */
int verify_sboms(struct cli *cli, const struct sbom_subjects *about, struct trust_key *key,
                 cJSON *array, struct err *err) MUST_USE;

/* Prints that array, a line for each; NULL: nothing. */
void verify_sboms_print(struct cli *cli, const cJSON *array);

#endif

/*
 * `slipway verify --key`: who vouches for an image, and for what exactly.
 */
#ifndef SLIPWAY_BUILDER_CLI_VERIFY_SIGNATURES_H
#define SLIPWAY_BUILDER_CLI_VERIFY_SIGNATURES_H

#include "builder/cli/key_option.h"
#include "builder/image/image.h"

struct signature_options {
	struct strlist key, annotation;
	bool recursive, sbom;
	const char *platform; /* NULL = all */
};

/*
 * Each of the keys has to have signed the image; prints what they vouch for. ERR_CHECK when one has
 * not: cli->diags then says of each signature why it does not count.
 */
int verify_signatures(struct cli *cli, const struct signature_options *o, struct trust_key **keys,
                      const struct image *image, struct err *err) MUST_USE;

#endif

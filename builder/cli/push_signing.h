/*
 * Signing on the way of a push, as `image.sign` says.
 */
#ifndef SLIPWAY_BUILDER_CLI_PUSH_SIGNING_H
#define SLIPWAY_BUILDER_CLI_PUSH_SIGNING_H

#include "builder/cli/key_option.h"
#include "builder/image/push.h"

/* Who signs one image. Zero-initialise; AUTO(push_signing). */
struct push_signing {
	struct trust_key *key; /* owned */
	struct image_signing signing;
};
void push_signing_done(struct push_signing *s);

/* Opens the key of spec->image, if it is to be signed, and makes the target, which borrows s, say
 * so. */
int push_signing_open(struct cli *cli, struct key_variables *variables, const struct remote *remote,
                      const struct spec *spec, struct push_signing *s, struct image_target *target,
                      struct err *err) MUST_USE;

#endif

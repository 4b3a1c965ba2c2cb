/*
 * Signing the provenance that is attached to an image: each platform's statement as it is, and one
 * about the index. An unsigned statement says what anybody may say.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_ATTEST_H
#define SLIPWAY_BUILDER_IMAGE_ATTEST_H

#include "builder/image/attach.h"
#include "builder/trust/key.h"

struct attest_opts {
	struct store *from;               /* where the statements are attached to the image */
	const struct descriptor *root;    /* index or manifest */
	const struct attach_place *place; /* where the bundles go; the image is there */
	struct store *store;              /* reads the same place */
	struct trust_key *key;
};

struct attest_result {
	size_t n_signed;  /* statements that were signed */
	size_t n_there;   /* that the key has signed before, with the same words */
	size_t n_without; /* platforms that have none */
};

/* ERR_FORMAT, ERR_LIMIT for what is attached and is no such statement about that manifest. */
int image_attest(const struct attest_opts *opts, struct arena *a, struct attest_result *ret_result,
                 struct err *err) MUST_USE;

#endif

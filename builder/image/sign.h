/*
 * Signing an image where it is: its index and each manifest in it, as sigstore bundles, under the
 * tags of simple signing, or both (builder/trust/signatures.h).
 */
#ifndef SLIPWAY_BUILDER_IMAGE_SIGN_H
#define SLIPWAY_BUILDER_IMAGE_SIGN_H

#include "builder/image/attach.h"
#include "builder/trust/signatures.h"

struct sign_opts {
	const struct attach_place *place;
	struct store *store;           /* reads the same place */
	const struct descriptor *root; /* what is signed, with all that an index names */
	struct trust_key *key;
	unsigned forms;            /* SIGNATURE_BUNDLE, SIGNATURE_TAG, or both */
	struct strmap annotations; /* of each signature */
	const char *reference;     /* HOST/REPOSITORY, which simple signing names; "" if none */
};

struct sign_result {
	size_t n_signed; /* signatures that were made */
	size_t n_there;  /* that were there: the same key, image and annotations */
};

/* Platforms first, the index last: when it is signed, they are. */
int image_sign(const struct sign_opts *opts, struct arena *a, struct sign_result *ret_result,
               struct err *err) MUST_USE;

/*
 * Attaches a signed in-toto statement (`payload`, as it is) to its subject, in a bundle.
 * `predicate_type` is what it says, for readers of lists.
 */
int image_attach_statement(const struct attach_place *place, const struct descriptor *subject,
                           struct trust_key *key, const char *payload, size_t len,
                           const char *predicate_type, struct arena *a, struct err *err) MUST_USE;

#endif

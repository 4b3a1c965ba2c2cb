/*
 * What several keys have said of an image in the same words: how it was built, what is in it.
 */
#ifndef SLIPWAY_BUILDER_TRUST_VOUCHED_H
#define SLIPWAY_BUILDER_TRUST_VOUCHED_H

#include "builder/trust/signatures.h"

/* Whose word it takes. */
struct vouchers {
	struct trust_key *const *keys; /* each of them; borrowed */
	size_t n;
	struct bundle_cache *cache; /* as struct signature_wish */
};

struct vouched {
	const struct signature *statement; /* that all have signed; NULL: there is none */
	size_t missing; /* without: the first key that has signed none; n: not the same one */
	struct signatures all; /* with missing < n: that key's, and why they do not count */
};

/* A statement with this predicate about the subject, of several the first. Strings live in the
 * arena. Errors are those of signatures_verify. */
int vouched_find(struct store *s, const struct digest *subject, const char *predicate_type,
                 const struct vouchers *by, struct arena *a, struct vouched *ret_vouched,
                 struct err *err) MUST_USE;

#endif

/*
 * WWW-Authenticate (RFC 9110 section 11.6.1): which scheme a registry wants. Pure; strings in the
 * arena.
 */
#ifndef SLIPWAY_BUILDER_REGISTRY_CHALLENGE_H
#define SLIPWAY_BUILDER_REGISTRY_CHALLENGE_H

#include "base/arena.h"
#include "base/err.h"

enum challenge_scheme { CHALLENGE_NONE, CHALLENGE_BASIC, CHALLENGE_BEARER };

struct challenge {
	enum challenge_scheme scheme;
	const char *realm;   /* bearer: URL of the token server */
	const char *service; /* NULL if absent */
	const char *scope;   /* NULL if absent */
	const char *error;   /* "insufficient_scope", "invalid_token", NULL if absent */
};

/*
 * Reads one header value, which may hold several challenges; the first Basic or Bearer is taken,
 * others (Negotiate, ...) are passed over. scheme CHALLENGE_NONE when there is none. ERR_FORMAT for
 * a Bearer without realm.
 */
int challenge_parse(const char *value, struct arena *a, struct challenge *ret_challenge,
                    struct err *err) MUST_USE;

#endif

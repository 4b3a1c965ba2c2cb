/*
 * Authorization for one repository: Basic, or Bearer tokens from the token server that the
 * registry's challenge names (Docker token specification). Tokens are kept per scope set until
 * three quarters of their life are over. Secrets are wiped on release. Thread-safe.
 */
#ifndef SLIPWAY_BUILDER_REGISTRY_AUTH_H
#define SLIPWAY_BUILDER_REGISTRY_AUTH_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/net/http.h"
#include "builder/registry/credentials.h"

struct auth; /* opaque */

struct auth_opts {
	const char *host; /* as in references: key of the credentials */
	const char
		*origin; /* "https://host[:port]": where requests go; with "http://" tokens too */
	struct http_transport *transport;        /* borrowed */
	struct credential_provider *credentials; /* borrowed, NULL = anonymous */
	struct clock *clock;
};

struct auth *auth_new(const struct auth_opts *opts);
void auth_free(struct auth *a); /* accepts NULL */

/*
 * The Authorization header's value for these scopes (space separated, the most wanted first), or
 * NULL as long as the registry has not asked for any. Fetches a token when needed. The caller frees
 * with auth_release.
 */
int auth_header(struct auth *a, const char *scopes, char **ret_value, struct err *err) MUST_USE;
void auth_release(char *value); /* wipes and frees; accepts NULL */

/*
 * Takes in a refusal's WWW-Authenticate (NULL when it has none): learns the scheme and the scope,
 * forgets the token that was refused (`used`, may be NULL), asks the provider for a newer password.
 * *ret_retry says whether another try can go better.
 */
int auth_challenged(struct auth *a, const char *challenge, const char *used, bool *ret_retry,
                    struct err *err) MUST_USE;

/* The host also answers 400 when a password is no longer valid. */
bool auth_is_plain(const struct auth *a);

/* A request with this Authorization was not refused. */
void auth_accepted(struct auth *a, const char *used);

#endif

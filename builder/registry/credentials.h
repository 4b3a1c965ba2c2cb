/*
 * Where user names and secrets for a registry come from: an interface, so that Amazon ECR's own
 * credentials can stand beside docker's configuration. Secrets are wiped when released and appear
 * in no message, argument vector or environment.
 */
#ifndef SLIPWAY_BUILDER_REGISTRY_CREDENTIALS_H
#define SLIPWAY_BUILDER_REGISTRY_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct credential {
	char *username;       /* NULL = anonymous */
	char *secret;         /* password */
	char *identity_token; /* OAuth2 refresh token instead of a password, NULL if none */
	char *registry_token; /* bearer token to use as it is, NULL if none */
	int64_t renew_ms;     /* after this moment (ms since 1970) ask again; 0 = good for ever */
};
void credential_done(struct credential *c); /* wipes and frees */

struct credential_provider {
	/*
	 * Looks host ("localhost:5000", "docker.io") up. 0 with everything NULL = nothing known
	 * (anonymous). `renew` is true after the server refused what an earlier call gave.
	 */
	int (*get)(struct credential_provider *p, const char *host, bool renew,
	           struct credential *ret, struct err *err);
	void (*close)(struct credential_provider *p); /* NULL = nothing to release */
	/*
	 * True when this host takes a name and password with the very first request, and says with
	 * 400 as well as 401 and 403 that they are no longer good (ECR). NULL = false for every
	 * host.
	 */
	bool (*is_plain)(struct credential_provider *p, const char *host);
};

/*
 * docker's configuration: $REGISTRY_AUTH_FILE, $DOCKER_CONFIG/config.json (else
 * ~/.docker/config.json), $XDG_RUNTIME_DIR/containers/auth.json, the first that knows the host;
 * credHelpers[host] > credsStore > auths[host]. A missing file is anonymous; a broken one is
 * ERR_FORMAT naming the file.
 */
int credentials_docker(struct credential_provider **ret_provider, struct err *err) MUST_USE;

/*
 * A fixed user name and password (copied), for `--username`. They go to every host that is asked
 * for: where a command uses more than one (a base image elsewhere), use credentials_for_host.
 */
struct credential_provider *credentials_fixed(const char *username, const char *secret);

/*
 * Passes requests for `host` (copied, as in references) to `own` and all others to `others` (NULL =
 * anonymous). Takes over both.
 */
struct credential_provider *credentials_for_host(const char *host, struct credential_provider *own,
                                                 struct credential_provider *others);

#endif

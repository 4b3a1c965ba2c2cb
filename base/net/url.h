/*
 * The little of RFC 3986 that an HTTP client needs, as pure functions. libcurl takes the URLs
 * apart, as it will when it connects: a host is not one thing to a check and another to the
 * connection.
 */
#ifndef SLIPWAY_BASE_NET_URL_H
#define SLIPWAY_BASE_NET_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"

struct url {
	const char *scheme; /* "http" or "https", lower case */
	const char *host;   /* lower case, decoded, no port; IPv4 as a.b.c.d; IPv6 in brackets */
	int port;           /* explicit or the scheme's default */
	const char *target; /* path without dot segments, and query; at least "/" */
};

/* Absolute http(s) URL without user info; ERR_FORMAT otherwise. A fragment is dropped. */
int url_parse(const char *text, struct arena *a, struct url *ret_url, struct err *err) MUST_USE;

/*
 * `location` (absolute, "//host/...", absolute path, relative path or "?query") against a base URL;
 * ERR_FORMAT when either is none. The result has no dot segments.
 */
int url_resolve(const char *base, const char *location, struct arena *a, const char **ret_url,
                struct err *err) MUST_USE;

/* Same scheme, host and port: credentials may travel. */
bool url_same_origin(const struct url *a, const struct url *b);

/* The host is this machine, a private network's or link-local (reach.h): not a public one. */
bool url_host_is_private(const char *host);

/* Appends text with everything but unreserved characters percent-encoded. */
void url_encode(struct strbuf *sb, const char *text);

#endif

/*
 * Whether a registry on this machine speaks plain HTTP, as one that is started for a test does.
 */
#ifndef SLIPWAY_BUILDER_REGISTRY_PLAIN_H
#define SLIPWAY_BUILDER_REGISTRY_PLAIN_H

#include <stdbool.h>

#include "base/net/http.h"

/*
 * True when `host` ("localhost:5000") is certainly this machine, does not speak TLS, and answers
 * HTTP. A certificate that is not trusted is TLS all the same: false, and the user hears of it with
 * the first request. At most two requests, without credentials; none to any other host.
 */
bool plain_is_spoken(struct http_transport *t, const char *host);

#endif

/*
 * Where a registry may send its clients: to a token server, or by a redirect. A registry is not
 * trusted to name places inside the user's network, nor to do without TLS.
 */
#ifndef SLIPWAY_BUILDER_REGISTRY_TARGET_H
#define SLIPWAY_BUILDER_REGISTRY_TARGET_H

#include <stdbool.h>

#include "base/net/url.h"

/*
 * The registry's own host may be asked over plain http where the registry itself is. Any other has
 * to be https, and neither private nor link-local by its text. *ret_foreign: it is another host;
 * the transport then refuses link-local addresses that the name resolves to as well.
 * ERR_DENIED begins with `what`, as in "the registry redirects to".
 */
int target_check(const char *what, const struct url *own, const struct url *to, bool *ret_foreign,
                 struct err *err) MUST_USE;

#endif

#include "builder/registry/target.h"

#include <string.h>

#include "base/net/reach.h"

int target_check(const char *what, const struct url *own, const struct url *to, bool *ret_foreign,
                 struct err *err)
{
	bool same_host = strcmp(to->host, own->host) == 0, tls = strcmp(to->scheme, "https") == 0;

	*ret_foreign = !same_host;
	if (!same_host && reach_of_host(to->host) != REACH_PUBLIC) {
		err_set(err, ERR_DENIED, "%s a private address: %s", what, to->host);
		return err_hint(err, "configure the registry to name a public host, or itself");
	}
	/* --insecure is about the registry's host and no other. */
	if (tls || (same_host && strcmp(own->scheme, "http") == 0))
		return 0;
	err_set(err, ERR_DENIED, "%s a host without TLS: %s", what, to->host);
	return err_hint(err, "configure the registry to name an https URL");
}

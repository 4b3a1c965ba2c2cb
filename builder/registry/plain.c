#include "builder/registry/plain.h"

#include <string.h>

#include "base/net/reach.h"
#include "base/net/url.h"

/* A loaded machine takes longer to answer than one that waits for requests. */
enum { PROBE_MS = 10000, BAD_REQUEST = 400 };

/* The status of GET /v2/, or -1 with why there is none. */
static int probe(struct http_transport *t, const char *scheme, const char *host, struct err *err)
{
	AUTO(http_response) struct http_response resp = {0};
	char url[512];
	int n = snprintf(url, sizeof(url), "%s://%s/v2/", scheme, host);
	const struct http_request request = {.method = "GET", .url = url, .timeout_ms = PROBE_MS};

	if (n < 0 || (size_t)n >= sizeof(url))
		return err_set(err, ERR_LIMIT, "the host's name is too long");
	return http_perform(t, &request, &resp, err) == 0 ? resp.status : -1;
}

static bool is_this_machine(const char *host)
{
	AUTO(arena) struct arena a = {0};
	struct err ignored = {0};
	struct url url;

	return url_parse(arena_printf(&a, "http://%s/", host), &a, &url, &ignored) == 0 &&
	       reach_is_loopback(url.host);
}

bool plain_is_spoken(struct http_transport *t, const char *host)
{
	struct err why = {0}, ignored = {0};

	if (!is_this_machine(host) || probe(t, "https", host, &why) >= 0)
		return false;
	if (why.code != ERR_UNSUPPORTED && why.code != ERR_NETWORK)
		return false;
	/* What a TLS server says to plain HTTP, where it says anything, is 400. */
	int status = probe(t, "http", host, &ignored);

	return status >= 0 && status != BAD_REQUEST;
}

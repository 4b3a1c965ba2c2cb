/*
 * Any text as what a hostile server may put in a header: WWW-Authenticate, Location, Retry-After.
 */
#include <string.h>

#include "base/mem.h"
#include "base/net/url.h"
#include "builder/registry/challenge.h"
#include "builder/registry/retry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_challenge(const char *text)
{
	AUTO(arena) struct arena a = {0};
	struct challenge c;
	struct err err = {0};

	if (challenge_parse(text, &a, &c, &err) != 0)
		return;
	if (c.scheme == CHALLENGE_BEARER && c.realm == NULL)
		BUG("Bearer without realm: '%s'", text);
	if (c.scheme == CHALLENGE_NONE &&
	    (c.realm != NULL || c.service != NULL || c.scope != NULL || c.error != NULL))
		BUG("parameters of no scheme: '%s'", text);
}

static void check_location(const char *text)
{
	AUTO(arena) struct arena a = {0};
	struct url url;
	const char *resolved, *again;
	struct err err = {0};

	if (url_resolve("https://r.example/v2/app/blobs/uploads/?x=1", text, &a, &resolved, &err) !=
	    0)
		return;
	if (url_parse(resolved, &a, &url, &err) != 0)
		BUG("'%s' became '%s': %s", text, resolved, err.msg);
	if (url.port < 1 || url.port > 65535 || url.target[0] != '/' ||
	    strchr(url.host, '@') != NULL)
		BUG("'%s' is taken for host '%s', target '%s'", text, url.host, url.target);
	/* An absolute URL is its own resolution. */
	if (url_resolve("http://other.example/", resolved, &a, &again, &err) != 0 ||
	    strcmp(again, resolved) != 0)
		BUG("'%s' is not stable", resolved);
	(void)url_host_is_private(url.host);
}

static void check_retry_after(const char *text)
{
	int64_t delay = retry_delay_ms(3, text, 784111777000, 0.5);

	if (delay < 0 || delay > RETRY_CAP_MS)
		BUG("'%s' waits %lld ms", text, (long long)delay);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_strndup((const char *)data, size);

	check_challenge(text);
	check_location(text);
	check_retry_after(text);
	return 0;
}

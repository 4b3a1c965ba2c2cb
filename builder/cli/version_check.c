#include "builder/cli/version_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/net/http.h"
#include "base/net/http_trace.h"
#include "base/text.h"

/* Where releases live: the Makefile's RELEASE_URL. */
#ifndef SLIPWAY_RELEASE_URL
#define SLIPWAY_RELEASE_URL ""
#endif

enum { CHECK_MS = 10000, LATEST_MAX = 64, PARTS = 3 };

static int find_url(const char **ret_url, struct err *err)
{
	const char *named = getenv("SLIPWAY_RELEASES");
	const char *url = named != NULL ? named : SLIPWAY_RELEASE_URL;

	if (url[0] == '\0') {
		err_set(err, ERR_USAGE, "it is not known where releases live");
		return err_hint(err, "name the place in SLIPWAY_RELEASES, as in https://HOST/PATH");
	}
	*ret_url = url;
	return 0;
}

/* "1.22.333": three numbers of at most six digits. */
static bool parse_version(const char *text, long parts[PARTS])
{
	for (int i = 0; i < PARTS; i++) {
		size_t digits = strspn(text, "0123456789");

		if (digits == 0 || digits > 6)
			return false;
		parts[i] = strtol(text, NULL, 10);
		text += digits;
		if (*text != (i < PARTS - 1 ? '.' : '\0'))
			return false;
		text += i < PARTS - 1;
	}
	return true;
}

static int compare(const long a[PARTS], const long b[PARTS])
{
	for (int i = 0; i < PARTS; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

static int fetch(struct progress *progress, const char *url, struct http_response *resp,
                 struct err *err)
{
	const struct http_request req = {
		.method = "GET", .url = url, .timeout_ms = CHECK_MS, .response_max = LATEST_MAX};
	struct http_transport *transport;
	int status;

	if (http_curl_open(NULL, &transport, err) != 0)
		return -1;
	transport = http_trace(transport, progress);
	status = http_perform(transport, &req, resp, err);
	http_close(transport);
	if (status == 0 && resp->status != 200)
		return err_set(err, ERR_SERVER, "'%s': the server answered with status %d", url,
		               resp->status);
	return status != 0 ? err_wrap(err, "ask for the newest release") : 0;
}

int version_check(struct progress *progress, struct arena *a, struct version_check *ret,
                  struct err *err)
{
	AUTO(http_response) struct http_response resp = {0};
	long latest[PARTS], ours[PARTS];
	const char *base, *url;
	char *text;

	if (find_url(&base, err) != 0)
		return -1;
	url = arena_printf(a, "%s%slatest", base, base[strlen(base) - 1] == '/' ? "" : "/");
	if (fetch(progress, url, &resp, err) != 0)
		return -1;
	text = arena_strdup(a, strbuf_str(&resp.body));
	text[strcspn(text, "\n")] = '\0';
	if (!parse_version(text, latest) || !parse_version(SLIPWAY_VERSION, ours))
		return err_set(err, ERR_FORMAT, "'%s' does not hold a version, as 1.2.3 is one",
		               url);
	*ret = (struct version_check){text, compare(ours, latest) >= 0};
	return 0;
}

#include "base/net/url.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"

enum { URL_BYTES_MAX = 16 << 10 };

static bool clean(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text <= ' ' || *text == 0x7f || *text == '\\')
			return false;
	return true;
}

static int bad(const char *text, struct err *err)
{
	/* What stands before an '@' or behind a '?' may be a secret. */
	if (strchr(text, '@') != NULL)
		return err_set(err, ERR_FORMAT, "a URL with a user name in it, or not an http URL");
	return err_set(err, ERR_FORMAT, "'%.*s' is not an http URL",
	               (int)(strcspn(text, "?#") < 200 ? strcspn(text, "?#") : 200), text);
}

/* An absolute http(s) URL; libcurl knows more schemes, and any number of slashes behind them. */
static bool is_http(const char *text)
{
	size_t len = strcspn(text, ":");

	if ((len != 4 && len != 5) || strncasecmp(text, "https", len) != 0)
		return false;
	return strncmp(text + len, "://", 3) == 0 && text[len + 3] != '/';
}

static CURLU *new_url(void)
{
	CURLU *u = curl_url();

	if (u == NULL)
		mem_exhausted("libcurl");
	return u;
}

/* Puts text into u: a whole URL, or one relative to what u holds. */
static bool set_url(CURLU *u, const char *text)
{
	return strlen(text) <= URL_BYTES_MAX && clean(text) &&
	       curl_url_set(u, CURLUPART_URL, text, CURLU_DISALLOW_USER) == CURLUE_OK;
}

/* NULL for a part that the URL does not have; the port may be the scheme's. */
static const char *part(CURLU *u, CURLUPart what, struct arena *a)
{
	char *text = NULL;
	const char *result = NULL;

	if (curl_url_get(u, what, &text, what == CURLUPART_PORT ? CURLU_DEFAULT_PORT : 0) ==
	    CURLUE_OK)
		result = arena_strdup(a, text);
	curl_free(text);
	return result;
}

/* libcurl gives the zone of an IPv6 address apart: two zones are two hosts. */
static const char *host_part(CURLU *u, struct arena *a)
{
	const char *host = part(u, CURLUPART_HOST, a), *zone = part(u, CURLUPART_ZONEID, a);

	if (host == NULL || host[0] == '\0')
		return NULL;
	host = arena_lower(a, host, strlen(host));
	return zone == NULL ? host
	                    : arena_printf(a, "%.*s%%25%s]", (int)strlen(host) - 1, host, zone);
}

static bool take_apart(CURLU *from, struct arena *a, struct url *u)
{
	const char *port = part(from, CURLUPART_PORT, a), *path = part(from, CURLUPART_PATH, a);
	const char *query = part(from, CURLUPART_QUERY, a);
	int64_t number;

	u->scheme = part(from, CURLUPART_SCHEME, a);
	u->host = host_part(from, a);
	if (u->scheme == NULL || u->host == NULL || port == NULL || path == NULL ||
	    !text_int64(port, strlen(port), &number) || number < 1 || number > 65535)
		return false;
	u->port = (int)number;
	u->target = query == NULL ? path : arena_printf(a, "%s?%s", path, query);
	return true;
}

int url_parse(const char *text, struct arena *a, struct url *ret_url, struct err *err)
{
	struct url u = {0};
	CURLU *whole = new_url();
	bool good = is_http(text) && set_url(whole, text) && take_apart(whole, a, &u);

	curl_url_cleanup(whole);
	if (!good)
		return bad(text, err);
	*ret_url = u;
	return 0;
}

int url_resolve(const char *base, const char *location, struct arena *a, const char **ret_url,
                struct err *err)
{
	struct url check;
	const char *result = NULL;

	if (url_parse(base, a, &check, err) != 0)
		return -1;
	CURLU *u = new_url();

	if (set_url(u, base) && set_url(u, location))
		result = part(u, CURLUPART_URL, a);
	curl_url_cleanup(u);
	if (result == NULL)
		return bad(location, err);
	if (url_parse(result, a, &check, err) != 0)
		return -1;
	*ret_url = result;
	return 0;
}

bool url_same_origin(const struct url *a, const struct url *b)
{
	return strcmp(a->scheme, b->scheme) == 0 && strcmp(a->host, b->host) == 0 &&
	       a->port == b->port;
}

static bool private_v4(uint32_t ip)
{
	static const struct {
		uint32_t net, mask;
	} nets[] = {{0x7f000000, 0xff000000}, {0x0a000000, 0xff000000}, {0xac100000, 0xfff00000},
	            {0xc0a80000, 0xffff0000}, {0xa9fe0000, 0xffff0000}, {0x00000000, 0xff000000},
	            {0x64400000, 0xffc00000}};

	for (size_t i = 0; i < ARRAY_LEN(nets); i++)
		if ((ip & nets[i].mask) == nets[i].net)
			return true;
	return false;
}

bool url_host_is_private(const char *host)
{
	char text[64];
	struct in_addr v4;
	struct in6_addr v6;

	if (inet_pton(AF_INET, host, &v4) == 1)
		return private_v4(ntohl(v4.s_addr));
	if (host[0] != '[' || strcspn(host, "%]") > sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(host + 1, "%]"), host + 1);
	if (inet_pton(AF_INET6, text, &v6) != 1)
		return false;
	if (IN6_IS_ADDR_V4MAPPED(&v6))
		return private_v4((uint32_t)v6.s6_addr[12] << 24 | (uint32_t)v6.s6_addr[13] << 16 |
		                  (uint32_t)v6.s6_addr[14] << 8 | v6.s6_addr[15]);
	return IN6_IS_ADDR_LOOPBACK(&v6) || IN6_IS_ADDR_UNSPECIFIED(&v6) ||
	       IN6_IS_ADDR_LINKLOCAL(&v6) || (v6.s6_addr[0] & 0xfe) == 0xfc;
}

void url_encode(struct strbuf *sb, const char *text)
{
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    strchr("-._~", c) != NULL)
			strbuf_addc(sb, *text);
		else
			strbuf_addf(sb, "%%%02X", c);
	}
}

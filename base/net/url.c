#include "base/net/url.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

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

/* "host", "host:port", "[v6]:port" */
static bool parse_authority(const char *text, size_t len, struct arena *a, struct url *u)
{
	const char *end = text + len;
	const char *host_end = text[0] == '[' ? memchr(text, ']', len) : memchr(text, ':', len);
	int64_t port;

	if (text[0] == '[' && host_end == NULL)
		return false;
	host_end = host_end == NULL ? end : text[0] == '[' ? host_end + 1 : host_end;
	if (host_end == text || memchr(text, '@', len) != NULL)
		return false;
	u->host = arena_lower(a, text, (size_t)(host_end - text));
	if (host_end == end)
		return true;
	if (*host_end != ':' || !text_int64(host_end + 1, (size_t)(end - host_end - 1), &port) ||
	    port < 1 || port > 65535)
		return false;
	u->port = (int)port;
	return true;
}

int url_parse(const char *text, struct arena *a, struct url *ret_url, struct err *err)
{
	struct url u = {0};
	const char *rest;

	if (strlen(text) > URL_BYTES_MAX || !clean(text))
		return bad(text, err);
	if (strncasecmp(text, "https://", 8) == 0) {
		u.scheme = "https";
		u.port = 443;
		rest = text + 8;
	} else if (strncasecmp(text, "http://", 7) == 0) {
		u.scheme = "http";
		u.port = 80;
		rest = text + 7;
	} else {
		return bad(text, err);
	}
	size_t len = strcspn(rest, "/?#");

	if (!parse_authority(rest, len, a, &u))
		return bad(text, err);
	const char *target = arena_strndup(a, rest + len, strcspn(rest + len, "#"));

	u.target = target[0] == '/' ? target : arena_printf(a, "/%s", target);
	*ret_url = u;
	return 0;
}

static const char *url_origin(const struct url *u, struct arena *a)
{
	return arena_printf(a, "%s://%s:%d", u->scheme, u->host, u->port);
}

int url_resolve(const char *base, const char *location, struct arena *a, const char **ret_url,
                struct err *err)
{
	struct url b = {0}, check;
	const char *result;

	if (url_parse(base, a, &b, err) != 0)
		return -1;
	if (b.target == NULL)
		BUG("a URL without target");
	size_t path_len = strcspn(b.target, "?");

	if (strstr(location, "://") != NULL &&
	    strcspn(location, ":/?#") == (size_t)(strstr(location, "://") - location)) {
		result = arena_strdup(a, location);
	} else if (strncmp(location, "//", 2) == 0) {
		result = arena_printf(a, "%s:%s", b.scheme, location);
	} else if (location[0] == '/') {
		result = arena_printf(a, "%s%s", url_origin(&b, a), location);
	} else if (location[0] == '?') {
		result = arena_printf(a, "%s%.*s%s", url_origin(&b, a), (int)path_len, b.target,
		                      location);
	} else {
		while (path_len > 0 && b.target[path_len - 1] != '/')
			path_len--;
		result = arena_printf(a, "%s%.*s%s", url_origin(&b, a), (int)path_len, b.target,
		                      location);
	}
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
	size_t len = strlen(host);

	if (inet_pton(AF_INET, host, &v4) == 1)
		return private_v4(ntohl(v4.s_addr));
	if (host[0] != '[' || len < 4 || len > sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)len - 2, host + 1);
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

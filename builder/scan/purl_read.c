#include "builder/scan/purl_read.h"

#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"

static int hex_value(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c != '\0' ? strchr(digits, c | 0x20) : NULL;

	return at != NULL ? (int)(at - digits) : -1;
}

/* Percent-decoded; NULL when it is malformed or not printable afterwards. */
static const char *decoded(struct arena *a, const char *text, size_t len)
{
	char *out = arena_alloc(a, len + 1);
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		int high, low;

		if (text[i] != '%') {
			out[n++] = text[i];
			continue;
		}
		high = i + 2 < len ? hex_value(text[i + 1]) : -1;
		low = i + 2 < len ? hex_value(text[i + 2]) : -1;
		if (high < 0 || low < 0)
			return NULL;
		out[n++] = (char)(high * 16 + low);
		i += 2;
	}
	if (memchr(out, '\0', n) != NULL)
		return NULL;
	AUTO_FREE char *plain = mem_strndup(out, n);

	text_make_printable(plain);
	return strcmp(plain, out) == 0 ? out : NULL;
}

static bool read_qualifiers(const char *at, const char *end, struct arena *a, struct strmap *map)
{
	while (at < end) {
		const char *stop = memchr(at, '&', (size_t)(end - at));

		stop = stop != NULL ? stop : end;
		const char *equal = memchr(at, '=', (size_t)(stop - at));
		const char *value =
			equal != NULL ? decoded(a, equal + 1, (size_t)(stop - equal - 1)) : NULL;

		if (value == NULL)
			return false;
		strmap_set(map, a, arena_lower(a, at, (size_t)(equal - at)), value);
		at = stop + (stop < end);
	}
	return true;
}

/* The last '/' of [at, end), or NULL. */
static const char *last_slash(const char *at, const char *end)
{
	while (end > at && end[-1] != '/')
		end--;
	return end > at ? end - 1 : NULL;
}

/* TYPE/VENDOR.../NAME, without what stands behind; a name may hold no '/' and a version may. */
static bool read_path(const char *at, const char *end, struct arena *a, struct purl *p)
{
	const char *type_end = memchr(at, '/', (size_t)(end - at)), *slash, *version;

	if (type_end == NULL || type_end == at)
		return false;
	p->type = arena_lower(a, at, (size_t)(type_end - at));
	at = type_end + 1;
	while (at < end && *at == '/')
		at++;
	version = memchr(at, '@', (size_t)(end - at));
	/* npm's vendors begin with '@', if nobody encoded it. */
	if (version == at)
		version = memchr(at + 1, '@', (size_t)(end - at - 1));
	p->version = version != NULL ? decoded(a, version + 1, (size_t)(end - version - 1)) : "";
	end = version != NULL ? version : end;
	slash = last_slash(at, end);
	p->vendor = slash != NULL ? decoded(a, at, (size_t)(slash - at)) : "";
	at = slash != NULL ? slash + 1 : at;
	p->name = decoded(a, at, (size_t)(end - at));
	return p->version != NULL && p->vendor != NULL && p->name != NULL && p->name[0] != '\0';
}

bool purl_read(const char *text, struct arena *a, struct purl *ret_purl)
{
	struct purl p = {0};
	const char *at = text + strlen("pkg:"), *end, *query, *hash;

	if (!text_has_prefix(text, "pkg:") || strlen(text) > PURL_BYTES_MAX)
		return false;
	while (*at == '/')
		at++;
	hash = strchr(at, '#');
	end = hash != NULL ? hash : at + strlen(at);
	query = memchr(at, '?', (size_t)(end - at));
	if (!read_path(at, query != NULL ? query : end, a, &p) ||
	    (query != NULL && !read_qualifiers(query + 1, end, a, &p.qualifiers)))
		return false;
	*ret_purl = p;
	return true;
}

bool purl_means(const struct purl *pattern, const struct purl *it)
{
	if (strcmp(pattern->type, it->type) != 0 || strcmp(pattern->vendor, it->vendor) != 0 ||
	    strcmp(pattern->name, it->name) != 0 ||
	    (pattern->version[0] != '\0' && strcmp(pattern->version, it->version) != 0))
		return false;
	for (size_t i = 0; i < pattern->qualifiers.n; i++) {
		const char *value = strmap_get(&it->qualifiers, pattern->qualifiers.at[i].key);

		if (value == NULL || strcmp(value, pattern->qualifiers.at[i].value) != 0)
			return false;
	}
	return true;
}

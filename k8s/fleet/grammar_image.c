/*
 * References to images, as a kubelet and its runtime take them (distribution/reference):
 * [HOST[:PORT]/]NAME[:TAG][@DIGEST].
 */
#include <string.h>

#include "k8s/fleet/grammar.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz0123456789"
#define WORD  LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"

enum { NAME_MAX_BYTES = 255 /* runtimes count the host too */, TAG_MAX_BYTES = 128 };

/* A part of a text. */
struct ref_part {
	const char *at;
	size_t len;
};

static size_t span(struct ref_part p, const char *set)
{
	size_t len = strspn(p.at, set);

	return len < p.len ? len : p.len;
}

/* Up to the first `c`, or all. */
static struct ref_part before(struct ref_part p, char c)
{
	const char *end = memchr(p.at, c, p.len);

	return (struct ref_part){p.at, end != NULL ? (size_t)(end - p.at) : p.len};
}

static bool is_tag(struct ref_part p)
{
	return p.len > 0 && p.len <= TAG_MAX_BYTES && span(p, WORD ".-") == p.len &&
	       strchr(".-", p.at[0]) == NULL;
}

static bool is_host(struct ref_part p)
{
	return span(p, WORD ".:-[]") == p.len && strchr(".:-", p.at[0]) == NULL;
}

static bool looks_like_host(struct ref_part p)
{
	return memchr(p.at, '.', p.len) != NULL || memchr(p.at, ':', p.len) != NULL ||
	       p.at[0] == '[' || (p.len == 9 && memcmp(p.at, "localhost", 9) == 0);
}

/* A word of a path: separators stand between letters and digits alone. */
static bool is_word(struct ref_part p)
{
	return p.len > 0 && span(p, LOWER "._-") == p.len && strchr("._-", p.at[0]) == NULL &&
	       strchr("._-", p.at[p.len - 1]) == NULL;
}

static bool is_path(struct ref_part p)
{
	while (p.len > 0) {
		struct ref_part word = before(p, '/');

		if (!is_word(word) || word.len + 1 == p.len)
			return false;
		p.at += word.len + 1;
		p.len -= word.len < p.len ? word.len + 1 : p.len;
	}
	return true;
}

static bool is_name(struct ref_part p)
{
	struct ref_part host = before(p, '/');

	if (host.len == p.len || !looks_like_host(host))
		return p.len > 0 && is_path(p);
	return is_host(host) && host.len + 1 < p.len &&
	       is_path((struct ref_part){host.at + host.len + 1, p.len - host.len - 1});
}

/* Cuts ":TAG" off, where the colon stands behind the last slash. */
static bool cut_tag(struct ref_part *p)
{
	size_t colon = p->len;

	while (colon > 0 && p->at[colon - 1] != ':' && p->at[colon - 1] != '/')
		colon--;
	if (colon == 0 || p->at[colon - 1] == '/')
		return true;
	if (!is_tag((struct ref_part){p->at + colon, p->len - colon}))
		return false;
	p->len = colon - 1;
	return true;
}

const char *check_image_ref(const char *text, const char **ret_hint)
{
	static const char wrong[] = "is not an image reference";
	struct ref_part name = before((struct ref_part){text, strlen(text)}, '@');

	if (text[name.len] == '@' && check_digest(text + name.len + 1, ret_hint) != NULL)
		return wrong;
	*ret_hint = "write HOST/NAME:TAG or HOST/NAME@sha256:...";
	if (!cut_tag(&name))
		return wrong;
	if (name.len > NAME_MAX_BYTES) {
		*ret_hint = "HOST/NAME has at most 255 characters";
		return wrong;
	}
	if (!is_name(name)) {
		if (span(name, WORD "./:-[]") == name.len && span(name, LOWER "._/:-[]") < name.len)
			*ret_hint =
				"NAME is lower case: write HOST/NAME:TAG or HOST/NAME@sha256:...";
		return wrong;
	}
	return NULL;
}

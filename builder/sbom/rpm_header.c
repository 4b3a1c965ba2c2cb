#include "builder/sbom/rpm_header.h"

#include <string.h>

enum { TAG_BYTES = 16, TYPE_INT32 = 4, TYPE_STRING = 6, TYPE_STRING_ARRAY = 8, TYPE_I18N = 9 };

/* Where the values of a tag are. */
struct rpm_values {
	uint32_t type, count;
	const uint8_t *at;
	size_t room; /* to the end of the store */
};

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

bool rpm_header_open(struct rpm_header *h, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	size_t tags, store;

	if (len < 8)
		return false;
	tags = be32(p);
	store = be32(p + 4);
	if (tags == 0 || tags > RPM_TAGS_MAX || store > RPM_STORE_MAX ||
	    len != 8 + tags * TAG_BYTES + store)
		return false;
	*h = (struct rpm_header){p + 8, tags, p + 8 + tags * TAG_BYTES, store};
	return true;
}

static bool find(const struct rpm_header *h, enum rpm_tag tag, struct rpm_values *ret)
{
	for (size_t i = 0; i < h->n_tags; i++) {
		const uint8_t *t = h->tags + i * TAG_BYTES;
		size_t offset = be32(t + 8);

		if (be32(t) != (uint32_t)tag || offset > h->store_len)
			continue;
		*ret = (struct rpm_values){be32(t + 4), be32(t + 12), h->store + offset,
		                           h->store_len - offset};
		return true;
	}
	return false;
}

struct rpm_strings rpm_strings(const struct rpm_header *h, enum rpm_tag tag)
{
	struct rpm_values v;

	if (!find(h, tag, &v) ||
	    (v.type != TYPE_STRING && v.type != TYPE_STRING_ARRAY && v.type != TYPE_I18N))
		return (struct rpm_strings){0};
	return (struct rpm_strings){(const char *)v.at, (const char *)v.at + v.room, v.count};
}

const char *rpm_next(struct rpm_strings *s)
{
	const char *text = s->at, *nul;

	if (s->left == 0 || s->at == s->end)
		return NULL;
	nul = memchr(text, '\0', (size_t)(s->end - text));
	s->left = nul != NULL ? s->left - 1 : 0;
	s->at = nul != NULL ? nul + 1 : s->end;
	return nul != NULL ? text : NULL;
}

const char *rpm_string(const struct rpm_header *h, enum rpm_tag tag)
{
	struct rpm_strings s = rpm_strings(h, tag);

	return rpm_next(&s);
}

bool rpm_number(const struct rpm_header *h, enum rpm_tag tag, size_t i, uint32_t *ret)
{
	struct rpm_values v;

	if (!find(h, tag, &v) || v.type != TYPE_INT32 || i >= v.count || i >= v.room / 4)
		return false;
	*ret = be32(v.at + i * 4);
	return true;
}

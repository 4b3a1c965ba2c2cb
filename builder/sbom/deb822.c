#include "builder/sbom/deb822.h"

#include <string.h>
#include <strings.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool read_field(const char *line, const char *end, struct deb822_field *f)
{
	const char *colon = memchr(line, ':', (size_t)(end - line)), *value;

	if (colon == NULL || colon == line || is_blank(line[0]))
		return false;
	value = colon + 1;
	while (value < end && is_blank(*value))
		value++;
	while (end > value && is_blank(end[-1]))
		end--;
	*f = (struct deb822_field){line, value, (size_t)(colon - line), (size_t)(end - value)};
	return true;
}

enum deb822_event deb822_next(struct deb822 *d, struct deb822_field *ret_field)
{
	while (d->at < d->end) {
		const char *line = d->at, *end = memchr(line, '\n', (size_t)(d->end - line));

		end = end != NULL ? end : d->end;
		d->at = end < d->end ? end + 1 : end;
		if (end == line || (end == line + 1 && *line == '\r'))
			return DEB822_PARAGRAPH;
		if (read_field(line, end, ret_field))
			return DEB822_FIELD;
	}
	return DEB822_END;
}

bool deb822_is(const struct deb822_field *f, const char *key)
{
	return strlen(key) == f->key_len && strncasecmp(f->key, key, f->key_len) == 0;
}

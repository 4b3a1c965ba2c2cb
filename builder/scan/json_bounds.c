#include "builder/scan/json_bounds.h"

enum { BYTES_PER_VALUE = 8, VALUES_FREE = 100000 };

/* No value is without one of these before it, or is the first. */
static size_t values_at_most(const char *text, size_t len)
{
	size_t n = 1;

	for (size_t i = 0; i < len; i++)
		n += text[i] == ',' || text[i] == '[' || text[i] == '{';
	return n;
}

int json_bounds_parse(const char *what, const char *text, size_t len, struct jsonr *ret,
                      struct err *err)
{
	if (len > VALUES_FREE && values_at_most(text, len) > VALUES_FREE + len / BYTES_PER_VALUE)
		return err_set(err, ERR_LIMIT, "%s: it has too many values for its size", what);
	return jsonr_parse(what, text, len, ret, err);
}

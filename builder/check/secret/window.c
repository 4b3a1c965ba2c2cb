#include "builder/check/secret/window.h"

#include <string.h>

static bool is_between(unsigned char c, unsigned char low, unsigned char high)
{
	return c >= low && c <= high;
}

bool secret_in_class(unsigned char c, unsigned classes)
{
	return ((classes & CLASS_UPPER) != 0 && is_between(c, 'A', 'Z')) ||
	       ((classes & CLASS_LOWER) != 0 && is_between(c, 'a', 'z')) ||
	       ((classes & (CLASS_DIGIT | CLASS_HEX)) != 0 && is_between(c, '0', '9')) ||
	       ((classes & CLASS_HEX) != 0 && is_between(c, 'a', 'f')) ||
	       ((classes & CLASS_UNDERSCORE) != 0 && c == '_') ||
	       ((classes & CLASS_DASH) != 0 && c == '-') ||
	       ((classes & CLASS_DOT) != 0 && c == '.') ||
	       ((classes & CLASS_PLUS_SLASH) != 0 && (c == '+' || c == '/')) ||
	       ((classes & CLASS_EQUALS) != 0 && c == '=');
}

bool window_starts(const struct secret_window *w, const unsigned char *p, const char *text)
{
	size_t n = strlen(text);

	return p <= w->end && (size_t)(w->end - p) >= n && memcmp(p, text, n) == 0;
}

size_t window_run(const struct secret_window *w, const unsigned char *p, unsigned classes,
                  size_t max)
{
	size_t n = 0;

	while (p + n < w->end && n <= max && secret_in_class(p[n], classes))
		n++;
	return n;
}

bool window_word_begins(const struct secret_window *w, const unsigned char *p)
{
	return p == w->start || !secret_in_class(p[-1], CLASS_WORD);
}

const unsigned char *window_skip_assignment(const struct secret_window *w, const unsigned char *p)
{
	for (size_t i = 0; i < 8 && p < w->end && *p != '\0' && strchr(" \t\"'=:>\\", *p) != NULL;
	     i++)
		p++;
	return p;
}

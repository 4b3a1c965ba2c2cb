#include "builder/check/secret/window.h"

#include <stdint.h>
#include <string.h>

#define TWO(c, set)     [c] = (set), [(c) + 1] = (set)
#define FOUR(c, set)    TWO(c, set), TWO((c) + 2, set)
#define EIGHT(c, set)   FOUR(c, set), FOUR((c) + 4, set)
#define TEN(c, set)     EIGHT(c, set), TWO((c) + 8, set)
#define SIX(c, set)     FOUR(c, set), TWO((c) + 4, set)
#define TWENTY(c, set)  TEN(c, set), TEN((c) + 10, set)
#define LETTERS(c, set) TWENTY(c, set), SIX((c) + 20, set)

static const uint16_t classes_of[256] = {
	LETTERS('A', CLASS_UPPER), SIX('a', CLASS_LOWER | CLASS_HEX),
	TWENTY('g', CLASS_LOWER),  TEN('0', CLASS_DIGIT | CLASS_HEX),
	['_'] = CLASS_UNDERSCORE,  ['-'] = CLASS_DASH,
	['.'] = CLASS_DOT,         ['+'] = CLASS_PLUS_SLASH,
	['/'] = CLASS_PLUS_SLASH,  ['='] = CLASS_EQUALS,
};

bool secret_in_class(unsigned char c, unsigned classes)
{
	return (classes_of[c] & classes) != 0;
}

bool window_starts(const struct secret_window *w, const unsigned char *p, const char *text)
{
	size_t n = strlen(text);

	return p <= w->end && (size_t)(w->end - p) >= n && memcmp(p, text, n) == 0;
}

size_t window_run(const struct secret_window *w, const unsigned char *p, unsigned classes,
                  size_t max)
{
	struct window_run_memo none = {0}, *known = &none;
	const unsigned char *from = p, *q = p;

	if (w->memo != NULL)
		known = &w->memo->runs[(classes ^ classes >> 4) % WINDOW_RUNS];
	if (known->classes == classes && known->from <= p && p < known->to) {
		from = known->from;
		q = known->to;
	}
	while (q < w->end && (size_t)(q - p) <= max && secret_in_class(*q, classes))
		q++;
	*known = (struct window_run_memo){classes, from, q};
	return (size_t)(q - p) <= max ? (size_t)(q - p) : max + 1;
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

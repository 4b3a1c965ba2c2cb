#include "base/text.h"

#include <string.h>

size_t text_utf8_length(const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	static const struct {
		unsigned char from, to, second_from, second_to;
		unsigned char len;
	} rows[] = {
		{0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2},
		{0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
		{0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (s[0] < rows[i].from || s[0] > rows[i].to)
			continue;
		if (rows[i].len == 1)
			return 1;
		if (len < rows[i].len || s[1] < rows[i].second_from || s[1] > rows[i].second_to)
			return 0;
		for (size_t k = 2; k < rows[i].len; k++)
			if ((s[k] & 0xc0) != 0x80)
				return 0;
		return rows[i].len;
	}
	return 0;
}

bool text_is_utf8(const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t n = text_utf8_length(text + i, len - i);

		if (n == 0)
			return false;
		i += n;
	}
	return true;
}

uint32_t text_code_point(const char *text, size_t len)
{
	static const unsigned char lead[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t c = (unsigned char)text[0] & lead[len];

	for (size_t i = 1; i < len; i++)
		c = c << 6 | ((unsigned char)text[i] & 0x3f);
	return c;
}

bool text_is_control(const char *text, size_t len)
{
	uint32_t c = text_code_point(text, len);

	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 ||
	       (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

size_t text_filter(char *text, size_t len, const char *allowed)
{
	size_t to = 0;

	for (size_t i = 0; i < len;) {
		size_t n = text_utf8_length(text + i, len - i);
		bool shown = n != 0 && (!text_is_control(text + i, n) ||
		                        (text[i] != '\0' && strchr(allowed, text[i]) != NULL));

		n = n != 0 ? n : 1;
		if (shown)
			memmove(text + to, text + i, n);
		else
			text[to] = '?';
		to += shown ? n : 1;
		i += n;
	}
	return to;
}

void text_make_printable(char *text)
{
	text[text_filter(text, strlen(text), "")] = '\0';
}

void text_position(const char *text, size_t offset, unsigned *ret_line, unsigned *ret_column)
{
	*ret_line = 1;
	*ret_column = 1;
	for (size_t i = 0; i < offset; i++) {
		(*ret_column)++;
		if (text[i] == '\n') {
			(*ret_line)++;
			*ret_column = 1;
		}
	}
}

int text_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool text_has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool text_has_suffix(const char *text, const char *suffix)
{
	size_t len = strlen(text), n = strlen(suffix);

	return len >= n && memcmp(text + len - n, suffix, n) == 0;
}

enum { DISTANCE_MAX = 64 };

unsigned text_distance(const char *a, const char *b, unsigned limit)
{
	size_t n = strlen(a), m = strlen(b);
	unsigned row[DISTANCE_MAX + 1];

	if (n > DISTANCE_MAX || m > DISTANCE_MAX)
		return limit + 1;
	for (size_t j = 0; j <= m; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned change = diagonal + (a[i - 1] != b[j - 1]);
			unsigned best = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;

			diagonal = row[j];
			row[j] = change < best ? change : best;
		}
	}
	return row[m] > limit ? limit + 1 : row[m];
}

const char *text_nearest(const char *word, const char *const *candidates, size_t n)
{
	unsigned limit = (unsigned)(strlen(word) / 3 + 1), best = limit + 1;
	const char *nearest = NULL;

	for (size_t i = 0; i < n; i++) {
		unsigned d = text_distance(word, candidates[i], limit);

		if (d < best && d < strlen(candidates[i])) {
			best = d;
			nearest = candidates[i];
		}
	}
	return nearest;
}

/* "[a-z]" at *p against c; moves *p behind the ']'. A class without ']' matches '[' itself. */
static bool match_class(const char **p, char c)
{
	const char *s = *p + 1;
	bool negate = *s == '!' || *s == '^', hit = false;

	s += negate;
	for (bool first = true; *s != '\0' && (*s != ']' || first); first = false) {
		char from = *s, to = from;

		if (s[1] == '-' && s[2] != ']' && s[2] != '\0') {
			to = s[2];
			s += 2;
		}
		hit = hit || (from <= c && c <= to);
		s++;
	}
	if (*s != ']') {
		(*p)++;
		return c == '[';
	}
	*p = s + 1;
	return c != '/' && hit != negate;
}

/* A match on its way: where pattern and text stand, and where each kind of star may take more. */
struct glob {
	const char *p, *s;
	const char *star, *star_s; /* behind the latest `*`, and how far it has eaten */
	const char *deep, *deep_s; /* the same for the latest `**` */
};

/* Takes a star at the pattern's head; false when there is none. */
static bool take_star(struct glob *g)
{
	if (g->p[0] != '*')
		return false;
	if (g->p[1] == '*' && (g->p[2] == '/' || g->p[2] == '\0')) {
		g->p += g->p[2] == '/' ? 3 : 2;
		g->deep = g->p;
		g->deep_s = g->s;
		g->star = NULL;
	} else {
		g->star = ++g->p;
		g->star_s = g->s;
	}
	return true;
}

/* Takes one byte of the text that the pattern's head matches. */
static bool take_byte(struct glob *g)
{
	const char *next = g->p + 1;
	bool hit;

	if (*g->s == '\0' || *g->p == '\0')
		return false;
	if (*g->p == '[') {
		next = g->p;
		hit = match_class(&next, *g->s);
	} else {
		hit = *g->p == *g->s || (*g->p == '?' && *g->s != '/');
	}
	if (hit) {
		g->p = next;
		g->s++;
	}
	return hit;
}

/* After a mismatch: the latest `*` eats one byte more (never a '/'), else the latest `**` one
 * segment more. */
static bool back_up(struct glob *g)
{
	if (g->star != NULL && *g->star_s != '\0' && *g->star_s != '/') {
		g->p = g->star;
		g->s = ++g->star_s;
		return true;
	}
	if (g->deep == NULL || *g->deep_s == '\0')
		return false;
	while (*g->deep_s != '\0' && *g->deep_s != '/' && *g->deep != '\0')
		g->deep_s++;
	g->deep_s += *g->deep_s != '\0';
	g->p = g->deep;
	g->s = g->deep_s;
	g->star = NULL;
	return true;
}

/* With one remembered star of each kind the time is bounded by pattern times text. */
static bool glob_path(const char *pattern, const char *path)
{
	struct glob g = {.p = pattern, .s = path};

	while (*g.p != '\0' || *g.s != '\0')
		if (!take_star(&g) && !take_byte(&g) && !back_up(&g))
			return false;
	return true;
}

bool text_glob(const char *pattern, const char *path)
{
	if (strchr(pattern, '/') == NULL) {
		const char *slash = strrchr(path, '/');

		return glob_path(pattern, slash != NULL ? slash + 1 : path);
	}
	return glob_path(pattern, path);
}

char *text_bytes(int64_t bytes, char out[TEXT_BYTES_MAX])
{
	static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
	double value = (double)bytes;
	size_t unit = 0;

	if (bytes < 1000 && bytes > -1000) {
		snprintf(out, TEXT_BYTES_MAX, "%d B", (int)bytes);
		return out;
	}
	value /= 1000;
	while ((value >= 999.95 || value <= -999.95) && unit < 5) {
		value /= 1000;
		unit++;
	}
	snprintf(out, TEXT_BYTES_MAX, "%.1f %s", value, units[unit]);
	return out;
}

bool text_int64(const char *text, size_t len, int64_t *ret_value)
{
	int64_t value = 0;
	size_t i = len > 0 && text[0] == '-';

	if (i == len)
		return false;
	for (; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		int digit = text[0] == '-' ? -(text[i] - '0') : text[i] - '0';

		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	}
	*ret_value = value;
	return true;
}

/* PEP 440: appendix B has the pattern, "Summary of permitted suffixes and ordering" the order. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "builder/scan/version.h"

/* Where a part is missing, its place in the order says so. */
enum { BEFORE_ALL = -1, AFTER_ALL = 100 };

struct version_mark {
	int kind; /* BEFORE_ALL, a rank, AFTER_ALL */
	uint64_t number;
};

struct version_python {
	uint64_t epoch;
	const char *release; /* "1.2.3", the rest behind it */
	struct version_mark pre, post, dev;
	const char *local; /* behind '+'; NULL: none */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A number of more digits than fit is the greatest. */
static uint64_t read_number(const char **at)
{
	uint64_t n = 0;

	for (; is_digit(**at); (*at)++)
		n = n > (UINT64_MAX - 9) / 10 ? UINT64_MAX : n * 10 + (uint64_t)(**at - '0');
	return n;
}

static void skip_separator(const char **at)
{
	*at += **at == '.' || **at == '-' || **at == '_';
}

struct version_suffix {
	const char *word; /* longer ones before their beginnings */
	int rank;
};

/* [SEPARATOR]WORD[[SEPARATOR]NUMBER]; *at stays where there is none. */
static bool read_suffix(const char **at, const struct version_suffix *words, size_t n,
                        struct version_mark *ret)
{
	const char *p = *at;

	skip_separator(&p);
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(words[i].word);

		if (strncasecmp(p, words[i].word, len) != 0)
			continue;
		p += len;
		const char *number = p;

		skip_separator(&number);
		p = is_digit(*number) ? number : p;
		*ret = (struct version_mark){words[i].rank, read_number(&p)};
		*at = p;
		return true;
	}
	return false;
}

/* "-1" is "post1". */
static void read_post(const char **at, struct version_mark *ret)
{
	static const struct version_suffix words[] = {{"post", 0}, {"rev", 0}, {"r", 0}};

	if (**at == '-' && is_digit((*at)[1])) {
		(*at)++;
		*ret = (struct version_mark){0, read_number(at)};
		return;
	}
	(void)read_suffix(at, words, ARRAY_LEN(words), ret);
}

static bool parse(const char *text, struct version_python *p)
{
	static const struct version_suffix pre[] = {{"alpha", 0},   {"a", 0},  {"beta", 1},
	                                            {"b", 1},       {"rc", 2}, {"c", 2},
	                                            {"preview", 2}, {"pre", 2}};
	static const struct version_suffix dev[] = {{"dev", 0}};
	const char *at = text + (*text == 'v' || *text == 'V'), *start = at;

	*p = (struct version_python){
		.pre = {AFTER_ALL, 0}, .post = {BEFORE_ALL, 0}, .dev = {AFTER_ALL, 0}};
	p->epoch = read_number(&at);
	if (*at == '!')
		at++;
	else
		p->epoch = 0, at = start;
	p->release = at;
	if (!is_digit(*at))
		return false;
	while (is_digit(*at) || (*at == '.' && is_digit(at[1])))
		at++;
	bool has_pre = read_suffix(&at, pre, ARRAY_LEN(pre), &p->pre);

	read_post(&at, &p->post);
	if (read_suffix(&at, dev, ARRAY_LEN(dev), &p->dev) && !has_pre &&
	    p->post.kind == BEFORE_ALL)
		p->pre.kind = BEFORE_ALL;
	if (*at == '+') {
		p->local = at + 1;
		at += strlen(at);
	}
	return *at == '\0';
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* What is shorter ends in zeros. */
static int compare_releases(const char *a, const char *b)
{
	int order = 0;

	while (order == 0 && (is_digit(*a) || is_digit(*b))) {
		uint64_t left = is_digit(*a) ? read_number(&a) : 0;
		uint64_t right = is_digit(*b) ? read_number(&b) : 0;

		order = compare_numbers(left, right);
		a += *a == '.' && is_digit(a[1]);
		b += *b == '.' && is_digit(b[1]);
	}
	return order;
}

static int compare_part(const struct version_mark *a, const struct version_mark *b)
{
	int order = (a->kind > b->kind) - (a->kind < b->kind);

	return order != 0 ? order : compare_numbers(a->number, b->number);
}

static size_t segment(const char *at)
{
	return strcspn(at, ".-_");
}

static bool is_number(const char *at, size_t n)
{
	return n > 0 && strspn(at, "0123456789") >= n;
}

/* Segments: words before numbers, and what has fewer of them first. */
static int compare_locals(const char *a, const char *b)
{
	int order = 0;

	if (a == NULL || b == NULL)
		return (a != NULL) - (b != NULL);
	while (order == 0 && *a != '\0' && *b != '\0') {
		size_t n = segment(a), m = segment(b);
		bool left = is_number(a, n), right = is_number(b, m);

		if (left && right) {
			const char *p = a, *q = b;
			uint64_t first = read_number(&p);

			order = compare_numbers(first, read_number(&q));
		} else if (left != right) {
			order = left ? 1 : -1;
		} else {
			order = strncasecmp(a, b, n < m ? n : m);
			order = order != 0 ? order : (n > m) - (n < m);
		}
		a += n + (a[n] != '\0');
		b += m + (b[m] != '\0');
	}
	return order != 0 ? order : (*a != '\0') - (*b != '\0');
}

static int sign(int order)
{
	return (order > 0) - (order < 0);
}

int version_pypi(const char *a, const char *b)
{
	struct version_python left, right;
	bool first = parse(a, &left), second = parse(b, &right);
	int order;

	if (!first || !second)
		return first != second ? (first ? 1 : -1) : sign(strcasecmp(a, b));
	order = compare_numbers(left.epoch, right.epoch);
	order = order != 0 ? order : compare_releases(left.release, right.release);
	order = order != 0 ? order : compare_part(&left.pre, &right.pre);
	order = order != 0 ? order : compare_part(&left.post, &right.post);
	order = order != 0 ? order : compare_part(&left.dev, &right.dev);
	return sign(order != 0 ? order : compare_locals(left.local, right.local));
}

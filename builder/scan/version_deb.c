#include <string.h>

#include "builder/scan/version.h"

static int digit(char c)
{
	return c >= '0' && c <= '9';
}

/* '~' before the end of a part, the end before letters, letters before all others. */
static int rank(char c)
{
	if (c == '~')
		return -1;
	if (c == '\0' || digit(c))
		return 0;
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ? (unsigned char)c : (unsigned char)c + 256;
}

/* Numbers of any length: leading zeros say nothing, then the longer one is the greater. */
static int compare_numbers(const char **a, const char *a_end, const char **b, const char *b_end)
{
	int order = 0;
	size_t n = 0, m = 0;

	while (*a < a_end && **a == '0')
		(*a)++;
	while (*b < b_end && **b == '0')
		(*b)++;
	while (*a + n < a_end && digit((*a)[n]))
		n++;
	while (*b + m < b_end && digit((*b)[m]))
		m++;
	order = n == m ? memcmp(*a, *b, n) : n < m ? -1 : 1;
	*a += n;
	*b += m;
	return (order > 0) - (order < 0);
}

static int compare_part(const char *a, const char *a_end, const char *b, const char *b_end)
{
	int order = 0;

	while (order == 0 && (a < a_end || b < b_end)) {
		while (order == 0 && ((a < a_end && !digit(*a)) || (b < b_end && !digit(*b)))) {
			int left = rank(a < a_end ? *a : '\0'), right = rank(b < b_end ? *b : '\0');

			order = (left > right) - (left < right);
			a += a < a_end && !digit(*a);
			b += b < b_end && !digit(*b);
		}
		if (order == 0)
			order = compare_numbers(&a, a_end, &b, b_end);
	}
	return order;
}

/* A colon makes an epoch, and the last hyphen a revision. */
struct version_parts {
	const char *epoch, *upstream, *upstream_end, *revision, *end;
};

static struct version_parts split(const char *version)
{
	const char *colon = strchr(version, ':'), *upstream = colon != NULL ? colon + 1 : version;
	const char *hyphen = strrchr(upstream, '-'), *end = upstream + strlen(upstream);

	return (struct version_parts){.epoch = version,
	                              .upstream = upstream,
	                              .upstream_end = hyphen != NULL ? hyphen : end,
	                              .revision = hyphen != NULL ? hyphen + 1 : end,
	                              .end = end};
}

/* The end of the digits of the epoch; where there is none, its beginning. */
static const char *epoch_end(const struct version_parts *p)
{
	return p->upstream > p->epoch ? p->upstream - 1 : p->epoch;
}

int version_deb(const char *a, const char *b)
{
	struct version_parts left = split(a), right = split(b);
	int order = compare_part(left.epoch, epoch_end(&left), right.epoch, epoch_end(&right));

	if (order == 0)
		order = compare_part(left.upstream, left.upstream_end, right.upstream,
		                     right.upstream_end);
	return order != 0 ? order
	                  : compare_part(left.revision, left.end, right.revision, right.end);
}

#include <stdbool.h>
#include <string.h>

#include "builder/scan/version.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* What stands between segments says nothing, but for '~' and '^'. */
static const char *skip_separators(const char *at, const char *end)
{
	while (at < end && !is_digit(*at) && !is_letter(*at) && *at != '~' && *at != '^')
		at++;
	return at;
}

static size_t segment_length(const char *at, const char *end)
{
	bool (*is)(char c) = at < end && is_digit(*at) ? is_digit : is_letter;
	size_t n = 0;

	while (at + n < end && is(at[n]))
		n++;
	return n;
}

static int sign(int value)
{
	return (value > 0) - (value < 0);
}

static int compare_numbers(const char *a, size_t n, const char *b, size_t m)
{
	for (; n > 0 && *a == '0'; n--)
		a++;
	for (; m > 0 && *b == '0'; m--)
		b++;
	return n != m ? (n < m ? -1 : 1) : sign(memcmp(a, b, n));
}

static int compare_words(const char *a, size_t n, const char *b, size_t m)
{
	int order = memcmp(a, b, n < m ? n : m);

	return order != 0 ? sign(order) : (n > m) - (n < m);
}

/* Segments of the same kind; of different kinds the number is the newer one. */
static int compare_segments(const char **a, const char *a_end, const char **b, const char *b_end)
{
	size_t n = segment_length(*a, a_end), m = segment_length(*b, b_end);
	bool left = is_digit(**a), right = is_digit(**b);
	int order = left != right ? (left ? 1 : -1)
	            : left        ? compare_numbers(*a, n, *b, m)
	                          : compare_words(*a, n, *b, m);

	*a += n;
	*b += m;
	return order;
}

/* '~' is before the end, '^' behind it and before whatever else goes on. */
static int weight(const char *at, const char *end)
{
	return at == end ? 1 : *at == '~' ? 0 : *at == '^' ? 2 : 3;
}

static int compare_part(const char *a, const char *a_end, const char *b, const char *b_end)
{
	int order = 0;

	while (order == 0) {
		a = skip_separators(a, a_end);
		b = skip_separators(b, b_end);
		int left = weight(a, a_end), right = weight(b, b_end);

		if (left != right)
			return left < right ? -1 : 1;
		if (left == 1)
			return 0;
		if (left == 3)
			order = compare_segments(&a, a_end, &b, b_end);
		else
			a++, b++;
	}
	return order;
}

/* [EPOCH:]VERSION[-RELEASE] */
struct rpm_evr {
	const char *epoch, *epoch_end, *version, *version_end, *release, *end;
};

static struct rpm_evr split(const char *text)
{
	const char *colon = strchr(text, ':'), *version = colon != NULL ? colon + 1 : text;
	const char *hyphen = strchr(version, '-'), *end = text + strlen(text);

	return (struct rpm_evr){.epoch = text,
	                        .epoch_end = colon != NULL ? colon : text,
	                        .version = version,
	                        .version_end = hyphen != NULL ? hyphen : end,
	                        .release = hyphen != NULL ? hyphen + 1 : NULL,
	                        .end = end};
}

int version_rpm(const char *a, const char *b)
{
	struct rpm_evr left = split(a), right = split(b);
	int order = compare_numbers(left.epoch, (size_t)(left.epoch_end - left.epoch), right.epoch,
	                            (size_t)(right.epoch_end - right.epoch));

	if (order == 0)
		order = compare_part(left.version, left.version_end, right.version,
		                     right.version_end);
	if (order != 0)
		return order;
	if (left.release == NULL || right.release == NULL)
		return (left.release != NULL) - (right.release != NULL);
	return compare_part(left.release, left.end, right.release, right.end);
}

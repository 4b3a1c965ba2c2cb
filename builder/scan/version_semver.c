#include <stdbool.h>
#include <string.h>

#include "builder/scan/version.h"

/* Part of a version, up to any of `stops`; *at moves behind it and one stop. */
struct version_part {
	const char *text;
	size_t len;
};

static struct version_part next_part(const char **at, const char *stops)
{
	struct version_part part = {*at, strcspn(*at, stops)};

	*at += part.len + ((*at)[part.len] == '.');
	return part;
}

static bool is_number(const struct version_part *p)
{
	for (size_t i = 0; i < p->len; i++)
		if (p->text[i] < '0' || p->text[i] > '9')
			return false;
	return p->len > 0;
}

static int sign(int value)
{
	return (value > 0) - (value < 0);
}

/* Numbers of any length; one that is missing is 0. */
static int compare_numbers(struct version_part a, struct version_part b)
{
	while (a.len > 0 && a.text[0] == '0')
		a = (struct version_part){a.text + 1, a.len - 1};
	while (b.len > 0 && b.text[0] == '0')
		b = (struct version_part){b.text + 1, b.len - 1};
	return a.len != b.len ? (a.len < b.len ? -1 : 1) : sign(memcmp(a.text, b.text, a.len));
}

static int compare_texts(struct version_part a, struct version_part b)
{
	int order = memcmp(a.text, b.text, a.len < b.len ? a.len : b.len);

	return order != 0 ? sign(order) : (a.len > b.len) - (a.len < b.len);
}

/* Go's modules and tags have a 'v' before it. */
static const char *without_v(const char *version)
{
	return version + (version[0] == 'v' || version[0] == 'V');
}

/* Where the numbers end, if they are numbers with dots between them; NULL otherwise. */
static const char *end_of_core(const char *version)
{
	const char *at = version, *end = version + strcspn(version, "-+");

	do {
		struct version_part part = next_part(&at, ".-+");

		if (!is_number(&part))
			return NULL;
	} while (at < end);
	return at > version && at[-1] == '.' ? NULL : end;
}

static int compare_cores(const char *a, const char *a_end, const char *b, const char *b_end)
{
	int order = 0;

	while (order == 0 && (a < a_end || b < b_end)) {
		struct version_part left = {"", 0}, right = {"", 0};

		if (a < a_end)
			left = next_part(&a, ".-+");
		if (b < b_end)
			right = next_part(&b, ".-+");
		order = compare_numbers(left, right);
	}
	return order;
}

/* Item 11.4: numbers before texts, and fewer of them before more. */
static int compare_identifiers(struct version_part a, struct version_part b)
{
	bool left = is_number(&a), right = is_number(&b);

	if (left != right)
		return left ? -1 : 1;
	return left ? compare_numbers(a, b) : compare_texts(a, b);
}

/* From the hyphen on; without one it is a release, which is after all that lead to it. */
static int compare_pre_releases(const char *a, const char *b)
{
	int order = 0;

	if (*a != '-' || *b != '-')
		return (*a != '-') - (*b != '-');
	a++;
	b++;
	while (order == 0 && strchr("+", *a) == NULL && strchr("+", *b) == NULL)
		order = compare_identifiers(next_part(&a, ".+"), next_part(&b, ".+"));
	return order != 0 ? order : (strchr("+", *a) == NULL) - (strchr("+", *b) == NULL);
}

int version_semver(const char *a, const char *b)
{
	const char *left = without_v(a), *right = without_v(b);
	const char *left_end = end_of_core(left), *right_end = end_of_core(right);
	int order;

	if (left_end == NULL && right_end == NULL)
		return sign(strcmp(a, b));
	if (left_end == NULL || right_end == NULL)
		return left_end == NULL ? -1 : 1;
	order = compare_cores(left, left_end, right, right_end);
	return order != 0 ? order : compare_pre_releases(left_end, right_end);
}

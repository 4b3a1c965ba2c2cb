#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"
#include "builder/scan/version.h"

/* What a version is made of, in the order in which these parts may come; of two versions that are
 * equal so far, the one that goes on with the earlier kind is the newer one. */
enum apk_kind {
	APK_WRONG,
	APK_DIGITS, /* right behind the zeros of a NUMBER */
	APK_NUMBER,
	APK_LETTER,
	APK_SUFFIX,
	APK_SUFFIX_NUMBER,
	APK_REVISION,
	APK_END
};

struct apk_part {
	enum apk_kind kind;
	int64_t value;
};

/* The suffixes before a release, and those after one. */
static const struct {
	const char *name;
	int value;
} suffixes[] = {{"alpha", -4}, {"beta", -3}, {"pre", -2}, {"rc", -1}, {"cvs", 0},
                {"svn", 1},    {"git", 2},   {"hg", 3},   {"p", 4}};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct apk_part read_number(const char **at, enum apk_kind kind)
{
	struct apk_part part = {is_digit(**at) ? kind : APK_WRONG, 0};

	for (; is_digit(**at); (*at)++)
		if (part.value < INT64_MAX / 10 - 9)
			part.value = part.value * 10 + (**at - '0');
	return part;
}

static struct apk_part read_suffix(const char **at)
{
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		size_t n = strlen(suffixes[i].name);

		if (strncmp(*at, suffixes[i].name, n) != 0 || ((*at)[n] >= 'a' && (*at)[n] <= 'z'))
			continue;
		*at += n;
		return (struct apk_part){APK_SUFFIX, suffixes[i].value};
	}
	return (struct apk_part){APK_WRONG, 0};
}

/* Zeros that lead count for less the more they are, as behind a decimal point. */
static struct apk_part read_behind_dot(const char **at)
{
	size_t zeros = strspn(*at, "0");

	if (zeros == 0)
		return read_number(at, APK_NUMBER);
	*at += zeros;
	return (struct apk_part){APK_NUMBER, -(int64_t)zeros};
}

static struct apk_part read_revision(const char **at)
{
	if ((*at)[1] != 'r')
		return (struct apk_part){APK_WRONG, 0};
	*at += 2;
	return read_number(at, APK_REVISION);
}

/* The part after one of the kind `last`. */
static struct apk_part next_part(const char **at, enum apk_kind last)
{
	const char c = **at;

	if (c == '\0')
		return (struct apk_part){APK_END, 0};
	if (c == '-')
		return read_revision(at);
	if (is_digit(c) && last == APK_NUMBER)
		return read_number(at, APK_DIGITS);
	if (is_digit(c) && last == APK_LETTER)
		return read_number(at, APK_NUMBER);
	if (is_digit(c) && last == APK_SUFFIX)
		return read_number(at, APK_SUFFIX_NUMBER);
	if (c >= 'a' && c <= 'z' && last <= APK_NUMBER)
		return (struct apk_part){APK_LETTER, (unsigned char)*(*at)++};
	if (c == '.' && last <= APK_NUMBER) {
		(*at)++;
		return read_behind_dot(at);
	}
	if (c == '_' && last < APK_REVISION) {
		(*at)++;
		return read_suffix(at);
	}
	return (struct apk_part){APK_WRONG, 0};
}

static int by_kind(struct apk_part a, struct apk_part b)
{
	if (a.kind == APK_SUFFIX && a.value < 0)
		return -1;
	if (b.kind == APK_SUFFIX && b.value < 0)
		return 1;
	return a.kind < b.kind ? 1 : -1;
}

int version_apk(const char *a, const char *b)
{
	struct apk_part left = read_number(&a, APK_NUMBER), right = read_number(&b, APK_NUMBER);

	while (left.kind == right.kind) {
		if (left.value != right.value)
			return left.value < right.value ? -1 : 1;
		/* What follows a fault has no order but that of its bytes. */
		if (left.kind == APK_WRONG)
			return (strcmp(a, b) > 0) - (strcmp(a, b) < 0);
		if (left.kind == APK_END)
			return 0;
		left = next_part(&a, left.kind);
		right = next_part(&b, right.kind);
	}
	return by_kind(left, right);
}

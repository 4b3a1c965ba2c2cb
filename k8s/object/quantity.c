#include "k8s/object/quantity.h"

#include <math.h>
#include <string.h>

#include "base/attr.h"
#include "base/text.h"

enum { DIGITS_MAX = 15, FRACTION_MAX = 3 };

/* Thousandths of one unit. */
static const struct {
	const char *suffix;
	int64_t thousandths;
} units[] = {
	{"", 1000},           {"m", 1},
	{"k", 1000000},       {"M", 1000000000},
	{"G", 1000000000000}, {"T", 1000000000000000},
	{"Ki", 1000LL << 10}, {"Mi", 1000LL << 20},
	{"Gi", 1000LL << 30}, {"Ti", 1000LL << 40},
};

/* Digits behind the point as thousandths. */
static int64_t fraction(const char *digits, size_t len)
{
	int64_t value = 0;

	for (size_t i = 0; i < FRACTION_MAX; i++)
		value = value * 10 + (i < len ? digits[i] - '0' : 0);
	return value;
}

bool quantity_parse(const char *text, int64_t *ret_thousandths)
{
	size_t len = strspn(text, "0123456789"), more = 0;
	int64_t whole, sum, part = 0;

	if (len == 0 || len > DIGITS_MAX || !text_int64(text, len, &whole))
		return false;
	if (text[len] == '.') {
		more = strspn(text + len + 1, "0123456789");
		if (more == 0 || more > FRACTION_MAX)
			return false;
		part = fraction(text + len + 1, more);
		len += more + 1;
	}
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (strcmp(text + len, units[i].suffix) != 0)
			continue;
		if (__builtin_mul_overflow(whole, units[i].thousandths, &sum) ||
		    __builtin_mul_overflow(part, units[i].thousandths, &part) ||
		    __builtin_add_overflow(sum, part / 1000, &sum))
			return false;
		*ret_thousandths = sum;
		return true;
	}
	return false;
}

bool quantity_of(const cJSON *amounts, const char *key, int64_t *ret_thousandths)
{
	const cJSON *item = json_get(amounts, key);

	*ret_thousandths = 0;
	if (item == NULL)
		return true;
	if (cJSON_IsString(item))
		return quantity_parse(item->valuestring, ret_thousandths);
	if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble < 1e12))
		return false;
	*ret_thousandths = (int64_t)round(item->valuedouble * 1000);
	return true;
}

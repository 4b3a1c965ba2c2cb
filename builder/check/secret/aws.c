/* Access keys of AWS (IAM user guide, "IAM identifiers"): a public id and its secret. */
#include <string.h>

#include "base/attr.h"
#include "builder/check/secret/patterns.h"

enum { NEAR = 512, SECRET_LEN = 40, ID_LEN = 20 };

/* 40 characters of base64 that are neither part of a longer run nor a hexadecimal digest. */
static bool is_secret_key(const struct secret_window *w, const unsigned char *p)
{
	bool upper = false, lower = false;

	if ((p > w->start && secret_in_class(p[-1], CLASS_ALNUM | CLASS_PLUS_SLASH)) ||
	    window_run(w, p, CLASS_BASE64, SECRET_LEN) != SECRET_LEN)
		return false;
	for (size_t i = 0; i < SECRET_LEN; i++) {
		upper |= p[i] >= 'A' && p[i] <= 'Z';
		lower |= p[i] >= 'g' && p[i] <= 'z';
	}
	return upper && lower && memmem(p, SECRET_LEN, "EXAMPLE", 7) == NULL;
}

/* What lies near one id lies near the next one, too: it is looked at once. */
static bool has_secret_key(const struct secret_window *w, const unsigned char *from,
                           const unsigned char *to)
{
	struct window_memo none = {0}, *memo = w->memo != NULL ? w->memo : &none;
	const unsigned char *q = from;

	if (memo->keyless_end != NULL && from >= memo->keyless && from <= memo->keyless_end)
		q = memo->keyless_end;
	else
		memo->keyless = from;
	while (q < to && !is_secret_key(w, q))
		q++;
	memo->keyless_end = q;
	return q < to;
}

/* AKIA or ASIA and 16 more; alone it is no secret, a secret key must be near. */
bool secret_judge_aws_pair(const struct secret_window *w, const unsigned char *p,
                           const struct secret_pattern *row)
{
	const unsigned char *from = w->start, *to = w->end;

	(void)row;
	if ((p > w->start && secret_in_class(p[-1], CLASS_ALNUM)) ||
	    window_run(w, p, CLASS_UPPER | CLASS_DIGIT, ID_LEN) != ID_LEN ||
	    window_run(w, p, CLASS_ALNUM, ID_LEN) != ID_LEN ||
	    memmem(p, ID_LEN, "EXAMPLE", 7) != NULL)
		return false;
	if (p - from > NEAR)
		from = p - NEAR;
	if (to - p > NEAR)
		to = p + NEAR;
	return has_secret_key(w, from, to);
}

/* "aws_secret_access_key = ...", also as SecretAccessKey in JSON. */
bool secret_judge_aws_assignment(const struct secret_window *w, const unsigned char *p,
                                 const struct secret_pattern *row)
{
	static const char *const forms[] = {"secret_access_key", "SECRET_ACCESS_KEY",
	                                    "SecretAccessKey", "secretAccessKey"};

	(void)row;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (window_starts(w, p, forms[i]))
			return is_secret_key(w, window_skip_assignment(w, p + strlen(forms[i])));
	return false;
}

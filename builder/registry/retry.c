#include "builder/registry/retry.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

#include "base/attr.h"
#include "base/text.h"

bool retry_status(int status)
{
	static const int statuses[] = {408, 429, 499, 500, 502, 503, 504, 522};

	for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
		if (statuses[i] == status)
			return true;
	return false;
}

/* Any of the three forms of RFC 9110 section 5.6.7 in ms, -1 when it is no date. */
static int64_t http_date_ms(const char *text)
{
	static const char *const forms[] = {"%a, %d %b %Y %H:%M:%S GMT",
	                                    "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"};

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		struct tm tm = {0};
		const char *end = strptime(text, forms[i], &tm);

		if (end != NULL && *end == '\0')
			return (int64_t)timegm(&tm) * 1000;
	}
	return -1;
}

static int64_t capped(int64_t ms)
{
	return ms < 0 ? 0 : ms > RETRY_CAP_MS ? RETRY_CAP_MS : ms;
}

int64_t retry_delay_ms(unsigned attempt, const char *retry_after, int64_t now_ms, double random)
{
	int64_t seconds, date, ceiling = RETRY_BASE_MS;

	if (retry_after != NULL && text_int64(retry_after, strlen(retry_after), &seconds))
		return seconds < 0 || seconds > RETRY_CAP_MS ? capped(seconds)
		                                             : capped(seconds * 1000);
	if (retry_after != NULL) {
		date = http_date_ms(retry_after);
		if (date >= 0)
			return capped(date - now_ms);
	}
	for (unsigned i = 1; i < attempt && ceiling < RETRY_CAP_MS; i++)
		ceiling *= 2;
	return (int64_t)((double)capped(ceiling) * random);
}

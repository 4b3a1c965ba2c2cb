#include "builder/registry/retry.h"

#include <stddef.h>
#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "base/timestamp.h"

bool retry_status(int status)
{
	static const int statuses[] = {408, 429, 499, 500, 502, 503, 504, 522};

	for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
		if (statuses[i] == status)
			return true;
	return false;
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
	if (retry_after != NULL && timestamp_http(retry_after, &date))
		return capped(date - now_ms);
	for (unsigned i = 1; i < attempt && ceiling < RETRY_CAP_MS; i++)
		ceiling *= 2;
	return (int64_t)((double)capped(ceiling) * random);
}

#include "builder/aws/backoff.h"

#include <string.h>

#include "base/text.h"

enum { BASE_TRANSIENT_MS = 50, BASE_THROTTLED_MS = 1000, SERVER_EXTRA_MS = 5000 };

int backoff_cost(enum aws_retry_kind kind)
{
	return kind == AWS_RETRY_THROTTLED ? BACKOFF_COST_THROTTLED : BACKOFF_COST_TRANSIENT;
}

int64_t backoff_delay_ms(enum aws_retry_kind kind, unsigned attempt, const char *retry_after,
                         double random)
{
	int64_t ceiling = kind == AWS_RETRY_THROTTLED ? BASE_THROTTLED_MS : BASE_TRANSIENT_MS;
	int64_t asked;

	for (unsigned i = 1; i < attempt && ceiling < BACKOFF_CAP_MS; i++)
		ceiling *= 2;
	if (ceiling > BACKOFF_CAP_MS)
		ceiling = BACKOFF_CAP_MS;
	int64_t delay = (int64_t)((double)ceiling * random);

	if (retry_after == NULL || !text_int64(retry_after, strlen(retry_after), &asked))
		return delay;
	if (asked < delay)
		return delay;
	return asked > delay + SERVER_EXTRA_MS ? delay + SERVER_EXTRA_MS : asked;
}

#include "builder/registry/retry.h"
#include "tests/harness.h"

static const int64_t now = 784111777000; /* Sun, 06 Nov 1994 08:49:37 GMT */

static void statuses(void)
{
	static const int yes[] = {408, 429, 499, 500, 502, 503, 504, 522};
	static const int no[] = {200, 201, 307, 400, 401, 403, 404, 405, 413, 415, 416, 501};

	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		CHECK(retry_status(yes[i]));
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		CHECK(!retry_status(no[i]));
}

static void backs_off(void)
{
	CHECK_INT(retry_delay_ms(1, NULL, now, 0.0), 0);
	CHECK_INT(retry_delay_ms(1, NULL, now, 0.5), RETRY_BASE_MS / 2);
	CHECK_INT(retry_delay_ms(2, NULL, now, 1.0), RETRY_BASE_MS * 2);
	CHECK_INT(retry_delay_ms(4, NULL, now, 1.0), RETRY_BASE_MS * 8);
	CHECK_INT(retry_delay_ms(20, NULL, now, 1.0), RETRY_CAP_MS);
	CHECK_INT(retry_delay_ms(4000000000u, NULL, now, 1.0), RETRY_CAP_MS);
}

static void obeys_retry_after(void)
{
	static const struct {
		const char *value;
		int64_t ms;
	} rows[] = {
		{"0", 0},
		{"7", 7000},
		{"100000", RETRY_CAP_MS},
		{"99999999999999999", RETRY_CAP_MS},
		{"-5", 0},
		{"Sun, 06 Nov 1994 08:49:47 GMT", 10000},
		{"Sunday, 06-Nov-94 08:49:47 GMT", 10000},
		{"Sun Nov  6 08:49:47 1994", 10000},
		{"Sun, 06 Nov 1994 08:49:30 GMT", 0},
		{"Sun, 06 Nov 2094 08:49:30 GMT", RETRY_CAP_MS},
		/* Nonsense is as if it were not there. */
		{"soon", RETRY_BASE_MS},
		{"", RETRY_BASE_MS},
		{"Sun, 06 Nov", RETRY_BASE_MS},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		CHECK_INT(retry_delay_ms(1, rows[i].value, now, 1.0), rows[i].ms);
}

int main(void)
{
	TEST("retry: which statuses a later try may cure", statuses);
	TEST("retry: exponential with full jitter and a cap", backs_off);
	TEST("retry: Retry-After in seconds and all forms of date", obeys_retry_after);
	return test_done();
}

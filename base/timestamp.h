/*
 * Moments as text, both ways: the three forms of HTTP dates, the ISO 8601 that AWS writes, and the
 * basic form that SigV4 signs. Pure; moments are milliseconds since 1970 UTC. And the one way to
 * turn the system's seconds and nanoseconds into one number.
 */
#ifndef SLIPWAY_BASE_TIMESTAMP_H
#define SLIPWAY_BASE_TIMESTAMP_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Any of the three forms of RFC 9110 section 5.6.7; false when it is no such date. */
bool timestamp_http(const char *text, int64_t *ret_ms);

/*
 * "2026-11-21T10:00:00Z", with an optional fraction and "Z", "UTC" (as the AWS CLI's caches have
 * it) or "+hh:mm" behind it; false otherwise.
 */
bool timestamp_iso8601(const char *text, int64_t *ret_ms);

enum { TIMESTAMP_MAX = 24 };

/* "20261121T100000Z" (SigV4) and "2026-11-21T10:00:00Z" into out; both return out. */
char *timestamp_basic(int64_t ms, char out[TIMESTAMP_MAX]);
char *timestamp_extended(int64_t ms, char out[TIMESTAMP_MAX]);

/* Nanoseconds, as caches compare the times of files. */
static inline int64_t timespec_ns(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif

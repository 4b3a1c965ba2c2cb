/*
 * When to try again, and after how long: pure policy, random numbers and time passed in.
 */
#ifndef SLIPWAY_BUILDER_REGISTRY_RETRY_H
#define SLIPWAY_BUILDER_REGISTRY_RETRY_H

#include <stdbool.h>
#include <stdint.h>

enum { RETRY_DEFAULT = 5, RETRY_BASE_MS = 500, RETRY_CAP_MS = 60000 };

/* Statuses that a later try may cure: 408, 429, 499, 500, 502, 503, 504, 522. */
bool retry_status(int status);

/* ms: a registry that counts per second has a new second after so long. */
enum { RETRY_THROTTLED_MS = 1000 };

/*
 * Milliseconds to wait before try number `attempt` (1 = the first retry): exponential with full
 * jitter (random in 0..1), capped at RETRY_CAP_MS; a Retry-After value (seconds or HTTP-date, RFC
 * 9110 section 10.2.3; NULL = none) takes its place, capped too.
 */
int64_t retry_delay_ms(unsigned attempt, const char *retry_after, int64_t now_ms, double random);

#endif

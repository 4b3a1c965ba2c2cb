/*
 * AWS's "standard" retry mode with the figures of November 2026, as pure functions.
 * Source: AWS SDKs and Tools Reference Guide, "Retry behavior"; botocore 1.44.
 */
#ifndef SLIPWAY_BUILDER_AWS_BACKOFF_H
#define SLIPWAY_BUILDER_AWS_BACKOFF_H

#include <stdint.h>

#include "builder/aws/failure.h"

enum {
	BACKOFF_QUOTA = 500,         /* tokens a client starts with */
	BACKOFF_COST_TRANSIENT = 14, /* taken by a retry, given back by its success */
	BACKOFF_COST_THROTTLED = 5,
	BACKOFF_CAP_MS = 20000
};

/* Tokens that a retry of this kind takes. */
int backoff_cost(enum aws_retry_kind kind);

/*
 * Milliseconds before retry number `attempt` (1 = the first), random in 0..1: exponential with full
 * jitter from 50 ms (throttled: 1 s); the server's x-amz-retry-after (ms, NULL = none) takes its
 * place, kept between the computed delay and that plus 5 s.
 */
int64_t backoff_delay_ms(enum aws_retry_kind kind, unsigned attempt, const char *retry_after,
                         double random);

#endif

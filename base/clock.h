/*
 * Time as a value that tests can replace.
 */
#ifndef SLIPWAY_BASE_CLOCK_H
#define SLIPWAY_BASE_CLOCK_H

#include <stdint.h>

struct clock {
	int64_t (*now_ms)(struct clock *c); /* wall clock, ms since 1970 UTC */
	void (*sleep_ms)(struct clock *c,
	                 int64_t ms); /* ends early when the process is interrupted */
};

/* The system's clock; a constant object, never freed. */
struct clock *clock_system(void);

#endif

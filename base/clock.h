/*
 * Time as a value that tests can replace; and the running clock, for what is measured and shown.
 */
#ifndef SLIPWAY_BASE_CLOCK_H
#define SLIPWAY_BASE_CLOCK_H

#include <stdint.h>

struct clock {
	/* Wall clock, ms since 1970 UTC. */
	int64_t (*now_ms)(struct clock *c);
	/* Ends early when the process is interrupted. */
	void (*sleep_ms)(struct clock *c, int64_t ms);
};

/* The system's clock; a constant object, never freed. */
struct clock *clock_system(void);

/*
 * Since some moment before the process started, never backwards: for durations. clock_seconds() is
 * the same clock, in seconds.
 */
int64_t clock_monotonic_ns(void);
double clock_seconds(void);

#endif

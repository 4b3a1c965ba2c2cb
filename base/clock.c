#include "base/clock.h"

#include <time.h>

#include "base/interrupt.h"
#include "base/timestamp.h"

enum { CLOCK_STEP_MS = 100 };

static int64_t system_now(struct clock *c)
{
	struct timespec ts;

	(void)c;
	clock_gettime(CLOCK_REALTIME, &ts);
	return timespec_ns(ts) / 1000000;
}

/* Short steps, so that a stop request is seen by whichever thread sleeps. */
static void system_sleep(struct clock *c, int64_t ms)
{
	(void)c;
	while (ms > 0 && !interrupt_requested()) {
		int64_t step = ms < CLOCK_STEP_MS ? ms : CLOCK_STEP_MS;
		struct timespec ts = {.tv_sec = 0, .tv_nsec = step * 1000000};

		nanosleep(&ts, NULL);
		ms -= step;
	}
}

struct clock *clock_system(void)
{
	static struct clock wall = {system_now, system_sleep};

	return &wall;
}

int64_t clock_monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return timespec_ns(ts);
}

double clock_seconds(void)
{
	return (double)clock_monotonic_ns() * 1e-9;
}

/*
 * What rank 0 concludes from the signs of life of all ranks. Pure: times are given, in seconds of
 * one clock.
 *
 *   gone    its connection ended without a farewell: the process, or its machine, is no more
 *   silent  no sign for a while: stopped, or out of reach
 *   late    its signs come, but the others wait for it in an exchange it does not reach
 *   slow    it needs several times as long for its part of the steps as the others do
 *
 * A silent rank is named after half of the time-out, a late one after a sixth, a slow one after a
 * quarter to a half: so a rank that computes at a tenth of its speed is named within two thirds of
 * the time-out, whether its steps are short (slow) or take up to a quarter of it (late). Each ends
 * the run after the whole of it.
 */
#ifndef SLIPWAY_TRAINER_COMM_WATCH_JUDGE_H
#define SLIPWAY_TRAINER_COMM_WATCH_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum watch_kind { WATCH_WELL, WATCH_GONE, WATCH_FAILED, WATCH_SILENT, WATCH_LATE, WATCH_SLOW };

/* What is known of one rank. */
struct watch_sign {
	bool watched; /* has given a sign at all */
	bool left;    /* in good order */
	bool gone, failed;
	int status;     /* that it ends with, when it failed; 0: not known */
	double heard;   /* when last */
	bool waiting;   /* in an exchange, for others */
	double stretch; /* seconds at `heard` since it began to wait, or to work */
	uint64_t steps; /* sums of gradients that it has had */
	double busy;    /* seconds of work, without waits, since the run began */
};

struct watch_finding {
	enum watch_kind kind;
	unsigned rank;
	double seconds; /* for how long; slow: how many times slower */
	bool lost;      /* the run is to end */
};

struct watch_judge {
	double timeout;
	unsigned n;
	struct watch_sign *signs; /* [n], the caller's to set */
	enum watch_kind *named;   /* [n]: what was reported of each */
	/* of the slow ones */
	double window; /* when it began */
	struct watch_sign *then;
	unsigned *slow; /* [n]: windows in a row */
	double *peak;   /* [n]: the worst of these */
};

/* A rank that takes so many times as long is named as slow; it is given up when it goes on and was
 * as much as the second figure: on a crowded machine the others are slowed, too. */
enum { WATCH_SLOW_FACTOR = 3, WATCH_TOO_SLOW_FACTOR = 5 };

void watch_judge_init(struct watch_judge *j, unsigned n, double timeout);
void watch_judge_done(struct watch_judge *j);

/* The next thing to report, once each (a second time when it is lost); false: nothing now. */
bool watch_judge_next(struct watch_judge *j, double now, struct watch_finding *ret);

#endif

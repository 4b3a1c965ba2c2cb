/*
 * Which evaluation of a run was the best, and for how many there has been no improvement. Pure; a
 * part of the run's state, so that a resumed run judges as an unbroken one.
 */
#ifndef SLIPWAY_TRAINER_TRAIN_BEST_H
#define SLIPWAY_TRAINER_TRAIN_BEST_H

#include <stdbool.h>
#include <stdint.h>

#include "trainer/model/metrics.h"

struct best_options {
	enum metric metric;
	/* What an improvement is for `patience`: at least so much better than the last improvement,
	 * in the metric's unit; 0: any. */
	double min_delta;
	uint64_t patience; /* evaluations in a row without one that end the run; 0: never */
};

struct best {
	uint64_t evaluated; /* the step of the last evaluation; 0: none */
	uint64_t step;      /* the best one's; 0: none */
	double value;       /* its */
	double mark;        /* the last improvement's value */
	uint64_t stale;     /* evaluations since that */
	enum metric metric; /* what the values are of */
};

/*
 * Takes the evaluation after `step` into account; true when it is the best so far, by however
 * little. What is not a number is no improvement. Values of another metric are forgotten.
 */
bool best_judge(struct best *b, const struct best_options *o, uint64_t step, double value);

/* Is the patience at its end? */
bool best_is_stale(const struct best *b, const struct best_options *o);

/* Forgets the best one, whose checkpoint is lost; the next is the first. */
void best_forget(struct best *b);

#endif

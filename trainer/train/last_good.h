/*
 * The newest state of a run that a whole step has shown to be good: weights whose forward and
 * backward pass gave finite figures, and the optimizer that came to them. Kept in the
 * device's memory, as large as the weights and the optimizer's state.
 */
#ifndef SLIPWAY_TRAINER_TRAIN_LAST_GOOD_H
#define SLIPWAY_TRAINER_TRAIN_LAST_GOOD_H

#include "trainer/train/optimizer.h"

struct last_good {
	bool taken;
	struct tensors params, m, v, average;
	uint64_t updates, averaged;
	double norm_mean; /* of the gradient, for the spike guard */
};

/* Copies; the sets must have the same table at every call. */
void last_good_take(struct last_good *g, const struct tensors *params, const struct optimizer *o,
                    double norm_mean);

/* Copies back; only when taken. */
void last_good_restore(const struct last_good *g, struct tensors *params, struct optimizer *o,
                       double *norm_mean);

void last_good_done(struct last_good *g);

/* No NaN and no infinity among all values; false when the device has failed, for which it waits. */
bool tensors_are_finite(const struct tensors *set, struct ops *ops);

#endif

/*
 * The learning rate of a step.
 */
#ifndef SLIPWAY_TRAINER_TRAIN_SCHEDULE_H
#define SLIPWAY_TRAINER_TRAIN_SCHEDULE_H

#include "trainer/train/options.h"

/* Of step number `step`, counted from 0: linear warm-up, then constant, then (cosine) down to
 * final_factor * lr at total_steps and beyond. */
double schedule_lr(const struct schedule_options *s, double lr, uint64_t step);

/* Fits the schedule to a run of `total` steps: where it ends, and what its shares come to. */
void schedule_fit(struct schedule_options *s, uint64_t total);

#endif

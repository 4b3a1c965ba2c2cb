/*
 * The exponential moving average of the weights: after update number t (0, 1, ...)
 *
 *   average = d_t * average + (1 - d_t) * weights,   d_0 = 0,  d_t = min(decay, (1 + t) / (10 + t))
 *
 * so that the first steps, far from where the weights end, are soon forgotten, and the average
 * needs no correction of its bias. The ramp is that of TensorFlow's ExponentialMovingAverage with
 * num_updates, and of diffusers' EMAModel. Same bits for any number of threads.
 */
#ifndef SLIPWAY_TRAINER_TRAIN_AVERAGE_H
#define SLIPWAY_TRAINER_TRAIN_AVERAGE_H

#include "trainer/model/tensors.h"

struct op_terms;
struct ops;

/* d_t */
double average_decay(double decay, uint64_t t);

/* average = d * average + (1 - d) * weights, where 1 - d is the device's terms->average; the sets
 * have the same table and the ops' memory. */
void average_update(struct tensors *average, const struct tensors *weights,
                    const struct op_terms *terms, struct ops *ops);

/* Changes the values of two sets of the same table with each other. */
void average_exchange(struct tensors *a, struct tensors *b, struct ops *ops);

#endif

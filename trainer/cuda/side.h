/*
 * A stream beside a device's launches, for a library that computes on the device's memory too:
 * events put what is asked of both in order, and the host never waits.
 */
#ifndef SLIPWAY_TRAINER_CUDA_SIDE_H
#define SLIPWAY_TRAINER_CUDA_SIDE_H

#include "trainer/cuda/driver.h"

struct cuda_side; /* opaque */

/* d is borrowed and outlives *ret. Errors are the device's, and stick to it. */
int cuda_side_new(struct cuda_device *d, struct cuda_side **ret, struct err *err) MUST_USE;
/* NULL is fine. Whatever is under way must end by itself. */
void cuda_side_free(struct cuda_side *s);

void *cuda_side_stream(struct cuda_side *s);

/* What the side is given next begins after everything that was asked of the device so far. */
int cuda_side_follow(struct cuda_side *s, struct err *err) MUST_USE;

/* The side was given something. */
int cuda_side_mark(struct cuda_side *s, struct err *err) MUST_USE;

/* *ret: all that was marked is done; what is asked of the device next may use it. */
int cuda_side_done(struct cuda_side *s, bool *ret, struct err *err) MUST_USE;

#endif

/*
 * The encoder's cross attention as launches, in its plain form: tokens are formed, normalised and
 * projected to keys and values, and attended to. What forward leaves for backward lies in one array
 * of the device's memory.
 */
#ifndef SLIPWAY_TRAINER_CUDA_LAUNCH_CROSS_H
#define SLIPWAY_TRAINER_CUDA_LAUNCH_CROSS_H

#include "trainer/cuda/launch.h"

/* What struct op_cross's state points at: the host's, of addresses on the device. */
struct cuda_cross {
	size_t tokens; /* of a clip */
	/* Of all clips: tokens; normalised, and later their derivative; its own derivative */
	float *x, *norm, *dnorm;
	float *mean, *rstd, *keys, *values, *dkeys, *dvalues;
	float *lse; /* [batch, heads, nq] */
};

/* Bytes of the array that *ret's members lie in, which begins at `at`; of p the shape alone is
 * read. With at NULL only the bytes are of use. */
size_t cuda_cross_place(const struct op_cross *p, float *at, struct cuda_cross *ret);

void cuda_cross_forward(struct cuda_queue *q, const struct op_cross *p);
void cuda_cross_backward(struct cuda_queue *q, const struct op_cross *p);

#endif

/* The sum of a double over a block of EACH_THREADS, in a fixed order. */
#ifndef SLIPWAY_TRAINER_CUDA_KERNELS_BLOCK_SUM_H
#define SLIPWAY_TRAINER_CUDA_KERNELS_BLOCK_SUM_H

#include "trainer/cuda/kernels/device.h"
#include "trainer/cuda/kernels/shared.h"

/* Each warp leaves its sum in `which` of s; block_sync, then block_sum_end by one thread. */
INLINE void block_sum_begin(SHARED struct loss_shared *s, unsigned which, double value)
{
	value = warp_sum_double(value);
	if (lane_index() == 0)
		s->sum[which][warp_index()] = value;
}

INLINE double block_sum_end(const SHARED struct loss_shared *s, unsigned which)
{
	double sum = 0;

	for (unsigned w = 0; w < EACH_THREADS / WARP; w++)
		sum += s->sum[which][w];
	return sum;
}

#endif

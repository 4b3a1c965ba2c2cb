/*
 * What multiply-adds reach whose operands never leave registers: what a product's speed is a share
 * of. Each thread has several sums that do not wait for each other, and multiprocessors as many
 * threads as hide what an instruction takes.
 */
#ifndef SLIPWAY_TRAINER_CUDA_KERNELS_PEAK_H
#define SLIPWAY_TRAINER_CUDA_KERNELS_PEAK_H

#include "trainer/cuda/kernels/device.h"
#include "trainer/cuda/kernels/entries.h"

/* Whole numbers from -3 to 4 that differ from lane to lane: every format holds them, and sums of
 * them are exact for a while. Zeros, or the same number everywhere, would let a device run cooler,
 * and faster, than it can. */
INLINE float peak_value(unsigned i)
{
	return (float)((lane_index() * 5 + i * 3) % 8) - 3.0f;
}

#endif

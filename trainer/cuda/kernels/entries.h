/*
 * The kernels as functions: what the sources of this folder define, each taking its struct by
 * value. Not for the host's side, which launches them by number (trainer/cuda/kernels.h).
 */
#ifndef SLIPWAY_TRAINER_CUDA_KERNELS_ENTRIES_H
#define SLIPWAY_TRAINER_CUDA_KERNELS_ENTRIES_H

#include "trainer/cuda/kernels/list.h"

#define CUDA_PROTOTYPE(source, name, type, threads, bytes) void name(struct type p);
CUDA_KERNELS(CUDA_PROTOTYPE)
#undef CUDA_PROTOTYPE

#endif

/*
 * NCCL as the collective of a GPU's ops (trainer/ops/collective.h). A sum has a stream of its own
 * (side.h): it begins when the launches before it are done, and goes on beside those after it.
 *
 * Never run on GPUs so far; tests/cuda/nccl_standin.c stands in for the library.
 */
#ifndef SLIPWAY_TRAINER_CUDA_NCCL_H
#define SLIPWAY_TRAINER_CUDA_NCCL_H

#include "trainer/ops/collective.h"

extern const struct op_collective cuda_nccl;

#endif

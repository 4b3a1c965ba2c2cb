/* What the kernels of the folded cross attention share: where the sums of a part lie. */
#ifndef SLIPWAY_TRAINER_CUDA_KERNELS_FOLD_H
#define SLIPWAY_TRAINER_CUDA_KERNELS_FOLD_H

#include "trainer/cuda/kernels/device.h"
#include "trainer/cuda/kernels/fold_args.h"
#include "trainer/cuda/kernels/values.h"

/* Of a part's row of sums: where its parts begin. */
INLINE uint32_t fold_places(const struct fold_grid *g)
{
	return g->n_data;
}
INLINE uint32_t fold_row_sums(const struct fold_grid *g)
{
	return g->n_data + FOLD_TOKENS;
}
INLINE uint32_t fold_stats(const struct fold_grid *g)
{
	return g->n_data + FOLD_TOKENS + g->rows_each;
}

#endif

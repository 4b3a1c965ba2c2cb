/* Dropout factors of four neighbouring tokens, wherever the first of them is. */
#ifndef SLIPWAY_TRAINER_CUDA_KERNELS_FOLD_DROPOUT_H
#define SLIPWAY_TRAINER_CUDA_KERNELS_FOLD_DROPOUT_H

#include "trainer/cuda/kernels/attention.h"
#include "trainer/cuda/kernels/fold_args.h"

/* Tokens `token`.. of the clip, for a query: two blocks of Philox have them unless they begin one.
 * What lies beyond the clip's last token is of no use. */
INLINE void fold_keep(const struct fold_sweep_launch *p, uint32_t clip, uint32_t query,
                      uint32_t token, float ret[4])
{
	unsigned apart = token % 4;
	float next[4];

	dropout_factors(&p->dropout, clip, query, p->all, token, ret);
	if (apart == 0)
		return;
	dropout_factors(&p->dropout, clip, query, p->all, token + 4, next);
	float4 low = {ret[0], ret[1], ret[2], ret[3]}, high = {next[0], next[1], next[2], next[3]};

	ret[0] = apart == 1 ? low[1] : apart == 2 ? low[2] : low[3];
	ret[1] = apart == 1 ? low[2] : apart == 2 ? low[3] : high[0];
	ret[2] = apart == 1 ? low[3] : apart == 2 ? high[0] : high[1];
	ret[3] = apart == 1 ? high[0] : apart == 2 ? high[1] : high[2];
}

#endif

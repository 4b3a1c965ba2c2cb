/*
 * Into which tiles the kernels cut a product. A tile's side changes how long it takes and not one
 * bit: a value's sum is taken in the order of depth in all of them, and in how many parts a deep
 * product is taken is decided elsewhere (launch_rows.c).
 */
#ifndef SLIPWAY_TRAINER_CUDA_PRODUCT_TILES_H
#define SLIPWAY_TRAINER_CUDA_PRODUCT_TILES_H

#include "trainer/cuda/launch.h"

struct product_tile {
	unsigned side; /* rows and columns of a block's sums */
	enum cuda_kernel kernels[PRODUCT_FORMS];
};

/* For a product of m x n in `parts` of its depth by q's operands, on a device as q's. */
const struct product_tile *product_tile_for(const struct cuda_queue *q, uint32_t m, uint32_t n,
                                            unsigned parts);

#endif

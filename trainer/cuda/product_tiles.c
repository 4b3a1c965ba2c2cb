#include "trainer/cuda/product_tiles.h"

enum { TILES_MAX = 2, COMPUTE_AHEAD = 80, MULTIPROCESSORS_USUAL = 108 };

struct format_tiles {
	struct product_tile tiles[TILES_MAX]; /* the smaller first; side 0: there is no other */
};

#define FORMS(name)                                                                                \
	{                                                                                          \
		KERNEL_##name##_nt, KERNEL_##name##_nn, KERNEL_##name##_tn                         \
	}
#define TILE(name, side, cost)                                                                     \
	{                                                                                          \
		side, cost, FORMS(name)                                                            \
	}

/*
 * A block's cost is the larger of two figures. Shared memory gives 128 bytes a cycle: a piece is
 * written once and each of its values is read by two warps, so it is 3 times 2 x 16 x side x 4
 * bytes. The matrix units do 2,048 FLOP a cycle in 16 bits and half of it in tf32, of 2 x 16 x
 * side x side. docs/bench/kernels.md has what follows from it for each device.
 */
static const struct format_tiles formats[] = {
	[OPERANDS_F32] = {{TILE(product_f32, 64, 1)}},
	[OPERANDS_F16] = {{TILE(product_f16_64, 64, 192), TILE(product_f16_128, 128, 384)}},
	[OPERANDS_BF16] = {{TILE(product_bf16_64, 64, 192), TILE(product_bf16_128, 128, 384)}},
};
/* Devices that do not copy ahead */
static const struct format_tiles f16_before = {{TILE(product_f16, 64, 1)}};

/* Cycles of the multiprocessor that has most blocks. */
static uint64_t cost_of(const struct product_tile *t, uint32_t m, uint32_t n, unsigned parts,
                        unsigned multiprocessors)
{
	uint64_t rows = ((uint64_t)m + t->side - 1) / t->side;
	uint64_t columns = ((uint64_t)n + t->side - 1) / t->side;

	return (rows * columns * parts + multiprocessors - 1) / multiprocessors * t->cost;
}

/* Of two that cost the same the larger: its operands come from memory half as often. */
const struct product_tile *product_tile_for(const struct cuda_queue *q, uint32_t m, uint32_t n,
                                            unsigned parts)
{
	unsigned all = q->multiprocessors > 0 ? q->multiprocessors : MULTIPROCESSORS_USUAL;
	const struct product_tile *small = formats[q->operands].tiles, *large = small + 1;

	if (q->operands == OPERANDS_F16 && q->compute < COMPUTE_AHEAD)
		return f16_before.tiles;
	return large->side > 0 &&
	                       cost_of(large, m, n, parts, all) <= cost_of(small, m, n, parts, all)
	               ? large
	               : small;
}

#include "trainer/cuda/product_tiles.h"

#include "base/attr.h"

enum { COMPUTE_AHEAD = 80, MULTIPROCESSORS_USUAL = 108 };

/* The smaller first; side 0: there is no other. slower: in how many times the cycles of 16 bits the
 * matrix units multiply. */
struct format_tiles {
	struct product_tile tiles[2];
	unsigned slower;
};

#define FORMS(name)                                                                                \
	{                                                                                          \
		KERNEL_##name##_nt, KERNEL_##name##_nn, KERNEL_##name##_tn                         \
	}
#define ONE_TILE(name)                                                                             \
	{                                                                                          \
		{{PRODUCT_TILE, FORMS(name)}}, 1                                                   \
	}
#define TWO_TILES(name, slower)                                                                    \
	{                                                                                          \
		{{64, FORMS(name##_64)}, {128, FORMS(name##_128)}}, slower                         \
	}

static const struct format_tiles formats[] = {[OPERANDS_F32] = ONE_TILE(product_f32),
                                              [OPERANDS_F16] = TWO_TILES(product_f16, 1),
                                              [OPERANDS_BF16] = TWO_TILES(product_bf16, 1),
                                              [OPERANDS_TF32] = TWO_TILES(product_tf32, 2)};
/* Devices that do not copy ahead */
static const struct format_tiles f16_before = ONE_TILE(product_f16);
/* f32 by three products of tf32 */
static const struct format_tiles f32_by_three = TWO_TILES(product_tf32x3, 6);

static const struct format_tiles *tiles_of(const struct cuda_queue *q)
{
	if (q->operands == OPERANDS_F32 && q->by_three)
		return &f32_by_three;
	return q->operands == OPERANDS_F16 && q->compute < COMPUTE_AHEAD ? &f16_before
	                                                                 : &formats[q->operands];
}

/*
 * FLOP of a multiprocessor's matrix units in a cycle, 16 bits by mma with sums in float32: of
 * H100's data sheet 63 % (what mma reaches there, assumed), and L4's, A10G's and A100's.
 */
static const struct {
	unsigned compute, flop;
} rates[] = {{90, 2400}, {89, 1024}, {86, 512}, {COMPUTE_AHEAD, 2048}};

static unsigned rate_of(const struct cuda_queue *q)
{
	for (size_t i = 0; i < ARRAY_LEN(rates); i++)
		if (q->compute >= rates[i].compute)
			return rates[i].flop;
	return rates[ARRAY_LEN(rates) - 1].flop;
}

/*
 * Cycles of a block for AHEAD_DEPTH of depth: those of the matrix units or, if they are more, those
 * of shared memory, which moves 128 bytes in one. A piece is written there once, and each value of
 * it is read by two warps. docs/bench/kernels.md has what follows for each device.
 */
static uint64_t cost_of(unsigned side, unsigned flop, unsigned slower)
{
	uint64_t matrix = (uint64_t)2 * AHEAD_DEPTH * side * side * slower / flop;
	uint64_t shared = (uint64_t)3 * 2 * AHEAD_DEPTH * side * sizeof(float) / 128;

	return matrix > shared ? matrix : shared;
}

/* Blocks of the multiprocessor that has most. */
static uint64_t busiest(unsigned side, uint32_t m, uint32_t n, unsigned parts,
                        const struct cuda_queue *q)
{
	unsigned all = q->multiprocessors > 0 ? q->multiprocessors : MULTIPROCESSORS_USUAL;
	uint64_t rows = ((uint64_t)m + side - 1) / side, columns = ((uint64_t)n + side - 1) / side;

	return (rows * columns * parts + all - 1) / all;
}

/* Of two that take as long the larger: its operands come from memory half as often. */
const struct product_tile *product_tile_for(const struct cuda_queue *q, uint32_t m, uint32_t n,
                                            unsigned parts)
{
	const struct format_tiles *f = tiles_of(q);
	const struct product_tile *small = &f->tiles[0], *large = &f->tiles[1];
	unsigned flop = rate_of(q);

	if (large->side == 0)
		return small;
	return busiest(large->side, m, n, parts, q) * cost_of(large->side, flop, f->slower) <=
	                       busiest(small->side, m, n, parts, q) *
	                               cost_of(small->side, flop, f->slower)
	               ? large
	               : small;
}

/*
 * What the products of all precisions share: how operands come from memory, and what happens to a
 * tile of sums on its way out. An operand is `tile` rows by depth, and one of the two directions is
 * that of its memory: `deep` says that values of neighbouring depth are neighbours.
 */
#ifndef SLIPWAY_TRAINER_CUDA_KERNELS_PRODUCT_H
#define SLIPWAY_TRAINER_CUDA_KERNELS_PRODUCT_H

#include "trainer/cuda/kernels/device.h"
#include "trainer/cuda/kernels/entries.h"
#include "trainer/cuda/kernels/values.h"

/* Groups of four neighbours that a thread brings of each operand's piece. */
enum { PRODUCT_FOURS = PRODUCT_TILE * PRODUCT_DEPTH / 4 / PRODUCT_THREADS };

struct operand {
	const float *at;
	uint32_t rows, depth, stride; /* stride: from line to line of the memory */
	uint32_t first;               /* row of the tile's first */
	bool aligned;                 /* fours of a line may be loaded as one */
};

INLINE struct operand operand_of(const float *at, uint32_t rows, uint32_t depth, uint32_t stride,
                                 uint32_t first)
{
	return (struct operand){at,     rows,  depth,
	                        stride, first, stride % 4 == 0 && (uintptr_t)at % 16 == 0};
}

/* Four values of a line from `place`, of which there are `end`; what lies beyond is 0. */
INLINE float4 load_four(const float *line, uint32_t place, uint32_t end, bool aligned)
{
	float4 four = {0, 0, 0, 0};

	if (aligned && place + 4 <= end)
		return *(const float4 *)(line + place);
	if (place < end)
		four[0] = line[place];
	if (place + 1 < end)
		four[1] = line[place + 1];
	if (place + 2 < end)
		four[2] = line[place + 2];
	if (place + 3 < end)
		four[3] = line[place + 3];
	return four;
}

/* This thread's fours of the piece that begins at depth k. */
INLINE void load_piece(const struct operand *p, uint32_t k, bool deep, float4 ret[PRODUCT_FOURS])
{
	enum { DEEP_FOURS = PRODUCT_DEPTH / 4, WIDE_FOURS = PRODUCT_TILE / 4 };

	UNROLL
	for (unsigned i = 0; i < PRODUCT_FOURS; i++) {
		unsigned four = thread_index() + i * PRODUCT_THREADS;
		uint32_t line = deep ? p->first + four / DEEP_FOURS : k + four / WIDE_FOURS;
		uint32_t place =
			deep ? k + four % DEEP_FOURS * 4 : p->first + four % WIDE_FOURS * 4;
		uint32_t lines = deep ? p->rows : p->depth, end = deep ? p->depth : p->rows;

		ret[i] = load_four(p->at + (size_t)(line < lines ? line : 0) * p->stride, place,
		                   line < lines ? end : 0, p->aligned);
	}
}

/* One value on its way out. */
INLINE void product_out(const struct product_launch *p, uint32_t row, uint32_t column, float value)
{
	size_t at = ((size_t)block_z() * p->m + row) * p->ldc + column;

	if (row >= p->m || column >= p->n)
		return;
	if (p->bias != NULL)
		value = fused(p->bias[column], p->bias_times != NULL ? p->bias_times[row] : 1.0f,
		              value);
	if (p->residual != NULL)
		value += p->residual[at];
	if (p->slope != NULL)
		value *= gelu_slope(p->slope[at], p->form);
	if (p->accumulate)
		value += p->c[at];
	p->c[at] = value;
	if (p->gelu != NULL)
		p->gelu[at] = gelu_value(value, p->form);
}

/* The tile's sums, which are in shared memory, on their way out: a warp has a row of 32 columns. */
INLINE void product_end(const struct product_launch *p, const SHARED struct product_sums *sums)
{
	block_sync();
	UNROLL_BY(1)
	for (unsigned i = 0; i < PRODUCT_TILE * PRODUCT_TILE / PRODUCT_THREADS; i++) {
		unsigned at = thread_index() + i * PRODUCT_THREADS;

		product_out(p, block_y() * PRODUCT_TILE + at / PRODUCT_TILE,
		            block_x() * PRODUCT_TILE + at % PRODUCT_TILE,
		            sums->at[at / PRODUCT_TILE][at % PRODUCT_TILE]);
	}
}

/* Where the block's part of depth begins and ends. */
INLINE uint32_t first_depth(const struct product_launch *p)
{
	return block_z() * p->depth_each;
}

INLINE uint32_t end_of_depth(const struct product_launch *p)
{
	return p->k - first_depth(p) < p->depth_each ? p->k : first_depth(p) + p->depth_each;
}

/* The operands of the forms nt, nn and tn. */
INLINE struct operand left_of(const struct product_launch *p)
{
	return operand_of(p->a, p->m, end_of_depth(p), p->lda, block_y() * PRODUCT_TILE);
}

INLINE struct operand right_of(const struct product_launch *p)
{
	return operand_of(p->b, p->n, end_of_depth(p), p->ldb, block_x() * PRODUCT_TILE);
}

#endif

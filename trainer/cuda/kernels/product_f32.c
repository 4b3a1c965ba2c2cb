/*
 * Products in float32 by multiply-adds. A thread has 8 x 4 sums; the operands of a piece lie in
 * shared memory as [depth][tile], so that a step of depth is three loads of four values for 32
 * multiply-adds. The next piece is on its way to registers meanwhile.
 */
#include "trainer/cuda/kernels/product.h"

/* A piece into shared memory. A warp's stores of a `deep` operand go down a column of eight lines,
 * four values apart. */
INLINE void store_piece(SHARED float (*to)[PRODUCT_TILE + 4], bool deep,
                        const float4 from[PRODUCT_FOURS])
{
	UNROLL
	for (unsigned i = 0; i < PRODUCT_FOURS; i++) {
		unsigned four = thread_index() + i * PRODUCT_THREADS;
		unsigned row = four / (PRODUCT_DEPTH / 4), k = four % (PRODUCT_DEPTH / 4) * 4;

		if (!deep) {
			*(SHARED float4 *)&to[four / (PRODUCT_TILE / 4)]
					     [four % (PRODUCT_TILE / 4) * 4] = from[i];
			continue;
		}
		to[k][row] = from[i][0];
		to[k + 1][row] = from[i][1];
		to[k + 2][row] = from[i][2];
		to[k + 3][row] = from[i][3];
	}
}

/* 16 threads side by side have 4 columns each, 8 one below the other 8 rows each: 4 and 32 on. */
INLINE void multiply_piece(const SHARED struct product_shared_f32 *s, float sum[8][4])
{
	unsigned column = thread_index() % 16 * 4, row = thread_index() / 16 * 4;

	UNROLL_BY(4)
	for (unsigned k = 0; k < PRODUCT_DEPTH; k++) {
		float4 low = *(const SHARED float4 *)&s->a[k][row];
		float4 high = *(const SHARED float4 *)&s->a[k][row + 32];
		float4 b = *(const SHARED float4 *)&s->b[k][column];

		UNROLL
		for (unsigned i = 0; i < 4; i++) {
			UNROLL
			for (unsigned j = 0; j < 4; j++) {
				sum[i][j] = fused(low[i], b[j], sum[i][j]);
				sum[i + 4][j] = fused(high[i], b[j], sum[i + 4][j]);
			}
		}
	}
}

INLINE void product(const struct product_launch *p, bool deep_a, bool deep_b)
{
	SHARED struct product_shared_f32 *s = SHARED_AS(struct product_shared_f32);
	struct operand left = left_of(p), right = right_of(p);
	float4 a[PRODUCT_FOURS], b[PRODUCT_FOURS];
	float sum[8][4] = {{0}};

	load_piece(&left, first_depth(p), deep_a, a);
	load_piece(&right, first_depth(p), deep_b, b);
	for (uint32_t k = first_depth(p); k < left.depth; k += PRODUCT_DEPTH) {
		store_piece(s->a, deep_a, a);
		store_piece(s->b, deep_b, b);
		block_sync();
		load_piece(&left, k + PRODUCT_DEPTH, deep_a, a);
		load_piece(&right, k + PRODUCT_DEPTH, deep_b, b);
		multiply_piece(s, sum);
		block_sync();
	}
	UNROLL
	for (unsigned i = 0; i < 8; i++) {
		unsigned row = thread_index() / 16 * 4 + i % 4 + i / 4 * 32;

		UNROLL
		for (unsigned j = 0; j < 4; j++)
			s->sums.at[row][thread_index() % 16 * 4 + j] = sum[i][j];
	}
	product_end(p, &s->sums);
}

void product_f32_nt(struct product_launch p)
{
	product(&p, true, true);
}
void product_f32_nn(struct product_launch p)
{
	product(&p, true, false);
}
void product_f32_tn(struct product_launch p)
{
	product(&p, false, false);
}

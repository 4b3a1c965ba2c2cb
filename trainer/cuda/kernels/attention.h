/*
 * The two steps that every attention kernel is made of, on tiles of ATTENTION_TILE (32) by 32:
 * scores, left right^T over the whole depth, and the weighted sum of rows. A thread has rows
 * thread / 8 and 16 + thread / 8 of a tile and four neighbouring columns: one block of Philox has
 * the dropout of all four.
 */
#ifndef SLIPWAY_TRAINER_CUDA_KERNELS_ATTENTION_H
#define SLIPWAY_TRAINER_CUDA_KERNELS_ATTENTION_H

#include "trainer/cuda/kernels/device.h"
#include "trainer/cuda/kernels/entries.h"
#include "trainer/cuda/kernels/values.h"

/* A thread's part of a tile. */
struct tile_part {
	float at[2][4];
};

INLINE unsigned part_row(unsigned i)
{
	return thread_index() / 8 + i * 16;
}
INLINE unsigned part_column(unsigned j)
{
	return thread_index() % 8 * 4 + j;
}

/* Rows [first, rows) of a matrix whose rows lie `stride` apart and are `depth` long. */
struct tile_rows {
	const float *at;
	uint32_t first, rows, depth, stride;
};

/* Where a clip and head lie in the arrays. */
struct attended {
	uint32_t clip, head;
	struct tile_rows q, k, v, d_o;
	size_t statistics; /* of the first query, in lse and delta */
};

INLINE struct attended attended(const struct attention_launch *p, uint32_t clip, uint32_t head)
{
	uint32_t qk = p->heads * p->qk, v = p->heads * p->v;
	size_t first_q = p->q_shared ? 0 : (size_t)clip * p->nq, first_k = (size_t)clip * p->nk;

	return (struct attended){
		.clip = clip,
		.head = head,
		.q = {p->q + first_q * qk + head * p->qk, 0, p->nq, p->qk, qk},
		.k = {p->k + first_k * qk + head * p->qk, 0, p->nk, p->qk, qk},
		.v = {p->values + first_k * v + head * p->v, 0, p->nk, p->v, v},
		.d_o = {p->d_o + (size_t)clip * p->nq * v + head * p->v, 0, p->nq, p->v, v},
		.statistics = ((size_t)clip * p->heads + head) * p->nq};
}

/* 32 columns from `k` of a tile of 32 rows, 0 beyond the matrix. A warp reads a row. */
INLINE void fetch(SHARED float *to, unsigned pitch, const struct tile_rows *p, uint32_t k)
{
	UNROLL_BY(2)
	for (unsigned i = 0; i < ATTENTION_TILE * 32 / ATTENTION_THREADS; i++) {
		unsigned row = i * (ATTENTION_THREADS / 32) + warp_index();
		uint32_t at = p->first + row, column = k + lane_index();
		bool inside = at < p->rows && column < p->depth;

		to[row * pitch + lane_index()] =
			inside ? p->at[(size_t)at * p->stride + column] : 0.0f;
	}
}

/* left right^T. Begins and ends with a barrier: shared memory is free before and after. Rows of
 * 33 values: those that a warp reads at once begin in different banks. */
INLINE struct tile_part scores(SHARED struct attention_shared *s, const struct tile_rows *left,
                               const struct tile_rows *right)
{
	enum { PITCH = 33 };
	SHARED float *a = &s->left[0][0], *b = &s->right[0][0];
	struct tile_part sum = {{{0}}};

	for (uint32_t k = 0; k < left->depth; k += 32) {
		block_sync();
		fetch(a, PITCH, left, k);
		fetch(b, PITCH, right, k);
		block_sync();
		UNROLL_BY(4)
		for (unsigned c = 0; c < 32; c++) {
			UNROLL
			for (unsigned j = 0; j < 4; j++) {
				float value = b[part_column(j) * PITCH + c];

				sum.at[0][j] =
					fused(a[part_row(0) * PITCH + c], value, sum.at[0][j]);
				sum.at[1][j] =
					fused(a[part_row(1) * PITCH + c], value, sum.at[1][j]);
			}
		}
	}
	block_sync();
	return sum;
}

/* A thread's weighted sums: the eight rows of its warp, four of ATTENTION_COLUMNS columns. */
struct columns {
	float at[8][4];
};

/* Row i and column j of them in the tile. */
INLINE unsigned columns_row(unsigned i)
{
	return warp_index() * 8 + i;
}
INLINE unsigned columns_column(unsigned j)
{
	return lane_index() * 4 + j;
}

/*
 * sum += weights from, with the columns of `from` that begin at `column`. Weights lie in shared
 * memory, written by this block before; ends with a barrier.
 */
INLINE void add_weighted(SHARED struct attention_shared *s, const struct tile_rows *from,
                         uint32_t column, struct columns *sum)
{
	UNROLL_BY(1)
	for (unsigned part = 0; part < ATTENTION_COLUMNS; part += 32)
		fetch(&s->right[0][part], ATTENTION_COLUMNS + 4, from, column + part);
	block_sync();
	UNROLL_BY(2)
	for (unsigned k = 0; k < ATTENTION_TILE; k++) {
		float4 value = *(const SHARED float4 *)&s->right[k][columns_column(0)];

		UNROLL
		for (unsigned i = 0; i < 8; i++) {
			UNROLL
			for (unsigned j = 0; j < 4; j++)
				sum->at[i][j] = fused(s->weights[columns_row(i)][k], value[j],
				                      sum->at[i][j]);
		}
	}
	block_sync();
}

/* Philox 4x32-10 of (key, counter), as trainer/ops/philox.h. */
INLINE void philox(uint32_t k0, uint32_t k1, uint32_t x[4])
{
	UNROLL
	for (unsigned round = 0; round < 10; round++) {
		uint32_t high0 = multiply_high(0xD2511F53u, x[0]);
		uint32_t high1 = multiply_high(0xCD9E8D57u, x[2]);
		uint32_t low0 = 0xD2511F53u * x[0], low1 = 0xCD9E8D57u * x[2];

		x[0] = high1 ^ x[1] ^ k0;
		x[1] = low1;
		x[2] = high0 ^ x[3] ^ k1;
		x[3] = low0;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
}

enum { DROPOUT_STREAM = 4 }; /* STREAM_DROPOUT of trainer/ops/philox.h */

/* The keep factors of four neighbouring columns, the first a multiple of 4 (struct op_dropout). */
INLINE void dropout_factors(const struct dropout_launch *d, uint32_t clip, uint64_t row,
                            uint32_t columns, uint32_t column, float ret[4])
{
	uint64_t sample = d->sample != NULL ? d->sample[clip] : clip;
	uint32_t x[4] = {(uint32_t)(row * ((columns + 3) / 4) + column / 4),
	                 (uint32_t)DROPOUT_STREAM << 16 | d->layer, (uint32_t)sample,
	                 (uint32_t)(sample >> 32)};

	philox((uint32_t)d->seed, (uint32_t)(d->seed >> 32), x);
	UNROLL
	for (unsigned i = 0; i < 4; i++)
		ret[i] = x[i] >= d->threshold ? d->keep : 0.0f;
}

#endif

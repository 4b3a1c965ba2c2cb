/*
 * The layouts of shared memory: device and host agree on their sizes. Rows of 16-bit values are
 * padded by 16 bytes, so that the eight rows that ldmatrix reads at once lie in different banks;
 * rows of floats by one or four values.
 */
#ifndef SLIPWAY_TRAINER_CUDA_KERNELS_SHARED_H
#define SLIPWAY_TRAINER_CUDA_KERNELS_SHARED_H

#include "trainer/cuda/kernels/args.h"

struct column_shared {
	float sum[2][COLUMN_WARPS][32];
};

struct loss_shared {
	double sum[3][EACH_THREADS / 32];
};

/* The sums of a product's tile, before they go out row by row. */
struct product_sums {
	float at[PRODUCT_TILE][PRODUCT_TILE + 4];
};

/* Operands of a product in f32, [depth][tile] both. */
struct product_shared_f32 {
	union {
		struct {
			float a[PRODUCT_DEPTH][PRODUCT_TILE + 4];
			float b[PRODUCT_DEPTH][PRODUCT_TILE + 4];
		};
		struct product_sums sums;
	};
};

/*
 * Operands of a product in 16 bits, twice: one is read while the other is written. As they lie in
 * memory, [tile][depth] or [depth][tile].
 */
union product_operand {
	uint16_t rows[PRODUCT_TILE][PRODUCT_DEPTH + 8];
	uint16_t columns[PRODUCT_DEPTH][PRODUCT_TILE + 8];
};
struct product_shared_half {
	union {
		struct {
			union product_operand a[2], b[2];
		};
		struct product_sums sums;
	};
};

/* Operands in float32 that are copied ahead, in as many pieces as fit into 48 KiB, with two blocks
 * on a multiprocessor of 100; where a value lies is ahead.h's to say. */
struct product_piece_64 {
	float a[64 * AHEAD_DEPTH], b[64 * AHEAD_DEPTH];
};
struct product_ahead_64 {
	union {
		struct product_piece_64 piece[AHEAD_PIECES_64];
		float sums[AHEAD_SUM_ROWS][64 + 4];
	};
};
struct product_piece_128 {
	float a[128 * AHEAD_DEPTH], b[128 * AHEAD_DEPTH];
};
struct product_ahead_128 {
	union {
		struct product_piece_128 piece[AHEAD_PIECES_128];
		float sums[AHEAD_SUM_ROWS][128 + 4];
	};
};
_Static_assert(sizeof(struct product_ahead_128) <= 48 << 10, "what a launch may ask for");

/* Pieces of two operands, ATTENTION_TILE rows of each, and the tile of weights. */
struct attention_shared {
	float left[ATTENTION_TILE][33];
	float right[ATTENTION_TILE][ATTENTION_COLUMNS + 4];
	float weights[ATTENTION_TILE][ATTENTION_TILE + 1];
	float factor[ATTENTION_TILE], largest[ATTENTION_TILE], sum[ATTENTION_TILE];
};

/*
 * In 16 bits: pieces of the block's own rows, of two operands since backward has two products of
 * rows; beside them a piece of the others' rows, and after it what their weighted sum is taken of.
 */
struct attention_shared_half {
	uint16_t own[2][ATTENTION_HALF_ROWS][ATTENTION_HALF_DEPTH + 8];
	union {
		uint16_t others[ATTENTION_TILE][ATTENTION_HALF_DEPTH + 8];
		uint16_t summed[ATTENTION_TILE][ATTENTION_COLUMNS + 8];
	};
};

/* Of a sweep: pieces of the block's folded rows, of both sides in backward, and of a tile's tokens.
 */
struct fold_shared_half {
	uint16_t own[2][ATTENTION_HALF_ROWS][ATTENTION_HALF_DEPTH + 8];
	uint16_t tokens[ATTENTION_TILE][ATTENTION_HALF_DEPTH + 8];
};

#endif

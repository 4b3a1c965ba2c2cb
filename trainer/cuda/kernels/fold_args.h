/*
 * What the kernels of the folded cross attention are given (trainer/README.md derives the algebra);
 * the conventions are those of args.h. With xh the normalised token before gain and shift, scores
 * are q'' xh^T and the context is (gain U + kept shift) Wv^T + kept bv, where U = P xh. The rows of
 * q'' and of dU, its counterpart in the backward pass, are called folded.
 *
 * A group's tokens are a grid of `rows` times `length`. Of a token's channels the data are its own,
 * the positions are sums of up to three lines (its row's outer and inner index, its place in the
 * row), and the padding is one constant. A sweep works on parts of a grid: a tile of FOLD_TOKENS of
 * the length by rows_each rows. For each folded row a part leaves `width` sums:
 *
 *   n_data       of weight / deviation, times each data channel
 *   FOLD_TOKENS  of weight / deviation, by the place in the row
 *   rows_each    of weight / deviation, by the row
 *   FOLD_STATS   enum fold_stat
 */
#ifndef SLIPWAY_TRAINER_CUDA_KERNELS_FOLD_ARGS_H
#define SLIPWAY_TRAINER_CUDA_KERNELS_FOLD_ARGS_H

#include "trainer/cuda/kernels/args.h"

enum {
	FOLD_GROUPS = 3,
	FOLD_TOKENS = 32,   /* of a tile */
	FOLD_COLUMNS = 64,  /* data channels that a block sums; more are other blocks' */
	FOLD_ROWS_EACH = 64 /* rows of a part, at most */
};

/* Sums of a part, after the others: weights are probabilities times the largest's inverse in
 * forward, and derivatives of scores in backward, which has the last two in place of KEPT. */
enum fold_stat {
	FOLD_TOTAL,      /* of weight / deviation */
	FOLD_MEAN,       /* the same times the token's mean */
	FOLD_MASKED,     /* of weights of masked tokens */
	FOLD_SLOPE,      /* backward: of (w dP + dS S) / deviation^2, over the unmasked */
	FOLD_SLOPE_MEAN, /* the same times the token's mean */
	FOLD_TOTALS,
	FOLD_KEPT = FOLD_SLOPE,     /* forward: of weights after dropout */
	FOLD_SUM = FOLD_SLOPE_MEAN, /* of weights before it */
	FOLD_LARGEST = FOLD_TOTALS, /* the score that weights are relative to */
	FOLD_STATS
};

/* What every unmasked token of a group adds to a folded row's product with it: [0] the row's sum,
 * then by group the product with the padding, then by group that with the mask's xh. */
enum { FOLD_CONSTANTS = 1 + 2 * FOLD_GROUPS };

struct fold_grid {
	uint32_t n, n_data, n_pad;    /* n = rows * length */
	uint32_t rows, length;        /* row = outer index * inner + inner index */
	uint32_t outer, inner, lines; /* lines: outer + inner + length; all 0: no positions */
	uint32_t rows_each, tiles, parts, width;
};

/*
 * A warp per line of the group, and two more for its padding and its mask: ROW_WARPS. The line's
 * position channels, 0 where they are another dimension's; sums and squares of lines and of the
 * padding; and the mask's xh, or 0.
 */
struct fold_lines_launch {
	const float *position[3], *pad, *mask_token; /* mask_token NULL: nothing is masked */
	float *matrix;                               /* [lines, pitch] */
	double *moments;                             /* [lines + 1, 2] */
	float *masked;                               /* [channels], then 1 / deviation */
	double part;                                 /* 1 / channels */
	uint32_t ndim, dim[3], bands, n_pad, lines, pitch, channels;
};

/* A warp per token and clip, ROW_WARPS: its mean and 1 / deviation, both 0 if it is masked. */
struct fold_tokens_launch {
	const float *data, *mask;
	const double *moments;
	float *mean, *rstd; /* [clips, n] */
	double part;        /* 1 / channels */
	struct fold_grid grid;
	uint32_t clips;
};

/*
 * A warp per row, ROW_WARPS: x times scale, to x; that times gain, to folded, which may be x; the
 * row's constants. With u, which is the backward pass: delta = folded . u + kept d_kept, where
 * d_kept = x . shift + d_context . bias if there is dropout (kept not NULL), else 0.
 */
struct fold_rows_launch {
	float *x, *folded;
	const float *gain, *masked,
		*pad[FOLD_GROUPS]; /* masked: of the groups, one after another */
	float *constants;          /* [rows, FOLD_CONSTANTS] */
	const float *u, *kept, *shift, *d_context, *bias;
	float *delta, *d_kept;
	uint32_t rows, channels, v, n_pad[FOLD_GROUPS];
	float scale;
};

/* One side of a sweep: folded rows, their products with the group's lines, their constants. */
struct fold_side {
	const float *folded, *table, *constants; /* [rows, channels], [rows, lines] */
};

/*
 * A block has a tile of queries (x), a part of the group and FOLD_COLUMNS of its data channels (y:
 * part * chunks + chunk), and a clip (z). ATTENTION_THREADS.
 */
struct fold_sweep_launch {
	struct fold_side q, d; /* q: [nq]; d, in backward: [clips, nq] */
	const float *data, *mean, *rstd;
	const float *lse, *delta, *d_kept; /* [clips, nq]; backward */
	float *sums;                       /* [parts, clips, nq, width] */
	struct fold_grid grid;
	uint32_t clips, nq, channels, group, chunks;
	uint32_t first, all; /* the group's first token, and all of a clip: for dropout */
	struct dropout_launch dropout;
};

/*
 * What parts have left, of one group. Forward: `entries` parts of `rows` rows each; backward: parts
 * by clips, so that sums go over clips too.
 */
struct fold_parts {
	const float *sums;
	uint32_t entries, each; /* each: entries of a part */
	struct fold_grid grid;
};

/* A warp per row, ROW_WARPS. totals[rows, FOLD_GROUPS, FOLD_TOTALS]; lse NULL: backward. */
struct fold_totals_launch {
	struct fold_parts group[FOLD_GROUPS];
	float *lse, *kept, *totals; /* kept: of probabilities; may be NULL */
	uint32_t rows;
};

/* A block of ATTENTION_THREADS per row: sums by channel but for the positions, which are products
 * of `lines`, by line, with the groups' matrices. lse NULL: backward. */
struct fold_spread_launch {
	struct fold_parts group[FOLD_GROUPS];
	const float *pad[FOLD_GROUPS], *masked, *lse, *totals;
	float *out;                /* [rows, channels] */
	float *lines[FOLD_GROUPS]; /* [rows, lines] */
	uint32_t rows, channels;
};

/* EACH_THREADS: out[rows, width] = factor gain x + kept shift; shift NULL: none; kept NULL: 1 */
struct fold_scale_launch {
	const float *x, *gain, *shift, *kept;
	float *out;
	uint64_t n; /* rows * width */
	uint32_t width;
	float factor;
};

/* As column_sums: partial[block_y, 2, width]: of x * y, and of weight * y; x NULL: 0; weight NULL:
 * 1 */
struct fold_columns_launch {
	const float *x, *y, *weight;
	float *partial;
	uint32_t rows, width;
};

/* As column_sums: partial[block_y, 2 * FOLD_GROUPS, channels]: by group and for its unmasked, then
 * its masked tokens, sums of weight * dU + dS q'', which is the derivative by xh. */
struct fold_slopes_launch {
	const float *d, *q, *weights, *slopes; /* totals of forward [rows], and of backward [nq] */
	float *partial;
	uint32_t rows, nq, channels;
};

/* A block of EACH_THREADS per group: those through the normalisation, ADDED. Spoils partial. */
struct fold_gradients_launch {
	float *partial;
	const float *slopes, *masked, *pad[FOLD_GROUPS];
	float *dpad[FOLD_GROUPS], *dmask[FOLD_GROUPS]; /* dmask NULL: nothing is masked */
	uint32_t parts, nq, channels, n_pad[FOLD_GROUPS];
};

#endif

/*
 * What each kernel is given: one struct, passed by value, in the layout that C gives it on the
 * host and on the device alike (LP64). Pointers are addresses in device memory. The comment before
 * a struct says what a launch looks like: blocks, threads per block, shared memory. Arrays are F32
 * and row-major; "out" arrays are set unless their comment says added.
 *
 * Sums are taken in an order that the sizes alone decide, never by atomics: the same launch gives
 * the same bits.
 */
#ifndef SLIPWAY_TRAINER_CUDA_KERNELS_ARGS_H
#define SLIPWAY_TRAINER_CUDA_KERNELS_ARGS_H

#include <stddef.h>
#include <stdint.h>

/* ---- values one by one: 256 threads, blocks as many as fill the device ---- */

enum { EACH_THREADS = 256 };

/* form: enum gelu_form of trainer/ops/ops.h */
struct gelu_launch {
	const float *x, *dy; /* dy: backward only */
	float *out;
	uint64_t n;
	uint32_t form;
};

/* As struct op_terms of trainer/ops/ops_update.h. */
struct update_terms {
	double unscale, max_norm, limit;
	float lr, correct1, correct2, average;
	uint32_t barred, goes;
	float vote, scale;
};

/* a += terms->average * (b - a), or a = b; nothing where terms->goes is 0 */
struct average_launch {
	float *a;
	const float *b;
	const struct update_terms *terms;
	uint64_t n;
};

/* Changes the values of a and b with each other. */
struct exchange_launch {
	float *a, *b;
	uint64_t n;
};

/* out[rows, width] = 1 in column label[row], 0 elsewhere */
struct onehot_launch {
	const int32_t *label;
	float *out;
	uint64_t n; /* rows * width */
	uint32_t width;
};

/* out[copies, n] = x[n], one after the other */
struct repeat_launch {
	const float *x;
	float *out;
	uint64_t n, copies;
};

/* ---- rows: a warp each, ROW_WARPS of them in a block ---- */

enum { ROW_WARPS = 4 };

/* y = (x - mean) rstd gain + shift; eps 1e-5 */
struct norm_forward_launch {
	const float *x, *gain, *shift;
	float *y, *mean, *rstd;
	uint32_t rows, width;
};

/* dx; the parameters' derivatives are norm_sums' */
struct norm_backward_launch {
	const float *x, *gain, *mean, *rstd, *dy;
	float *dx;
	uint32_t rows, width, add_dx;
};

/* ---- sums down columns, in two launches ---- */

/* Blocks of 32 columns (x) and of ROWS rows (y), 8 warps. */
enum { COLUMN_WARPS = 8, COLUMN_ROWS = 128 };

/* partial[block_y, width] = sums of x[rows, width], whose rows lie `stride` values apart */
struct column_sums_launch {
	const float *x;
	float *partial;
	uint32_t rows, width, stride;
};

/* partial[block_y, 2, width]: of dy * xh, and of dy */
struct norm_sums_launch {
	const float *x, *dy, *mean, *rstd;
	float *partial;
	uint32_t rows, width;
};

/* EACH_THREADS: out[n] += the sum over `parts` of partial[part * stride + i] */
struct add_parts_launch {
	const float *partial;
	float *out;
	uint32_t n, parts, stride;
};

/* ---- losses ---- */

/*
 * Blocks of EACH_THREADS values each. x[clips, points, channels] beside the values that the points
 * name: channel k of point p of a clip is target[clip * clip_stride + (p / plane * channels + k) *
 * plane + p % plane].
 */
struct absolute_launch {
	const float *x, *target;
	const int32_t *points;
	float *d;        /* factor * sign(x - target); NULL: not wanted */
	double *partial; /* [blocks, 3]: |x - target|, its square, the target's square; or NULL */
	uint64_t n;      /* clips * points * channels */
	uint64_t clip_stride;
	uint32_t n_points, channels, plane;
	float factor;
};

/*
 * A warp per row, ROW_WARPS of them: cross-entropy of x[rows, width], and whether the label has the
 * largest logit, or one of the five largest; of equal ones the smaller label's counts as larger.
 */
struct entropy_launch {
	const float *x;
	const int32_t *label;
	float *d;        /* factor * (softmax - one-hot); NULL: not wanted */
	double *partial; /* [rows, 3]: entropy, 1 or 0, 1 or 0; NULL: not wanted */
	uint32_t rows, width;
	float factor;
};

/* One block of a warp: out[columns] = the sum over rows of x[rows, columns], row after row. */
struct add_doubles_launch {
	const double *x;
	double *out;
	uint32_t rows, columns;
};

/* ---- the optimizer, over all tensors at once, by the terms; nothing where they go not ---- */

struct sgd_launch {
	float *p, *m;
	const float *g;
	const struct update_terms *terms;
	uint64_t n;
	float decay, momentum;
};

struct adamw_launch {
	float *p, *m, *v;
	const float *g;
	const struct update_terms *terms;
	uint64_t n;
	float decay, beta1, beta2, eps;
};

/* One block of a warp: as struct op_vote and struct op_judge. */
struct vote_launch {
	const double *figures;
	struct update_terms *terms;
	uint64_t n;
};

struct judge_launch {
	const double *squares;
	struct update_terms *terms;
	double *norm, *goes;
};

/* SUM_BLOCKS blocks of EACH_THREADS: partial[block] = the sum of squares, or how many values are
 * infinite or not a number */
enum { SUM_BLOCKS = 256 };
struct total_launch {
	const float *x;
	double *partial;
	uint64_t n;
};

/* ---- a clip's way in ---- */

/* As struct op_clip; EACH_THREADS. clip_video: bytes [frames, plane, 3] to out [frames, 3, plane];
 * clip_sound: samples of two bytes, the lower first, to out [n], `plane` unused. */
struct clip_launch {
	const uint8_t *bytes;
	float *out;
	uint64_t n; /* values of out */
	uint64_t plane;
};

/* patches[clips, t, h, w, (dy, dx, colour)] of an image whose strides are named; EACH_THREADS */
struct patches_launch {
	const void *image; /* floats, or bytes that are taken times 1/255 */
	float *patches;
	uint64_t n; /* values */
	uint64_t clip_stride, frame_stride, row_stride, pixel_stride, colour_stride;
	uint32_t frames, grid_h, grid_w, patch;
};

/*
  * A block of EACH_THREADS per point: the query of a decoded point, [positions | fixed | pad]. Its
 * position channels are those of struct op_tokens; the index is row-major over dim. ndim 0: no
 * positions, and points may be NULL.
 */
struct queries_launch {
	const int32_t *points;
	const float *position[3]; /* [dim, 1 + 2 bands] */
	const float *fixed, *pad;
	float *out; /* [points, width] */
	uint32_t width, n_fixed, ndim, bands, dim[3];
};

/*
 * A block of EACH_THREADS per token and clip: tokens of a group as struct op_tokens has them, into
 * out[clip, first + token, width].
 */
struct tokens_launch {
	const float *data, *mask, *position[3], *pad, *mask_token;
	float *out;
	uint32_t n, n_data, n_pad, ndim, bands, dim[3];
	uint32_t width, first, all; /* all: tokens of all groups */
};

/*
 * Blocks of 32 columns (x) and one (y): the sums of dx[clip, first + token, width] over the tokens
 * that are masked (mask 1) or not (mask 0), ADDED to out[columns].
 */
struct token_sums_launch {
	const float *dx, *mask; /* mask NULL: no token is masked */
	float *out;
	uint32_t clips, n, first, all, width, from, columns, masked;
};

/* ---- the peak ---- */

/*
 * `rounds` turns of multiply-adds in registers: PEAK_CHAINS of them, sum = sum * factor + addend,
 * by each thread, or PEAK_TILES matrix instructions, 16 x 8 by 16, by each warp, whose sums begin
 * with addend. out[blocks, PEAK_THREADS]: each thread's sums added up. PEAK_BLOCKS blocks for a
 * multiprocessor: as many threads as one of 7.5 has.
 */
enum { PEAK_THREADS = 256, PEAK_BLOCKS = 4, PEAK_CHAINS = 16, PEAK_TILES = 8 };
struct peak_launch {
	float *out;
	uint32_t rounds;
	float factor, addend;
};

/* ---- products ---- */

/*
 * c[m, n] = a b, of the forms that the kernel's name says: `nt` a[m, k] and b[n, k], `nn` a[m, k]
 * and b[k, n], `tn` a[k, m] and b[k, n]. lda, ldb, ldc are values from row to row. Then, in this
 * order: bias[n] is added, times bias_times[m], and residual[m, n] (ldc), as far as they are not
 * NULL; with slope the sum is taken times the derivative of GELU at slope[m, n]; with `accumulate`
 * c's former value is added. That is c; GELU of it goes to gelu[m, n], unless that is NULL.
 * Blocks of PRODUCT_TILE columns (x) and rows (y), and of depth_each, a multiple of PRODUCT_DEPTH,
 * of depth (z): of several such, each sets an array c[m, n] of its own, one after the other, and
 * nothing else is asked for.
 */
enum { PRODUCT_TILE = 64, PRODUCT_DEPTH = 32, PRODUCT_THREADS = 128 };
/*
 * Products whose operands are copied ahead: tiles of 64 or 128 rows and columns in place of
 * PRODUCT_TILE, pieces AHEAD_DEPTH deep and so many of them, and rows of sums that leave together.
 */
enum { AHEAD_DEPTH = 16, AHEAD_PIECES_64 = 4, AHEAD_PIECES_128 = 3, AHEAD_SUM_ROWS = 64 };
struct product_launch {
	const float *a, *b;
	float *c;
	uint32_t m, n, k, lda, ldb, ldc, depth_each;
	const float *bias, *bias_times, *residual, *slope;
	float *gelu;
	uint32_t form, accumulate;
};

/* ---- attention ---- */

/* As struct op_dropout; threshold: p * 2^32 rounded up; keep: 1 / (1 - p). threshold 0: none. */
struct dropout_launch {
	uint64_t seed, threshold;
	const uint64_t *sample; /* NULL: 0, 1, ... */
	uint32_t layer;
	float keep;
};

/*
 * As struct op_attention. In f32 a block has ATTENTION_TILE queries (or keys, for dk and dv) of a
 * clip and a head, and ATTENTION_COLUMNS of the output's columns: x counts tiles, y chunks of
 * columns, z clips and heads. delta[batch, heads, nq] = d_o . o is made by attention_delta, a warp
 * per row.
 */
enum { ATTENTION_TILE = 32, ATTENTION_COLUMNS = 128, ATTENTION_THREADS = 128 };
/* In 16 bits a block has so many queries (or keys), 16 for each warp; ATTENTION_TILE of the others
 * at a time, in pieces of so much depth. */
enum { ATTENTION_HALF_ROWS = 64, ATTENTION_HALF_DEPTH = 64 };
struct attention_launch {
	const float *q, *k, *values, *d_o;
	float *o, *lse, *delta, *dq, *dk, *dvalues;
	uint32_t batch, heads, nq, nk, qk, v, q_shared;
	float scale; /* 1 / sqrt(qk) */
	struct dropout_launch dropout;
};

#endif

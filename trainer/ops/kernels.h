/*
 * What differs by instruction set: one table per set, all made from kernels_body.inc. Kernels are
 * single-threaded, allocate nothing and know nothing of the model. The panel is their common
 * layout: `nr` columns side by side, [depth][nr], so that a row of a panel is a few vectors.
 */
#ifndef SLIPWAY_TRAINER_OPS_KERNELS_H
#define SLIPWAY_TRAINER_OPS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trainer/ops/ops.h"

enum { KERNEL_NR_MAX = 32, KERNEL_MR_MAX = 16 };

/*
 * c[m, n] (+)= a[m, k] b[k, n] with b in panels. n need not be whole panels; b's tail is padded. A
 * last panel of which at most half exists costs half.
 * Then bias[n] and residual[m, n] are added where given. Of a and b, k and strides count places
 * (struct product_kernels).
 */
struct gemm_block {
	size_t m, n, k;
	const float *a;
	size_t a_row, a_col; /* strides, of which one is 1 */
	size_t a_piece; /* 0; or rows come in the pieces that the kernel cuts m into (of mr rows at
	                   most, nearly equal), each [k][its rows], this far apart */
	const float *b; /* panels of [k][nr], b_panel values apart */
	size_t b_panel;
	float *c;
	size_t c_row;
	bool accumulate;
	bool near; /* c lies in the nearest caches: asking for its lines would only take time */
	const float *bias, *residual; /* residual has c's stride */
};

/*
 * Scores of a block of queries (rows) with n keys become weights: s = exp(scale s - max) [* keep].
 * max, [rows], is raised only where a score is above it by more than SOFTMAX_SLACK, and sum and o,
 * what was summed with the former one, are scaled down: exp(SOFTMAX_SLACK) is far from overflow.
 * Rows of s and keep are `row` values apart and n is filled up to whole panels with weights of 0.
 */
#define SOFTMAX_SLACK 8.0f

struct softmax_tile {
	size_t rows, n, row;
	float scale;
	float *s;
	const float *keep; /* dropout factors, or NULL */
	float *max;
	float *sum; /* [rows][nr]: lanes to be added up, of exp(scale s - max) */
	float *o;   /* [rows][o_row] */
	size_t o_row;
};

/* s: scores in, probabilities [* keep] out; ds: dP in, scale * P (dP [* keep] - delta) out. */
struct softmax_gradient {
	size_t rows, n, row; /* n: whole vectors */
	float scale;
	const float *lse, *delta; /* [rows] */
	float *s, *ds;
	const float *keep;
};

/* Rows of LayerNorm's input and of the derivative of its output, `row` values apart. */
struct norm_rows {
	const float *x, *dy;
	size_t n, row;
	const float *mean, *rstd; /* [n] */
};

/* A tile of the folded cross attention: n tokens x nr latents, see cross_folded.c. */
struct cross_tile {
	size_t n, lanes;  /* lanes: whole vectors of nr, beyond which nothing is read or written */
	float *s;         /* [n][nr]: in: products with the data channels; out: see the kernel */
	const float *row; /* [nr]: what all tokens of the tile add */
	const float *column;             /* [n][nr]: what each adds */
	const float *mean, *rstd, *bias; /* [n] of the tokens; bias is a masked token's -1e30 */
	const float *csum;               /* [nr]: sum over channels of the query */
	const float *keep;               /* [n][nr] dropout factors, or NULL */
	float *max;                      /* [nr] */
};

/*
 * Where a tile's weights are summed. max is raised only where a score is above it by more than
 * SOFTMAX_SLACK; whatever was summed with the former one, all[rows][nr], is then scaled down.
 */
struct cross_sums {
	float *all;
	size_t rows;
	/* of these, [nr] each: exp(s - max); that times keep; w times the token's mean */
	float *sum, *kept, *wmean;
	float *column; /* [n][nr]: each token's w is added; of these, too */
	float *wsum;   /* [nr]: the tile's w; is set */
};

/* What the backward pass of a tile reads besides, and where its sums go; all [nr]. */
struct cross_gradient {
	const float *delta, *dkept;
	float *sum, *mean; /* of e; of e times the token's mean */
	float *f1, *f2;
	float *column_sum; /* [n][nr]: each token's e is added */
};

/*
 * Products at one precision. Operands lie in places of 4 bytes: a float, or two bf16 values that
 * are neighbours in depth, the first in the low half. So panels, strides and scratch are the same
 * for both, and only the depth halves. A set without products of pairs keeps bf16 values as floats,
 * one in a place. Sums are floats. The packing functions read floats, count them in k, and write
 * (k + per - 1) / per places, filled up with 0; bf16 is rounded to nearest, ties to even, and NaN
 * stays NaN.
 */
struct product_kernels {
	size_t per;  /* values of depth in a place */
	bool rounds; /* packing changes values; else floats may be multiplied where they lie */
	void (*gemm)(const struct gemm_block *g);
	/* one panel of b[k, n], n <= nr, strides given; missing columns become 0 */
	void (*pack)(size_t k, size_t n, const float *b, size_t b_row, size_t b_col, float *panel);
	/* one row of k values; out may be a */
	void (*pack_row)(size_t k, const float *a, float *out);
	/* out[k][n] = n <= mr rows of k values, a_row apart: a piece of struct gemm_block, and some
	 * values beyond, at most 16; NULL where tiles read rows as fast */
	void (*pack_piece)(size_t k, size_t n, const float *a, size_t a_row, float *out);
	/* out[k][n] = n columns of a matrix of k rows, a_col apart */
	void (*pack_columns)(size_t k, size_t n, const float *a, size_t a_col, float *out);
	/* n rounds of multiply-add in registers; returns their floating operations */
	double (*peak)(size_t n);
};

struct kernels {
	const char *name;
	size_t nr, mr;
	bool (*usable)(void);
	struct product_kernels f32, bf16;
	bool native_bf16; /* the set multiplies pairs of bf16; else floats that are rounded to it */

	void (*softmax)(const struct softmax_tile *t);
	/* o[rows][n] = t->o divided by the rows' sums, lse = log of these with their maxima */
	void (*softmax_end)(const struct softmax_tile *t, size_t n, float *o, size_t o_row,
	                    float *lse);
	void (*softmax_gradient)(const struct softmax_gradient *t);
	float (*dot)(const float *a, const float *b, size_t n);
	/* factor[i] of columns [0, n) of one row of a dropout mask */
	void (*dropout)(const struct op_dropout *d, uint64_t sample, uint32_t row_block, size_t n,
	                float *factor);

	/* one row each */
	void (*norm)(const float *x, const float *gain, const float *shift, size_t n, float *y,
	             float *mean, float *rstd);
	void (*norm_dx)(const float *x, const float *gain, const float *dy, size_t n, float mean,
	                float rstd, bool add, float *dx);
	/* n columns over all rows; dgain, dshift are added to */
	void (*norm_dparams)(const struct norm_rows *t, size_t n, float *dgain, float *dshift);
	void (*gelu)(const float *x, float *y, size_t n, enum gelu_form form);
	void (*gelu_dx)(const float *x, const float *dy, float *dx, size_t n, enum gelu_form form);
	/* a[i] += b[i]; a[i] += f * b[i] */
	void (*add)(float *a, const float *b, size_t n);
	void (*add_scaled)(float *a, const float *b, float f, size_t n);
	/* sum[n] += the rows of x, which are `row` values apart, in their order */
	void (*sum_rows)(const float *x, size_t rows, size_t row, size_t n, float *sum);

	/* s holds products; with s = rstd * (s + row + column - mean * csum) + bias it becomes
	 * w = exp(s - max) [* keep] * rstd, which is summed; max is raised */
	void (*cross_weights)(const struct cross_tile *t, const struct cross_sums *g);
	/*
	 * t->s and d->s hold products with the data channels, t->max the log-sum-exp; d describes
	 * dP's tile (its row, column, csum). d->s becomes e = dS * rstd, where dS =
	 * P (keep (dP + dkept) - delta); sums of e as above; f1, f2: sums of rstd^2 (P keep dP +
	 * dS S), and of that times mean.
	 */
	void (*cross_backward)(const struct cross_tile *t, const struct cross_tile *d,
	                       const struct cross_gradient *g);
	/* keep factors of tokens [column, column + n) for nr rows from `row` on */
	void (*cross_keep)(const struct op_dropout *d, uint64_t sample, uint32_t row,
	                   uint32_t row_blocks, size_t column, size_t n, float *keep);
};

/* NULL when this build or CPU has no such set; NULL name: the best one. */
const struct kernels *kernels_find(const char *name);

extern const struct kernels kernels_generic;
#if defined(__x86_64__)
extern const struct kernels kernels_avx2, kernels_avx512, kernels_avx512_bf16;
#elif defined(__aarch64__)
extern const struct kernels kernels_neon;
/* clang before 16 has these products only where a whole file is compiled for them */
#if !defined(__clang__) || __clang_major__ >= 16
#define KERNELS_NEON_BF16
extern const struct kernels kernels_neon_bf16;
#endif
#endif

#endif

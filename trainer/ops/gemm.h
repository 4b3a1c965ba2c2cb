/*
 * Matrix products by the team of threads. The depth is never split between threads and always
 * walked in the same order, so the result's bits do not depend on their number.
 */
#ifndef SLIPWAY_TRAINER_OPS_GEMM_H
#define SLIPWAY_TRAINER_OPS_GEMM_H

#include "trainer/ops/kernels.h"

/* c[m, n] (+)= a[m, k] b[k, n] + bias[n] + residual[m, n]; a, b by strides, c by rows of c_row. */
struct gemm {
	size_t m, n, k;
	const float *a;
	size_t a_row, a_col;
	const float *b;
	size_t b_row, b_col;
	float *c;
	size_t c_row;
	bool accumulate;
	const float *bias, *residual; /* may be NULL; residual has c's stride */
};

/* Uses the ops' scratch. */
void gemm(struct ops *ops, const struct gemm *g);

/* Values that the panels of a [k, n] matrix take. */
size_t gemm_packed(const struct kernels *kernels, size_t k, size_t n);

/*
 * A row stride, at least n, of an odd number of cache lines: rows at a stride near a power of two
 * all fall into the same few sets of the first cache and drive each other out, which costs half of
 * the speed when the kernel walks down them.
 */
size_t gemm_stride(size_t n);

/* The product with a's rows copied to such a stride; for one thread. work: m * gemm_stride(k). */
void gemm_copied(const struct kernels *kernels, const struct gemm_block *g, float *work);

/* Packs rows of a[m, k] given by columns (a_row == 1) into [m / mr][k][mr] and multiplies them. For
 * one thread; work: room for mr * k + 16 values. */
enum { KERNEL_BLOCK_ROWS = 56 };
void gemm_transposed(const struct kernels *kernels, const struct gemm_block *g, float *work);

#endif

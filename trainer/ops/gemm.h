/*
 * Matrix products by the team of threads. The depth is never split between threads and always
 * walked in the same order, so the result's bits do not depend on their number.
 */
#ifndef SLIPWAY_TRAINER_OPS_GEMM_H
#define SLIPWAY_TRAINER_OPS_GEMM_H

#include "trainer/ops/cpu.h"
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
	/* small tasks that are no part of the product, which fill its end; they share nothing with
	 * it but what it reads */
	void (*beside)(void *ctx, size_t i, unsigned worker);
	void *beside_ctx;
	size_t beside_n;
};

/* At the ops' precision; uses their scratch. */
void gemm(struct cpu *ops, const struct gemm *g);

/* Two products, of which none reads what the other writes. */
void gemm_both(struct cpu *ops, const struct gemm *first, const struct gemm *second);

/* Places (struct product_kernels) of k values. */
size_t gemm_places(const struct product_kernels *products, size_t k);

/*
 * A row stride, at least n, of an odd number of cache lines: rows at a stride near a power of two
 * all fall into the same few sets of the first cache and drive each other out, which costs half of
 * the speed when the kernel walks down them.
 */
size_t gemm_stride(size_t n);

/*
 * A left-hand block of rows as a set's tile reads it best: rows that far apart, or pieces. Values
 * that m rows of k take; the packing of x[m, k], k in values; and where it lies, for a product of m
 * rows whose depth g->k is in places.
 */
size_t gemm_left_room(const struct kernels *kernels, const struct product_kernels *products,
                      size_t m, size_t k);
struct gemm_left {
	size_t m, k;
	const float *x;
	size_t x_row;
};
void gemm_left(const struct kernels *kernels, const struct product_kernels *products,
               const struct gemm_left *left, float *out);
void gemm_left_of(const struct kernels *kernels, const struct product_kernels *products,
                  const float *packed, struct gemm_block *g);

/* Values of a piece of mr rows, k places deep, and of what packing it writes beyond. */
size_t gemm_piece(size_t mr, size_t k);

/* Packs rows of floats a[m, k] given by columns (a_row == 1) into pieces and multiplies them; k
 * counts values. For one thread; work: a gemm_piece for every mr rows. */
enum { KERNEL_BLOCK_ROWS = 56 };
void gemm_transposed(size_t mr, const struct product_kernels *products, const struct gemm_block *g,
                     float *work);

#endif

/*
 * What of a product decides how long it takes, and how: its form, sizes, distances between rows,
 * what happens on the way out, and how its arrays are aligned. Two products of one shape differ in
 * addresses alone.
 */
#ifndef SLIPWAY_TRAINER_CUDA_PRODUCT_SHAPE_H
#define SLIPWAY_TRAINER_CUDA_PRODUCT_SHAPE_H

#include "trainer/cuda/launch.h"

/* On the way out, bits of product_shape.ways. */
enum {
	WAY_BIAS = 1,
	WAY_RESIDUAL = 2,
	WAY_ADD = 4,
	WAY_GELU = 8,
	WAY_SLOPE = 16,
	WAY_BIAS_TIMES = 32
};

/* 32-bit numbers alone: compared as bytes. */
struct product_shape {
	uint32_t form; /* enum product_form */
	uint32_t m, n, k, lda, ldb, ldc;
	uint32_t ways;
	/* Bytes, 4 to 256, of which the addresses of a, of b, and of all else, are multiples */
	uint32_t aligned_a, aligned_b, aligned_c;
};

struct product_shape product_shape_of(enum product_form form, const struct product_launch *l);

#endif

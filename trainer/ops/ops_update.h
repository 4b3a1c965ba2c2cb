/*
 * Ops over whole sets of tensors (trainer/model/tensors.h: one array, tensors padded to 16 values
 * with zeros): what an optimizer step is made of. n is a multiple of 16. The conventions are those
 * of trainer/ops/ops.h; each value is computed by itself in float32, in the order written here, so
 * that a run goes on with the same bits on any number of threads.
 */
#ifndef SLIPWAY_TRAINER_OPS_OPS_UPDATE_H
#define SLIPWAY_TRAINER_OPS_OPS_UPDATE_H

#include <stddef.h>

/* *sum = the sum of x^2, in double: infinite or NaN when a value is */
struct op_sum_squares {
	size_t n;
	const float *x;
	double *sum;
};

/* *count = how many values are infinite or NaN */
struct op_count_bad {
	size_t n;
	const float *x;
	double *count;
};

/*
 * SGD:   m = momentum * m + (scale * g + decay * p);  p -= lr * m
 * AdamW: m = beta1 * m + (1 - beta1) * g';  v = beta2 * v + (1 - beta2) * g' * g', g' = scale * g;
 *        p = p * (1 - lr * decay) - lr * (m * correct1) / (sqrt(v * correct2) + eps)
 */
struct op_update {
	size_t n;
	float *p, *m, *v; /* v: AdamW */
	const float *g;
	float scale, lr, decay;
	float momentum;
	float beta1, beta2, eps, correct1, correct2; /* correct: 1 / (1 - beta^t) */
};

/* a += weight * (b - a) */
struct op_average {
	size_t n;
	float *a;
	const float *b;
	float weight;
};

/* Changes the values of a and b with each other. */
struct op_exchange {
	size_t n;
	float *a, *b;
};

#endif

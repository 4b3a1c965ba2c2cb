/*
 * One computation done by a reference and by kernels, on every engine and in several orders of
 * threads: the results must be near the reference's and, bit for bit, each other's.
 */
#ifndef SLIPWAY_TESTS_CUDA_COMPARE_H
#define SLIPWAY_TESTS_CUDA_COMPARE_H

#include "tests/cuda/engine.h"

/* An array in "device memory", of floats or doubles, between guards that tell who writes beyond. */
struct guarded {
	void *at;
	size_t n, each; /* each: bytes of a value */
	bool result;    /* compared, and set to what it was before each run */
};

enum { GUARDED_MAX = 64 };
struct compared {
	const char *name;
	struct guarded arrays[GUARDED_MAX];
	size_t n;
	void *op;
	void (*reference)(void *op);
	void (*device)(struct cuda_queue *q, void *op);
	double tolerance; /* of |got - want| / (1 + |want|) */
	enum cuda_operands operands;
	unsigned since; /* devices before it cannot: 80 is 8.0 */
};

/* Values drawn from N(0, 1); the same for the same place in c. Freed by compare. */
float *compared_input(struct compared *c, size_t n);
float *compared_result(struct compared *c, size_t n);
double *compared_doubles(struct compared *c, size_t n);

/* The kernels alone, on one engine in one order of threads; *ret: a sum over the arrays' bits, which
 * are then what they were before. NULL, or what a device would not allow. */
const char *compared_run(struct compared *c, const struct engine *engine, uint64_t seed,
                         uint64_t *ret);
/* Frees the arrays. */
void compared_done(struct compared *c);

/* NULL when all is well, or what is not, until the next call. Frees the arrays. */
const char *compare(struct compared *c);

#endif

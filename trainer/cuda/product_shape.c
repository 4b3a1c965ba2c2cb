#include "trainer/cuda/product_shape.h"

/* NULL is aligned as anything is. */
static uint32_t alignment_of(const void *at)
{
	enum { ALIGNMENT_MAX = 256 };
	uintptr_t lowest = (uintptr_t)at & (0 - (uintptr_t)at);

	return lowest == 0 || lowest > ALIGNMENT_MAX ? ALIGNMENT_MAX : (uint32_t)lowest;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t ways_of(const struct product_launch *l)
{
	return (l->bias != NULL ? WAY_BIAS : 0) | (l->residual != NULL ? WAY_RESIDUAL : 0) |
	       (l->accumulate ? WAY_ADD : 0) | (l->gelu != NULL ? WAY_GELU : 0) |
	       (l->slope != NULL ? WAY_SLOPE : 0) | (l->bias_times != NULL ? WAY_BIAS_TIMES : 0);
}

struct product_shape product_shape_of(enum product_form form, const struct product_launch *l)
{
	return (struct product_shape){
		.form = form,
		.m = l->m,
		.n = l->n,
		.k = l->k,
		.lda = l->lda,
		.ldb = l->ldb,
		.ldc = l->ldc,
		.ways = ways_of(l),
		.aligned_a = alignment_of(l->a),
		.aligned_b = alignment_of(l->b),
		.aligned_c = least(alignment_of(l->c),
	                           least(alignment_of(l->residual), alignment_of(l->bias))),
	};
}

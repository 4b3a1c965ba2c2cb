/*
 * Random cross attentions for tests of the kernels: groups of tokens of all kinds, masked or not,
 * with one head (folded) or two (plain).
 */
#ifndef SLIPWAY_TESTS_RANDOM_CROSS_H
#define SLIPWAY_TESTS_RANDOM_CROSS_H

#include <stdlib.h>
#include <string.h>

#include "tests/cuda/compare.h"
#include "trainer/cuda/launch_cross.h"
#include "trainer/ops/ops.h"
#include "trainer/ops/philox.h"

/* Forward and backward. What was in the state's memory before must not matter. */
static inline void random_cross_by_launches(struct cuda_queue *q, void *op)
{
	struct op_cross *p = op;
	struct cuda_cross state;
	size_t bytes = cuda_cross_place(p, NULL, &state);
	float *memory = aligned_alloc(64, bytes);

	memset(memory, 0xff, bytes);
	(void)cuda_cross_place(p, memory, &state);
	p->state = &state;
	cuda_cross_forward(q, p);
	cuda_cross_backward(q, p);
	free(memory);
}

static inline size_t below(struct philox *r, size_t n)
{
	return philox_below(r, (uint32_t)n);
}

/* A group of tokens that fits `channels`. */
static inline void random_group(struct philox *r, struct compared *c, const struct op_cross *p,
                                size_t ndim, struct op_tokens *t)
{
	size_t positions;

	t->ndim = ndim;
	t->n = ndim > 0 ? 1 : below(r, 2) + 1;
	t->bands = ndim > 0 ? 1 + below(r, 4) : 0;
	for (size_t d = 0; d < ndim; d++) {
		t->dim[d] = 1 + below(r, ndim == 1 ? 90 : d == ndim - 1 ? 40 : 5);
		t->n *= t->dim[d];
	}
	positions = ndim * (1 + 2 * t->bands);
	t->n_pad = 1 + below(r, 6);
	t->n_data = p->channels - positions - t->n_pad;
	t->data = compared_input(c, p->batch * t->n * t->n_data);
	for (size_t d = 0; d < ndim; d++)
		t->position[d] = compared_input(c, t->dim[d] * (1 + 2 * t->bands));
	t->pad = compared_input(c, t->n_pad);
	t->mask_token = compared_input(c, p->channels);
	t->dpad = compared_result(c, t->n_pad);
	t->dmask_token = compared_result(c, p->channels);
	if (below(r, 3) == 0)
		return;
	float *mask = compared_input(c, p->batch * t->n), share = (float)below(r, 3) - 1;

	for (size_t i = 0; i < p->batch * t->n; i++)
		mask[i] = mask[i] > share;
	t->mask = mask;
}

/* Weights small enough that a softmax has more than one probability. */
static inline float *random_small(struct compared *c, size_t n, float times)
{
	float *x = compared_input(c, n);

	for (size_t i = 0; i < n; i++)
		x[i] *= times;
	return x;
}

/* heads 0: one, or now and then two. */
static inline void random_cross(struct philox *r, struct compared *c, struct op_cross *p,
                                size_t heads)
{
	size_t drawn = below(r, 8) == 0 ? 2 : 1, wide = below(r, 5) == 0 ? 60 : 0;

	heads = heads > 0 ? heads : drawn;
	*p = (struct op_cross){.batch = 1 + below(r, 2),
	                       .heads = heads,
	                       .nq = 1 + below(r, 70),
	                       .qk = heads * (1 + below(r, 12)),
	                       .v = heads * (1 + below(r, 12)),
	                       .channels = 34 + below(r, 20) + wide,
	                       .dropout = {below(r, 2) ? 0.3 : 0, 7, 3, NULL}};
	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++)
		random_group(r, c, p, (g + below(r, 3)) % 4, &p->groups[g]);
	p->gain = compared_input(c, p->channels);
	p->shift = compared_input(c, p->channels);
	p->q = random_small(c, p->nq * p->qk, 0.5f);
	p->wk = random_small(c, p->qk * p->channels, 0.3f);
	p->bk = compared_input(c, p->qk);
	p->wv = random_small(c, p->v * p->channels, 0.3f);
	p->bv = compared_input(c, p->v);
	p->dcontext = compared_input(c, p->batch * p->nq * p->v);
	p->context = compared_result(c, p->batch * p->nq * p->v);
	p->dgain = compared_result(c, p->channels);
	p->dshift = compared_result(c, p->channels);
	p->dwk = compared_result(c, p->qk * p->channels);
	p->dwv = compared_result(c, p->v * p->channels);
	p->dbv = compared_result(c, p->v);
	p->dq = compared_result(c, p->nq * p->qk);
}

#endif

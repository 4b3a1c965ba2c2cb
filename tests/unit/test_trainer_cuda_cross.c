/*
 * The cross attention on a GPU, folded and plain, beside the CPU's definition of it: random
 * configurations, forward and backward, on every engine, in several orders of threads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/cuda/compare.h"
#include "tests/harness.h"
#include "trainer/cuda/launch_cross.h"
#include "trainer/ops/ops.h"
#include "trainer/ops/philox.h"

static void by_cpu(void *op)
{
	struct op_cross *p = op;
	struct ops ops;

	CHECK(ops_open(&(struct ops_options){.reference = true}, &ops));
	p->state = ops.table->cross_state_new(&ops, p);
	ops.table->cross_forward(&ops, p);
	ops.table->cross_backward(&ops, p);
	ops.table->cross_state_free(&ops, p->state);
	ops_done(&ops);
}

/* What was in the state's memory before must not matter. */
static void by_cuda(struct cuda_queue *q, void *op)
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

static size_t below(struct philox *r, size_t n)
{
	return philox_below(r, (uint32_t)n);
}

/* A group of tokens that fits `channels`. */
static void draw_group(struct philox *r, struct compared *c, const struct op_cross *p, size_t ndim,
                       struct op_tokens *t)
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
static float *small(struct compared *c, size_t n, float times)
{
	float *x = compared_input(c, n);

	for (size_t i = 0; i < n; i++)
		x[i] *= times;
	return x;
}

static void draw_cross(struct philox *r, struct compared *c, struct op_cross *p)
{
	size_t heads = below(r, 8) == 0 ? 2 : 1, wide = below(r, 5) == 0 ? 60 : 0;

	*p = (struct op_cross){.batch = 1 + below(r, 2),
	                       .heads = heads,
	                       .nq = 1 + below(r, 70),
	                       .qk = heads * (1 + below(r, 12)),
	                       .v = heads * (1 + below(r, 12)),
	                       .channels = 34 + below(r, 20) + wide,
	                       .dropout = {below(r, 2) ? 0.3 : 0, 7, 3, NULL}};
	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++)
		draw_group(r, c, p, (g + below(r, 3)) % 4, &p->groups[g]);
	p->gain = compared_input(c, p->channels);
	p->shift = compared_input(c, p->channels);
	p->q = small(c, p->nq * p->qk, 0.5f);
	p->wk = small(c, p->qk * p->channels, 0.3f);
	p->bk = compared_input(c, p->qk);
	p->wv = small(c, p->v * p->channels, 0.3f);
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

/* `tolerance` is of sums over up to 140 rows, so it is far above one rounding. A few of the series,
 * or all 200 of it. */
static void check_random(enum cuda_operands operands, uint64_t series, size_t some,
                         double tolerance)
{
	size_t n = getenv("SLIPWAY_TEST_LONG") != NULL ? 200 : some;

	for (size_t i = 0; i < n; i++) {
		struct philox r = philox_start(series, STREAM_SYNTHETIC, i);
		struct op_cross p;
		struct compared c = {.name = "cross attention",
		                     .op = &p,
		                     .reference = by_cpu,
		                     .device = by_cuda,
		                     .operands = operands,
		                     .tolerance = tolerance};
		const char *why;

		draw_cross(&r, &c, &p);
		why = compare(&c);
		if (why != NULL) {
			printf("# configuration %zu: %s\n", i, why);
			test_fail(__FILE__, __LINE__, why);
		}
	}
}

static void cross_is_the_cpus(void)
{
	check_random(OPERANDS_F32, 5, 8, 3e-4);
}

static void cross_of_16_bits_rounds_its_operands(void)
{
	check_random(OPERANDS_F16, 7, 3, 2e-2);
	check_random(OPERANDS_BF16, 7, 3, 16e-2); /* as f16, of three bits less */
}

int main(void)
{
	TEST("cuda: the cross attention is the CPU's, folded or plain", cross_is_the_cpus);
	TEST("cuda: the cross attention in f16 and bf16 is near the CPU's",
	     cross_of_16_bits_rounds_its_operands);
	return test_done();
}

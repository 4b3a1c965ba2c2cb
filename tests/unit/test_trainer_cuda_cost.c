/*
 * What a training step asks a GPU to multiply, counted launch by launch while the learner's own
 * code is gone through on a queue that computes nothing: the figures that trainer/README.md names.
 */
#include <math.h>

#include "base/mem.h"
#include "tests/harness.h"
#include "trainer/cuda/backend.h"
#include "trainer/cuda/launch.h"
#include "trainer/model/cost.h"
#include "trainer/train/learner.h"

enum part { PRODUCTS, SWEEPS, ATTENTION, OTHERS, COUNTED };
static double flop[COUNTED];

static double product(double m, double n, double k)
{
	return 2 * m * n * k;
}

static double product_flop(const unsigned grid[3], const void *params)
{
	const struct product_launch *p = params;

	(void)grid;
	return product(p->m, p->n, p->k);
}

/* The scores, and the sums by data channel. */
static double forward_flop(const unsigned grid[3], const void *params)
{
	const struct fold_sweep_launch *p = params;

	(void)grid;
	return p->clips * (p->chunks + 1) * product(p->nq, p->grid.n, p->grid.n_data);
}

static double backward_flop(const unsigned grid[3], const void *params)
{
	const struct fold_sweep_launch *p = params;

	(void)grid;
	return p->clips * (2 * p->chunks + 1) * product(p->nq, p->grid.n, p->grid.n_data);
}

/* Products of queries and keys, qk or v deep, once for each chunk of columns; and the sum. */
static double attention_flop(const unsigned grid[3], const void *params, bool scores, bool values,
                             bool of_values)
{
	const struct attention_launch *p = params;
	double heads = (double)p->batch * p->heads;
	double each = (scores ? product(p->nq, p->nk, p->qk) : 0) +
	              (values ? product(p->nq, p->nk, p->v) : 0);

	return heads * (grid[1] * each + product(p->nq, p->nk, of_values ? p->v : p->qk));
}

static double attention_forward_flop(const unsigned grid[3], const void *params)
{
	return attention_flop(grid, params, true, false, true);
}
static double attention_slope_flop(const unsigned grid[3], const void *params)
{
	return attention_flop(grid, params, true, true, false);
}
static double attention_dv_flop(const unsigned grid[3], const void *params)
{
	return attention_flop(grid, params, true, false, true);
}

#define PRODUCT(kernel) [KERNEL_##kernel] = {PRODUCTS, product_flop}
static const struct {
	enum part part;
	double (*flop)(const unsigned grid[3], const void *params);
} counted[KERNELS] = {
	PRODUCT(product_bf16_64_nt),
	PRODUCT(product_bf16_64_nn),
	PRODUCT(product_bf16_64_tn),
	PRODUCT(product_bf16_128_nt),
	PRODUCT(product_bf16_128_nn),
	PRODUCT(product_bf16_128_tn),
	[KERNEL_fold_bf16_forward] = {SWEEPS, forward_flop},
	[KERNEL_fold_bf16_backward] = {SWEEPS, backward_flop},
	[KERNEL_attention_bf16_forward] = {ATTENTION, attention_forward_flop},
	[KERNEL_attention_bf16_dq] = {ATTENTION, attention_slope_flop},
	[KERNEL_attention_bf16_dk] = {ATTENTION, attention_slope_flop},
	[KERNEL_attention_bf16_dv] = {ATTENTION, attention_dv_flop},
};

static void count(struct cuda_queue *q, enum cuda_kernel kernel, const unsigned grid[3],
                  const void *params)
{
	(void)q;
	if (counted[kernel].flop != NULL)
		flop[counted[kernel].part] += counted[kernel].flop(grid, params);
}

static struct batch one_clip(void)
{
	static const uint64_t something;
	const void *there = &something;

	return (struct batch){.n = 1,
	                      .video = there,
	                      .sound = there,
	                      .label = there,
	                      .mask_label = there,
	                      .out_image = there,
	                      .out_audio = there,
	                      .n_out_image = 512,
	                      .n_out_audio = 512,
	                      .decode_label = true,
	                      .dropout_sample = there};
}

/* The published network, a clip, 512 points of each kind and the label, as the README counts. */
static void a_step_costs_what_is_said(void)
{
	struct ops_options options = {.precision = PRECISION_BF16};
	struct optimizer_options o = train_options_default().optimizer;
	struct model_config c = model_config_full();
	struct batch b = one_clip();
	struct model_cost cost = model_cost(&c, &b);
	struct tally t = {.now = 0};
	struct learner *l;
	struct ops ops;
	double all = 0;

	cuda_ops_rehearse(&options, &t, &ops);
	((struct cuda_queue *)ops.own)->launch = count;
	l = learner_new(&c, &ops, (struct recompute){false, 0});
	learner_prepare(l, &o);
	learner_rehearse(l, &b);
	learner_free(l);
	ops_done(&ops);
	tally_done(&t);
	for (size_t i = 0; i < COUNTED; i++)
		all += flop[i];
	printf("# a step of one clip: %.1f GFLOP: products %.1f, sweeps of the cross attention "
	       "%.1f, attention %.1f; on a CPU %.1f, as written %.1f\n",
	       all * 1e-9, flop[PRODUCTS] * 1e-9, flop[SWEEPS] * 1e-9, flop[ATTENTION] * 1e-9,
	       cost.executed * 1e-9, cost.plain * 1e-9);
	CHECK(fabs(flop[SWEEPS] * 1e-9 - 19.2) < 0.1 && fabs(all * 1e-9 - 192.2) < 0.1);
	CHECK(fabs(cost.plain * 1e-9 - 780.2) < 0.1);
}

int main(void)
{
	TEST("cuda: a step's products are a quarter of what they are as written",
	     a_step_costs_what_is_said);
	return test_done();
}

/*
 * bench --bounds: what forbids a part of a step more. Its products cannot be faster than the
 * register tile with all operands in the first cache; attentions exponentiate besides, one pass
 * over each score, measured in the first cache too. Both are measured here, by all threads at once,
 * so the bound of a part is: its products at the tile's speed plus its passes. What it takes beyond
 * is for memory, packing and threads that wait.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "trainer/cmd/cmd_bench.h"
#include "trainer/ops/floats.h"
#include "trainer/ops/kernels.h"
#include "trainer/ops/threads.h"

enum {
	ROWS = 56,
	WIDTH = 2 * KERNEL_NR_MAX, /* a part of a strip: in the first cache */
	TILE_DEPTH = 112,          /* nr columns of it fill an area */
	AREA = ROWS * WIDTH,       /* values of a strip, of a tile */
	AREAS = 4,
	SMALL = 16,   /* rows of constants, [KERNEL_NR_MAX] or [ROWS] */
	ROUNDS = 200, /* short ones: the best is taken */
	REPEATS = 100,
	ROOM = AREAS * AREA + SMALL * WIDTH
};

/* A task's memory, all 0: then a repeated pass stays at numbers of ordinary size. */
struct bounds_memory {
	float *area[AREAS], *small[SMALL];
};

static struct bounds_memory spread(float *at)
{
	struct bounds_memory m;

	for (size_t i = 0; i < AREAS; i++)
		m.area[i] = at + i * AREA;
	for (size_t i = 0; i < SMALL; i++)
		m.small[i] = at + AREAS * AREA + i * WIDTH;
	return m;
}

/* Each does its work once and returns how much that was: floating operations or scores. */
typedef double bounded(const struct ops *ops, const struct bounds_memory *m);

static double tile(const struct ops *ops, const struct bounds_memory *m)
{
	const struct kernels *k = ops->kernels;
	struct gemm_block g = {.m = k->mr,
	                       .n = k->nr,
	                       .k = TILE_DEPTH,
	                       .a = m->area[0],
	                       .a_row = 1,
	                       .a_col = k->mr,
	                       .b = m->area[1],
	                       .b_panel = TILE_DEPTH * k->nr,
	                       .c = m->area[3],
	                       .c_row = k->nr};

	ops->products->gemm(&g);
	return 2.0 * (double)(g.m * g.n * g.k * ops->products->per);
}

static double softmax(const struct ops *ops, const struct bounds_memory *m)
{
	size_t strip = 2 * ops->kernels->nr;
	struct softmax_tile t = {.rows = ROWS,
	                         .n = strip,
	                         .row = strip,
	                         .s = m->area[0],
	                         .max = m->small[0],
	                         .sum = m->area[1],
	                         .o = m->area[2],
	                         .o_row = 0};

	ops->kernels->softmax(&t);
	return (double)(ROWS * strip);
}

static double softmax_gradient(const struct ops *ops, const struct bounds_memory *m)
{
	size_t strip = 2 * ops->kernels->nr;
	struct softmax_gradient t = {.rows = ROWS,
	                             .n = strip,
	                             .row = strip,
	                             .lse = m->small[0],
	                             .delta = m->small[1],
	                             .s = m->area[0],
	                             .ds = m->area[1]};

	ops->kernels->softmax_gradient(&t);
	return (double)(ROWS * strip);
}

static struct cross_tile tile_of(const struct bounds_memory *m, float *s)
{
	return (struct cross_tile){.n = ROWS,
	                           .s = s,
	                           .row = m->small[0],
	                           .column = m->area[2],
	                           .mean = m->small[1],
	                           .rstd = m->small[2],
	                           .bias = m->small[3],
	                           .csum = m->small[4],
	                           .max = m->small[5]};
}

static double cross_forward(const struct ops *ops, const struct bounds_memory *m)
{
	struct cross_tile t = tile_of(m, m->area[0]);

	ops->kernels->cross_scores(&t);
	ops->kernels->cross_weights(&t, m->small[6], m->small[7], m->small[8], m->small[9],
	                            m->area[3]);
	return (double)(ROWS * ops->kernels->nr);
}

static double cross_backward(const struct ops *ops, const struct bounds_memory *m)
{
	struct cross_tile t = tile_of(m, m->area[0]), d = tile_of(m, m->area[1]);
	struct cross_gradient g = {.delta = m->small[6],
	                           .dkept = m->small[7],
	                           .sum = m->small[8],
	                           .mean = m->small[9],
	                           .f1 = m->small[10],
	                           .f2 = m->small[11],
	                           .column_sum = m->area[3]};

	ops->kernels->cross_backward(&t, &d, &g);
	return (double)(ROWS * ops->kernels->nr);
}

enum bench_bound { TILE_SPEED, SOFTMAX, SOFTMAX_GRADIENT, CROSS_FORWARD, CROSS_BACKWARD, N_BOUNDS };

static const struct {
	bounded *run;
	const char *title;
} bounds[N_BOUNDS] = {
	[TILE_SPEED] = {tile, "the register tile"},
	[SOFTMAX] = {softmax, "softmax of a strip"},
	[SOFTMAX_GRADIENT] = {softmax_gradient, "its gradient"},
	[CROSS_FORWARD] = {cross_forward, "folded scores and weights"},
	[CROSS_BACKWARD] = {cross_backward, "their gradient"},
};

struct bounded_run {
	const struct ops *ops;
	enum bench_bound what;
	float *memory;
	double done[1024]; /* by task */
};

static void repeat(void *ctx, size_t i, unsigned worker)
{
	struct bounded_run *r = ctx;
	struct bounds_memory m = spread(r->memory + (size_t)worker * ROOM);

	r->done[i] = 0;
	for (int k = 0; k < REPEATS; k++)
		r->done[i] += bounds[r->what].run(r->ops, &m);
}

/* Per second, all threads together: the best of some short rounds. */
static double rate_of(struct ops *ops, enum bench_bound what, float *memory)
{
	struct bounded_run r = {.ops = ops, .what = what, .memory = memory};
	unsigned n = ops_threads(ops);
	double best = 0;

	for (int i = 0; i < ROUNDS; i++) {
		double start = clock_seconds(), rate;

		threads_run(ops->threads, n, repeat, &r);
		rate = r.done[0] * n / (clock_seconds() - start);
		best = rate > best ? rate : best;
	}
	return best;
}

/* Which pass a row of the profile makes, and over how many scores in a step. */
static enum bench_bound pass_of(const struct profile_row *row, const struct bench_scores *s,
                                double *ret)
{
	bool cross = strcmp(row->part, "cross attention") == 0;
	bool forward = strcmp(row->op, "attention forward") == 0;

	*ret = 0;
	if (!forward && strcmp(row->op, "attention backward") != 0)
		return TILE_SPEED;
	*ret = cross ? s->cross : strcmp(row->part, "decoder") == 0 ? s->decoder : s->self;
	if (cross && s->folded)
		return forward ? CROSS_FORWARD : CROSS_BACKWARD;
	return forward ? SOFTMAX : SOFTMAX_GRADIENT;
}

void bench_bounds(struct ops *ops, struct bench_layers *l, const struct bench_scores *scores,
                  double peak, struct strbuf *sb)
{
	float *memory = floats_new((size_t)ops_threads(ops) * ROOM);
	double rate[N_BOUNDS];

	memset(memory, 0, (size_t)ops_threads(ops) * ROOM * sizeof(float));
	for (size_t i = 0; i < N_BOUNDS; i++)
		rate[i] = rate_of(ops, (enum bench_bound)i, memory);
	free(memory);
	strbuf_addf(sb, "\nin the first cache: %s %.0f GFLOP/s, %.0f %% of the peak\n",
	            bounds[TILE_SPEED].title, rate[TILE_SPEED] / 1e9,
	            100 * rate[TILE_SPEED] / peak);
	for (size_t i = TILE_SPEED + 1; i < N_BOUNDS; i++)
		strbuf_addf(sb, "in the first cache: %s %.2f scores a ns\n", bounds[i].title,
		            rate[i] / 1e9);
	strbuf_addf(sb, "%-20s %-20s %8s %12s %10s %7s %9s\n", "part", "op", "GFLOP",
	            "products, ms", "passes, ms", "bound", "measured");
	for (size_t i = 0; i < l->n; i++) {
		const struct profile_row *row = &l->rows[i];
		double n, products = row->flop / rate[TILE_SPEED], seconds = bench_median(l, i);
		enum bench_bound pass = pass_of(row, scores, &n);
		double passes = n / rate[pass];

		if (row->flop > 0)
			strbuf_addf(sb, "%-20s %-20s %8.2f %12.2f %10.2f %5.0f %% %7.0f %%\n",
			            row->part, row->op, row->flop / 1e9, products * 1e3,
			            passes * 1e3, 100 * row->flop / (products + passes) / peak,
			            100 * row->flop / seconds / peak);
	}
}

/*
 * bench --bounds: what forbids a part of a step more. Products alone cannot be faster than the
 * register tile with all operands in the first cache. Attentions weigh their scores between two
 * short products, so each has a loop of its own: the same kernels on tiles of the same shapes,
 * again and again in the same memory, which is what the part does less its packing, its way to
 * the data and its waiting. All are measured here, by all threads at once. The bound of a part is:
 * its scores at its loop's speed, and the products that are not in the loop at the tile's.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "trainer/cmd/cmd_bench.h"
#include "trainer/ops/cpu.h"
#include "trainer/ops/floats.h"
#include "trainer/ops/kernels.h"
#include "trainer/ops/threads.h"

enum {
	TOKENS = 56, /* of a tile of the folded cross attention: a row of the grid */
	CHANNELS = 48,
	QUERIES = 28, /* of a block of another attention */
	DEPTH = 64,   /* of its head */
	STRIP = 8 * KERNEL_NR_MAX,
	TILE_DEPTH = 112,     /* of the register tile */
	AREA = DEPTH * STRIP, /* the largest matrix of a loop */
	AREAS = 6,
	SMALL = 16, /* vectors: of KERNEL_NR_MAX or TOKENS values */
	SUMS = QUERIES * KERNEL_NR_MAX,
	TURNS = 100, /* short ones */
	ROOM = AREAS * AREA + SUMS + SMALL * 2 * KERNEL_NR_MAX
};

/* A task's memory, all 0: then a repeated loop stays at numbers of ordinary size. */
struct bounds_memory {
	float *area[AREAS], *sums, *small[SMALL];
};

static struct bounds_memory spread(float *at)
{
	struct bounds_memory m;

	for (size_t i = 0; i < AREAS; i++, at += AREA)
		m.area[i] = at;
	m.sums = at;
	at += SUMS;
	for (size_t i = 0; i < SMALL; i++, at += (size_t)2 * KERNEL_NR_MAX)
		m.small[i] = at;
	return m;
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* Each does its work once and returns how much that was: floating operations or scores. */
typedef double bounded(const struct cpu *ops, const struct bounds_memory *m);

/* c[m, n] = a[m, k] b[k, n]; a by rows, or by columns and added to c. */
static void rows_times(const struct cpu *ops, size_t m, size_t n, size_t k, const float *a,
                       const float *b, float *c, size_t c_row, bool add)
{
	size_t places = k / ops->products->per;
	struct gemm_block g = {.m = m,
	                       .n = n,
	                       .k = places,
	                       .a = a,
	                       .a_row = places,
	                       .a_col = 1,
	                       .b = b,
	                       .b_panel = places * ops->kernels->nr,
	                       .c = c,
	                       .c_row = c_row,
	                       .accumulate = add,
	                       .near = true};

	ops->products->gemm(&g);
}

static double tile(const struct cpu *ops, const struct bounds_memory *m)
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
	                       .c_row = k->nr,
	                       .near = true};

	ops->products->gemm(&g);
	return 2.0 * (double)(g.m * g.n * g.k * ops->products->per);
}

static size_t strip_of(const struct cpu *ops)
{
	return 8 * ops->kernels->nr;
}

/* What a strip of weights is summed into: its rows turned into places where they lie. */
static void gather(const struct cpu *ops, float *weights, const float *packed, float *to)
{
	size_t strip = strip_of(ops);

	for (size_t i = 0; ops->products->per > 1 && i < QUERIES; i++)
		ops->products->pack_row(strip, weights + i * strip, weights + i * strip);
	rows_times(ops, QUERIES, DEPTH, strip, weights, packed, to, DEPTH, true);
}

static double softmax(const struct cpu *ops, const struct bounds_memory *m)
{
	size_t strip = strip_of(ops);
	struct softmax_tile t = {.rows = QUERIES,
	                         .n = strip,
	                         .row = strip,
	                         .s = m->area[2],
	                         .max = m->small[0],
	                         .sum = m->sums,
	                         .o = m->area[4],
	                         .o_row = DEPTH};

	rows_times(ops, QUERIES, strip, DEPTH, m->area[0], m->area[1], t.s, strip, false);
	ops->kernels->softmax(&t);
	gather(ops, t.s, m->area[3], t.o);
	return (double)(QUERIES * strip);
}

static double softmax_gradient(const struct cpu *ops, const struct bounds_memory *m)
{
	size_t strip = strip_of(ops);
	struct softmax_gradient t = {.rows = QUERIES,
	                             .n = strip,
	                             .row = strip,
	                             .lse = m->small[0],
	                             .delta = m->small[2],
	                             .s = m->area[2],
	                             .ds = m->area[3]};

	rows_times(ops, QUERIES, strip, DEPTH, m->area[0], m->area[1], t.s, strip, false);
	rows_times(ops, QUERIES, strip, DEPTH, m->area[0], m->area[1], t.ds, strip, false);
	ops->kernels->softmax_gradient(&t);
	if (ops->products->per > 1) {
		ops->products->pack_columns(QUERIES, strip, t.s, strip, m->area[5]);
		ops->products->pack_columns(QUERIES, strip, t.ds, strip, m->area[5]);
	}
	gather(ops, t.ds, m->area[1], m->area[4]);
	return (double)(QUERIES * strip);
}

static struct cross_tile tile_of(const struct bounds_memory *m, size_t lanes, float *s)
{
	return (struct cross_tile){.n = TOKENS,
	                           .lanes = lanes,
	                           .s = s,
	                           .row = m->small[0],
	                           .column = m->area[1],
	                           .mean = m->small[1],
	                           .rstd = m->small[2],
	                           .bias = m->small[3],
	                           .csum = m->small[4],
	                           .max = m->small[5]};
}

/* Products of a tile's data with a panel; the panel lies behind the data. */
static void data_products(const struct cpu *ops, const struct bounds_memory *m, float *s)
{
	size_t nr = ops->kernels->nr, places = CHANNELS / ops->products->per;
	struct gemm_block g = {.m = TOKENS,
	                       .n = nr,
	                       .k = places,
	                       .a = m->area[0],
	                       .a_row = places,
	                       .a_col = 1,
	                       .b = m->area[0] + TOKENS * CHANNELS,
	                       .c = s,
	                       .c_row = nr,
	                       .near = true};

	ops->products->gemm(&g);
}

static void data_sums(const struct cpu *ops, const struct bounds_memory *m, float *weights)
{
	size_t nr = ops->kernels->nr;
	struct gemm_block g = {.m = CHANNELS,
	                       .n = nr,
	                       .k = TOKENS / ops->products->per,
	                       .a = m->area[0],
	                       .a_row = 1,
	                       .a_col = CHANNELS,
	                       .b = weights,
	                       .c = m->area[4],
	                       .c_row = nr,
	                       .accumulate = true,
	                       .near = true};

	if (ops->products->per > 1)
		ops->products->pack(TOKENS, nr, weights, nr, 1, weights);
	ops->products->gemm(&g);
}

static double cross_forward(const struct cpu *ops, const struct bounds_memory *m)
{
	struct cross_tile t = tile_of(m, ops->kernels->nr, m->area[2]);
	struct cross_sums g = {.sum = m->small[6],
	                       .kept = m->small[7],
	                       .wmean = m->small[8],
	                       .wsum = m->small[9],
	                       .column = m->area[5]};

	data_products(ops, m, t.s);
	ops->kernels->cross_weights(&t, &g);
	data_sums(ops, m, t.s);
	return (double)(TOKENS * ops->kernels->nr);
}

static double cross_backward(const struct cpu *ops, const struct bounds_memory *m)
{
	struct cross_tile t = tile_of(m, ops->kernels->nr, m->area[2]),
			  d = tile_of(m, ops->kernels->nr, m->area[3]);
	struct cross_gradient g = {.delta = m->small[6],
	                           .dkept = m->small[7],
	                           .sum = m->small[8],
	                           .mean = m->small[9],
	                           .f1 = m->small[10],
	                           .f2 = m->small[11],
	                           .column_sum = m->area[5]};

	data_products(ops, m, t.s);
	data_products(ops, m, d.s);
	ops->kernels->cross_backward(&t, &d, &g);
	data_sums(ops, m, d.s);
	return (double)(TOKENS * ops->kernels->nr);
}

enum bench_bound { TILE_SPEED, SOFTMAX, SOFTMAX_GRADIENT, CROSS_FORWARD, CROSS_BACKWARD, N_BOUNDS };

/* flop: of the products in the loop, for each score. repeats: some tenths of a millisecond, beside
 * which starting the threads is nothing. */
static const struct {
	bounded *run;
	const char *title;
	double flop;
	int repeats;
} bounds[N_BOUNDS] = {
	[TILE_SPEED] = {tile, "the register tile", 1, 1000},
	[SOFTMAX] = {softmax, "a strip of attention", 2 * 2 * DEPTH, 40},
	[SOFTMAX_GRADIENT] = {softmax_gradient, "a strip of its gradient", 3 * 2 * DEPTH, 40},
	[CROSS_FORWARD] = {cross_forward, "a tile of folded attention", 2 * 2 * CHANNELS, 200},
	[CROSS_BACKWARD] = {cross_backward, "a tile of its gradient", 3 * 2 * CHANNELS, 200},
};

/* ---- rates ----------------------------------------------------------------------------------- */

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
	for (int k = 0; k < bounds[r->what].repeats; k++)
		r->done[i] += bounds[r->what].run(cpu_of(r->ops), &m);
}

/* Floating operations of the loop's products per second, all threads together. */
static double run_bounded(void *ctx)
{
	struct bounded_run *r = ctx;
	unsigned n = ops_threads(r->ops);
	double start = clock_seconds();

	threads_run(cpu_of(r->ops)->threads, n, repeat, r);
	return r->done[0] * bounds[r->what].flop * n / (clock_seconds() - start);
}

/* The loop of a row of the profile, and over how many scores it goes in a step. */
static enum bench_bound loop_of(const struct profile_row *row, const struct bench_scores *s,
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

/* What is measured once for all rows: operations per second; shares of the peak. */
struct bound_rates {
	double loop[N_BOUNDS], alone[BENCH_ALONE], peak;
};

/* A row's products outside its loop and its loop, both as short as they can be. */
static void bound_row(const struct profile_row *row, const struct bench_scores *scores,
                      const struct bound_rates *rates, double seconds, struct strbuf *sb)
{
	double n;
	enum bench_bound loop = loop_of(row, scores, &n);
	double outside = row->flop - n * bounds[loop].flop;
	double products = (outside > 0 ? outside : 0) / rates->loop[TILE_SPEED];
	double looping = n * bounds[loop].flop / rates->loop[loop],
	       alone = bench_alone_of(row, rates->alone);

	strbuf_addf(sb, "%-20s %-20s %8.2f %12.2f %10.2f %5.0f %%", row->part, row->op,
	            row->flop / 1e9, products * 1e3, looping * 1e3,
	            100 * row->flop / (products + looping) / rates->peak);
	if (alone > 0)
		strbuf_addf(sb, " %6.0f %%", 100 * alone);
	else
		strbuf_addf(sb, "%9s", "");
	strbuf_addf(sb, " %7.0f %%\n", 100 * row->flop / seconds / rates->peak);
}

void bench_bounds(struct ops *ops, struct bench_layers *l, const struct bench_scores *scores,
                  double peak, struct strbuf *sb)
{
	float *memory = floats_new((size_t)ops_threads(ops) * ROOM);
	struct bound_rates rates = {.peak = peak};

	memset(memory, 0, (size_t)ops_threads(ops) * ROOM * sizeof(float));
	for (size_t i = 0; i < N_BOUNDS; i++) {
		struct bounded_run r = {.ops = ops, .what = (enum bench_bound)i, .memory = memory};

		run_bounded(&r);
		rates.loop[i] = bench_share(ops, TURNS, run_bounded, &r) * peak;
	}
	free(memory);
	bench_alone(ops, rates.alone);
	strbuf_adds(sb, "\n");
	for (size_t i = 0; i < N_BOUNDS; i++)
		strbuf_addf(sb, "again and again: %-26s %6.0f GFLOP/s %5.0f %% of the peak\n",
		            bounds[i].title, rates.loop[i] / 1e9, 100 * rates.loop[i] / peak);
	strbuf_addf(sb, "%-20s %-20s %8s %12s %10s %7s %8s %9s\n", "part", "op", "GFLOP",
	            "products, ms", "loops, ms", "bound", "alone", "measured");
	for (size_t i = 0; i < l->n; i++)
		if (l->rows[i].flop > 0)
			bound_row(&l->rows[i], scores, &rates, bench_median(l, i), sb);
}

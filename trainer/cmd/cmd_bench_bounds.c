/*
 * bench --bounds: what forbids a part of a step more. Products alone cannot be faster than the
 * register tile with all operands in the first cache. Attentions weigh their scores between two
 * short products, so each has a loop of its own (cmd_bench_loops.h), which is measured again and
 * again in the same memory, and with its operands where a step's lie (cmd_bench_far.c). All are
 * measured here, by all threads at once and in turns with the steps. The bound of a part is: its
 * scores at its loop's speed, and the products that are not in the loop at the tile's.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "trainer/cmd/cmd_bench.h"
#include "trainer/cmd/cmd_bench_loops.h"
#include "trainer/ops/cpu.h"
#include "trainer/ops/floats.h"
#include "trainer/ops/kernels.h"
#include "trainer/ops/threads.h"

enum bench_bound { TILE_SPEED, SOFTMAX, SOFTMAX_GRADIENT, CROSS_FORWARD, CROSS_BACKWARD, N_BOUNDS };

/* flop: of the products in the loop, for each score. repeats: twenty milliseconds or so, beside
 * which waking a thread is little, on a virtual processor too, where it takes half of one. */
static const struct {
	loop_once *run;
	const char *title;
	double flop;
	int repeats;
} bounds[N_BOUNDS] = {
	[TILE_SPEED] = {loop_tile, "the register tile", 1, 60000},
	[SOFTMAX] = {loop_softmax, "a strip of attention", 2 * 2 * LOOP_DEPTH, 1600},
	[SOFTMAX_GRADIENT] = {loop_softmax_gradient, "a strip of its gradient", 3 * 2 * LOOP_DEPTH,
                              1600},
	[CROSS_FORWARD] = {loop_cross_forward, "a tile of folded attention", 2 * 2 * LOOP_CHANNELS,
                           8000},
	[CROSS_BACKWARD] = {loop_cross_backward, "a tile of its gradient", 3 * 2 * LOOP_CHANNELS,
                            8000},
};

/* ---- turns ----------------------------------------------------------------------------------- */

/* Shares of the peak: of the loops above, with operands where they lie, of ops alone. */
enum { FAR = N_BOUNDS, ALONE = FAR + BENCH_FAR, N_SHARES = ALONE + BENCH_ALONE };
enum { PASSES = 3 }; /* of a turn */

struct bench_bounds {
	struct ops *ops;
	enum bench_bound what; /* the loop at hand */
	float *memory;
	double done[1024]; /* by task */
	struct bench_far *far;
	struct bench_alone *alone;
	size_t room, taken;
	double *shares; /* [N_SHARES][room] */
};

static void repeat(void *ctx, size_t i, unsigned worker)
{
	struct bench_bounds *b = ctx;
	struct loop_memory m = loop_spread(b->memory + (size_t)worker * LOOP_ROOM);

	b->done[i] = 0;
	for (int k = 0; k < bounds[b->what].repeats; k++)
		b->done[i] += bounds[b->what].run(cpu_of(b->ops), &m);
}

/* Floating operations of the loop's products per second, all threads together. */
static double loop_once_more(struct bench_bounds *b, enum bench_bound what)
{
	unsigned n = ops_threads(b->ops);
	double start = clock_seconds();

	b->what = what;
	threads_run(cpu_of(b->ops)->threads, n, repeat, b);
	return b->done[0] * bounds[what].flop * n / (clock_seconds() - start);
}

static double share_once(struct bench_bounds *b, size_t i)
{
	double rate = i < FAR     ? loop_once_more(b, (enum bench_bound)i)
	              : i < ALONE ? bench_far_once(b->far, i - FAR)
	                          : bench_alone_once(b->alone, i - ALONE);

	return rate / bench_peak(b->ops, BENCH_PEAK_SHORT);
}

struct bench_bounds *bench_bounds_new(struct ops *ops, size_t steps)
{
	struct bench_bounds *b = mem_zalloc(sizeof(*b));
	size_t memory = (size_t)ops_threads(ops) * LOOP_ROOM;

	b->ops = ops;
	b->memory = floats_new(memory);
	memset(b->memory, 0, memory * sizeof(float));
	b->far = bench_far_new(ops);
	b->alone = bench_alone_new(ops);
	b->room = steps * PASSES;
	b->shares = mem_calloc(N_SHARES * b->room, sizeof(b->shares[0]));
	for (size_t i = 0; i < N_SHARES; i++)
		share_once(b, i); /* memory and caches */
	return b;
}

void bench_bounds_free(struct bench_bounds *b)
{
	if (b == NULL)
		return;
	bench_far_free(b->far);
	bench_alone_free(b->alone);
	free(b->memory);
	free(b->shares);
	free(b);
}

void bench_bounds_turn(struct bench_bounds *b)
{
	for (size_t k = 0; k < PASSES && b->taken < b->room; k++, b->taken++)
		for (size_t i = 0; i < N_SHARES; i++)
			b->shares[i * b->room + b->taken] = share_once(b, i);
}

/* ---- rows ------------------------------------------------------------------------------------ */

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

/* The medians: operations per second of the loops, then shares of the peak. */
struct bound_rates {
	double loop[N_BOUNDS], share[N_SHARES], peak, target;
};

static double bound_of(const struct bound_rates *rates, double flop, double looped, double rate)
{
	double outside = flop > looped ? (flop - looped) / rates->loop[TILE_SPEED] : 0;

	return flop / (outside + (looped > 0 ? looped / rate : 0)) / rates->peak;
}

static void add_share(struct strbuf *sb, double share)
{
	if (share > 0)
		strbuf_addf(sb, " %6.0f %%", 100 * share);
	else
		strbuf_addf(sb, "%9s", "");
}

/* A row's products outside its loop and its loop, both as short as they can be: with all operands
 * near, and with the loop's where they lie. */
static void bound_row(const struct profile_row *row, const struct bench_scores *scores,
                      const struct bound_rates *rates, double share, struct strbuf *sb)
{
	double n, far_flop, far;
	enum bench_bound loop = loop_of(row, scores, &n);
	double looped = n * bounds[loop].flop;
	double least = bound_of(rates, row->flop, looped, rates->loop[loop]);

	if (bench_far_of(row, &rates->share[FAR], &far_flop, &far))
		far = bound_of(rates, row->flop, n * far_flop, far * rates->peak);
	strbuf_addf(sb, "%-20s %-20s %8.2f", row->part, row->op, row->flop / 1e9);
	add_share(sb, least);
	add_share(sb, far);
	add_share(sb, bench_alone_of(row, &rates->share[ALONE]));
	add_share(sb, share);
	least = far > 0 ? far : least;
	if (share >= rates->target)
		strbuf_adds(sb, "  met\n");
	else
		strbuf_addf(sb, "  short; bound %.0f %%\n", 100 * least);
}

void bench_bounds_text(struct bench_bounds *b, const struct bench_layers *l,
                       const struct bench_scores *scores, double peak, struct strbuf *sb)
{
	struct bound_rates rates = {.peak = peak,
	                            .target = cpu_of(b->ops)->products->rounds ? 0.6 : 0.75};

	for (size_t i = 0; i < N_SHARES; i++)
		rates.share[i] = bench_middle(b->shares + i * b->room, b->taken);
	strbuf_adds(sb, "\n");
	for (size_t i = 0; i < N_BOUNDS; i++) {
		rates.loop[i] = rates.share[i] * peak;
		strbuf_addf(sb, "again and again: %-29s %5.0f %% of the peak\n", bounds[i].title,
		            100 * rates.share[i]);
	}
	bench_far_text(&rates.share[FAR], sb);
	strbuf_addf(sb, "%-20s %-20s %8s %8s %8s %8s %8s  of %.0f %%\n", "part", "op", "GFLOP",
	            "near", "far", "alone", "measured", 100 * rates.target);
	for (size_t i = 0; i < l->n; i++)
		if (l->rows[i].flop > 0)
			bound_row(&l->rows[i], scores, &rates, bench_row_share(l, i), sb);
}

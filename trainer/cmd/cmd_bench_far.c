/*
 * bench --bounds: the loops of the attentions with their operands where a step's lie.
 * What is left out is what could be left out: waiting for other threads, statistics, and what
 * happens once for a panel or a head. Each thread does as much as all others, and waits for none.
 *
 * The folded cross attention reads the data channels of all tokens anew for every panel of latents,
 * or for every two of them: the data are 9.6 MB, so they come from beyond the second cache.
 * Self attention packs its keys and values, which lie a layer's width apart, and copies its
 * queries: the register tile reads whole vectors of one and broadcasts a few rows of the other.
 * The decoder's packed keys and values are 1.6 MB each and come from the third cache for each block
 * of queries, and what it keeps of its scores goes there and comes back.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "trainer/cmd/cmd_bench.h"
#include "trainer/cmd/cmd_bench_heads.h"
#include "trainer/cmd/cmd_bench_loops.h"
#include "trainer/cmd/cmd_bench_wide.h"
#include "trainer/ops/floats.h"
#include "trainer/ops/threads.h"

enum {
	TILES = 896, /* of a clip of the full configuration: 16 x 56 rows of an image */
	TILE_DATA = LOOP_TOKENS * LOOP_CHANNELS,
	TILES_PASSED = 224 /* at once; the next time goes on where the last one ended */
};

struct bench_far {
	const struct ops *ops;
	const struct bench_far_row *row;
	float *data;   /* of all tokens, owned with what follows it */
	float *memory; /* of each thread */
	struct heads *heads;
	struct wide *wide;
	size_t tile;
	double scores[1024]; /* by thread */
};

/* Tiles of the folded attention: the panels at hand share what is read of the data. */
static double pass_tiles(const struct bench_far *r, loop_once *once, size_t panels, unsigned worker)
{
	const struct cpu *ops = cpu_of(r->ops);
	struct loop_memory m[2];
	size_t step = (size_t)TILE_DATA / ops->products->per, all = TILES * step;
	const float *columns = ops->products->rounds ? r->data + all : r->data;
	double scores = 0;

	for (size_t p = 0; p < panels; p++) {
		m[p] = loop_spread(r->memory + ((size_t)worker * 2 + p) * LOOP_ROOM);
		m[p].next_rows = m[p].next_columns = NULL;
		m[p].area[2] = m[0].area[2]; /* a tile's scores, and dP, are done with */
		m[p].area[3] = m[0].area[3];
	}
	for (size_t i = 0; i < TILES_PASSED; i++) {
		size_t at = (r->tile + i) % TILES * step, next = (r->tile + i + 1) % TILES * step;

		m[0].next_rows = r->data + next;
		m[0].next_columns = columns + next;
		for (size_t p = 0; p < panels; p++) {
			m[p].rows = r->data + at;
			m[p].columns = columns + at;
			scores += once(ops, &m[p]);
		}
	}
	return scores;
}

static double forward_one(const struct bench_far *r, unsigned worker)
{
	return pass_tiles(r, loop_cross_forward, 1, worker);
}

static double forward_two(const struct bench_far *r, unsigned worker)
{
	return pass_tiles(r, loop_cross_forward, 2, worker);
}

static double backward_one(const struct bench_far *r, unsigned worker)
{
	return pass_tiles(r, loop_cross_backward, 1, worker);
}

static double backward_two(const struct bench_far *r, unsigned worker)
{
	return pass_tiles(r, loop_cross_backward, 2, worker);
}

static double head_forward(const struct bench_far *r, unsigned worker)
{
	return heads_forward(r->heads, worker);
}

static double head_backward(const struct bench_far *r, unsigned worker)
{
	return heads_backward(r->heads, worker);
}

static double wide_head_forward(const struct bench_far *r, unsigned worker)
{
	return wide_forward(r->wide, worker);
}

static double wide_head_backward(const struct bench_far *r, unsigned worker)
{
	return wide_backward(r->wide, worker);
}

/* What is measured; flop: of the products, for each score. Of two rows for one op the faster one
 * bounds it. */
struct bench_far_row {
	const char *part, *op, *title;
	double (*run)(const struct bench_far *r, unsigned worker);
	double flop;
};

static const struct bench_far_row rows[BENCH_FAR] = {
	{"cross attention", "attention forward", "tiles, data for one panel", forward_one,
         2 * 2 * LOOP_CHANNELS},
	{"cross attention", "attention forward", "tiles, data for two panels", forward_two,
         2 * 2 * LOOP_CHANNELS},
	{"cross attention", "attention backward", "its gradient, one panel", backward_one,
         3 * 2 * LOOP_CHANNELS},
	{"cross attention", "attention backward", "its gradient, two panels", backward_two,
         3 * 2 * LOOP_CHANNELS},
	{"self attention", "attention forward", "a head of self attention", head_forward,
         2 * 2 * LOOP_DEPTH},
	{"self attention", "attention backward", "its gradient", head_backward, 5 * 2 * LOOP_DEPTH},
	{"decoder", "attention forward", "the decoder's head", wide_head_forward,
         2 * 2 * WIDE_DEPTH},
	{"decoder", "attention backward", "its gradient", wide_head_backward, 5 * 2 * WIDE_DEPTH},
};

static void far_task(void *ctx, size_t i, unsigned worker)
{
	struct bench_far *r = ctx;

	r->scores[i] = r->row->run(r, worker);
}

double bench_far_once(struct bench_far *r, size_t row)
{
	unsigned n = ops_threads(r->ops);
	double start = clock_seconds(), rate;

	r->row = &rows[row];
	threads_run(cpu_of(r->ops)->threads, n, far_task, r);
	rate = r->scores[0] * r->row->flop * n / (clock_seconds() - start);
	r->tile = (r->tile + TILES_PASSED) % TILES;
	return rate;
}

struct bench_far *bench_far_new(struct ops *ops)
{
	unsigned n = ops_threads(ops);
	/* at most as many places as values, once by rows and once by columns */
	size_t data = (size_t)TILES * TILE_DATA, room = (size_t)n * 2 * LOOP_ROOM;
	struct bench_far *r = mem_zalloc(sizeof(*r));

	r->ops = ops;
	r->data = floats_new(data + room);
	r->memory = r->data + data;
	memset(r->data, 0, (data + room) * sizeof(float));
	r->heads = heads_new(cpu_of(ops), n);
	r->wide = wide_new(cpu_of(ops), n);
	return r;
}

void bench_far_free(struct bench_far *r)
{
	heads_free(r->heads, ops_threads(r->ops));
	wide_free(r->wide);
	free(r->data);
	free(r);
}

void bench_far_text(const double *share, struct strbuf *sb)
{
	for (size_t i = 0; i < BENCH_FAR; i++)
		strbuf_addf(sb, "where operands lie: %-27s %5.0f %% of the peak\n", rows[i].title,
		            100 * share[i]);
}

bool bench_far_of(const struct profile_row *row, const double *share, double *ret_flop,
                  double *ret_share)
{
	*ret_flop = *ret_share = 0;
	for (size_t i = 0; i < BENCH_FAR; i++) {
		if (strcmp(row->part, rows[i].part) != 0 || strcmp(row->op, rows[i].op) != 0)
			continue;
		*ret_flop = rows[i].flop;
		*ret_share = share[i] > *ret_share ? share[i] : *ret_share;
	}
	return *ret_share > 0;
}

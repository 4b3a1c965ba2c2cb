/*
 * The order of work is that of attention_backward.c: a block of queries walks over all strips of
 * keys, and its P and dS are kept for the sums over the queries that follow. Packed keys and values
 * are the threads' together and come from the third cache; packing itself is left out, and so is
 * that threads' shares of dk and dv are not whole.
 */
#include "trainer/cmd/cmd_bench_wide.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/cmd/cmd_bench_heads.h"
#include "trainer/ops/attention_gradient.h"
#include "trainer/ops/floats.h"
#include "trainer/ops/gemm.h"

/* The decoder of the full configuration. */
enum { QUERIES = 1025, KEYS = 784, DEPTH = WIDE_DEPTH, COLUMNS = 128 };

/* A thread's memory. */
struct wide_thread {
	struct gradient_work work;
	float *scores, *max, *sum, *o;   /* of a block: forward; o is its share of dq, too */
	float *queries, *d_o;            /* packed by query */
	float *prob, *ds, *dk, *dvalues; /* of all its queries */
};

struct wide {
	struct op_attention p;
	struct attention_run a;
	size_t blocks, rows, kept; /* of a thread: blocks of queries, queries; values of P in each
	                            * strip */
	size_t o_row;
	float *memory, *q, *k, *values, *d_o, *lse, *delta;
	float *keys_t, *values_t, *keys, *values_n; /* packed by channel and by key */
	struct wide_thread *threads;
};

static size_t lay_out_all(float *at, struct wide *w)
{
	size_t nr = w->a.kernels->nr, panels = attention_up(KEYS, nr) * DEPTH;
	const struct piece pieces[] = {{&w->q, QUERIES * DEPTH},   {&w->k, KEYS * DEPTH},
	                               {&w->values, KEYS * DEPTH}, {&w->d_o, QUERIES * DEPTH},
	                               {&w->lse, QUERIES},         {&w->delta, QUERIES},
	                               {&w->keys_t, panels},       {&w->values_t, panels},
	                               {&w->keys, panels},         {&w->values_n, panels}};

	return attention_lay_out(pieces, sizeof(pieces) / sizeof(pieces[0]), at);
}

static size_t lay_out_thread(const struct wide *w, float *at, struct wide_thread *t)
{
	const struct attention_run *a = &w->a;
	size_t nr = a->kernels->nr, panels = w->rows * attention_up(DEPTH, nr),
	       kept = a->strips * w->kept + 16;
	const struct piece pieces[] = {{&t->scores, ATTENTION_QUERIES * a->strip},
	                               {&t->max, ATTENTION_QUERIES},
	                               {&t->sum, ATTENTION_QUERIES * nr},
	                               {&t->o, ATTENTION_QUERIES * w->o_row},
	                               {&t->queries, panels},
	                               {&t->d_o, panels},
	                               {&t->prob, kept},
	                               {&t->ds, kept},
	                               {&t->dk, KEYS * DEPTH},
	                               {&t->dvalues, KEYS * DEPTH}};
	size_t n = attention_lay_out(pieces, sizeof(pieces) / sizeof(pieces[0]), at);

	return n + gradient_lay_out(a, at != NULL ? at + n : NULL, &t->work);
}

struct wide *wide_new(const struct cpu *ops, unsigned n)
{
	struct wide *w = mem_zalloc(sizeof(*w));
	struct wide_thread sizes;
	size_t all, each;

	w->p = (struct op_attention){
		.batch = 1, .heads = 1, .nq = QUERIES, .nk = KEYS, .qk = DEPTH, .v = DEPTH};
	w->a = attention_start(ops, &w->p);
	/* whole blocks, and as many for each; with more threads than blocks some do the same */
	w->blocks = QUERIES / ATTENTION_QUERIES / n > 0 ? QUERIES / ATTENTION_QUERIES / n : 1;
	w->rows = w->blocks * ATTENTION_QUERIES;
	w->kept = w->rows / ops->products->per * w->a.strip;
	w->o_row = gemm_stride(attention_up(DEPTH, ops->kernels->nr));
	w->threads = mem_calloc(n, sizeof(w->threads[0]));
	all = lay_out_all(NULL, w);
	each = lay_out_thread(w, NULL, &sizes);
	w->memory = floats_new(all + n * each);
	memset(w->memory, 0, (all + n * each) * sizeof(float));
	lay_out_all(w->memory, w);
	for (unsigned i = 0; i < n; i++)
		lay_out_thread(w, w->memory + all + i * each, &w->threads[i]);
	w->p.q = w->q;
	w->p.k = w->k;
	w->p.values = w->values;
	w->p.d_o = w->d_o;
	w->p.lse = w->lse;
	return w;
}

void wide_free(struct wide *w)
{
	free(w->memory);
	free(w->threads);
	free(w);
}

/* The i-th block of a thread's. */
static struct query_block block_of(const struct wide *w, unsigned thread, size_t i)
{
	size_t whole = QUERIES / ATTENTION_QUERIES;

	return attention_block(&w->a, 0, 0, (thread * w->blocks + i) % whole);
}

/* ---- forward --------------------------------------------------------------------------------- */

double wide_forward(struct wide *w, unsigned thread)
{
	const struct wide_thread *t = &w->threads[thread];
	const struct forward_block f = {.keys_t = w->keys_t,
	                                .values = w->values_n,
	                                .q = t->work.q,
	                                .scores = t->scores,
	                                .max = t->max,
	                                .sum = t->sum,
	                                .o = t->o,
	                                .o_row = w->o_row};

	for (size_t i = 0; i < w->blocks; i++) {
		struct query_block q = block_of(w, thread, i);

		heads_forward_block(&w->a, &q, &f);
	}
	return (double)w->rows * KEYS;
}

/* ---- backward -------------------------------------------------------------------------------- */

/* P, dS and dq of the thread's i-th block. */
static void weigh_block(const struct wide *w, unsigned thread, size_t i)
{
	const struct attention_run *a = &w->a;
	const struct wide_thread *t = &w->threads[thread];
	struct query_block q = block_of(w, thread, i);
	size_t row = i * ATTENTION_QUERIES / a->products->per * a->strip;

	gradient_start(a, &q, &t->work);
	for (size_t j = 0; j < a->strips; j++) {
		struct strip strip = attention_strip(a, j);
		struct gradient_strip s = {.strip = strip,
		                           .keys_t = w->keys_t + strip.k0 * a->qk_places,
		                           .values_t = w->values_t + strip.k0 * a->v_places,
		                           .prob = t->prob + j * w->kept + row,
		                           .ds = t->ds + j * w->kept + row};
		struct attention_sum sum = {
			.weights = gradient_tile(a, &q, w->delta + q.q0, &s, &t->work),
			.packed = w->keys + gemm_places(a->products, strip.k0) * a->kernels->nr,
			.panel = a->kernels->nr * a->nk_places,
			.to = t->o,
			.to_row = w->o_row,
			.accumulate = j > 0};

		attention_gather(a, &q, &strip, DEPTH, &sum);
	}
}

/* Columns from c on of a strip's dk or dvalues. */
static void sum_columns(const struct wide *w, size_t j, size_t c, const float *kept,
                        const float *packed, float *to)
{
	const struct attention_run *a = &w->a;
	struct strip strip = attention_strip(a, j);
	size_t places = gemm_places(a->products, w->rows), nr = a->kernels->nr;

	for (size_t i = 0; i < places; i += GRADIENT_QUERIES) {
		size_t left = places - i;
		struct gradient_sum s = {.places =
		                                 left < GRADIENT_QUERIES ? left : GRADIENT_QUERIES,
		                         .panel = nr * places,
		                         .kept = kept + j * w->kept + i * a->strip,
		                         .packed = packed + c * places + i * nr,
		                         .to = to + strip.k0 * DEPTH + c,
		                         .to_row = DEPTH,
		                         .accumulate = i > 0};

		gradient_sum(a, &strip, COLUMNS, &s);
	}
}

double wide_backward(struct wide *w, unsigned thread)
{
	const struct wide_thread *t = &w->threads[thread];

	for (size_t i = 0; i < w->blocks; i++)
		weigh_block(w, thread, i);
	for (size_t j = 0; j < w->a.strips; j++) {
		for (size_t c = 0; c < DEPTH; c += COLUMNS) {
			sum_columns(w, j, c, t->ds, t->queries, t->dk);
			sum_columns(w, j, c, t->prob, t->d_o, t->dvalues);
		}
	}
	return (double)w->rows * KEYS;
}

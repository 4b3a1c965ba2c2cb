#include "trainer/cmd/cmd_bench_heads.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/ops/attention_gradient.h"
#include "trainer/ops/floats.h"
#include "trainer/ops/gemm.h"

/* A layer of the full configuration's encoder. */
enum { ROWS = 784, WIDTH = 512, HEADS = 8, DEPTH = WIDTH / HEADS, MATRIX = ROWS * WIDTH };

/* A thread's matrices and memory, all 0. */
struct heads {
	struct op_attention p;
	struct attention_run a;
	float *memory;                         /* of all that follows; owned */
	float *q, *k, *values, *d_o, *lse;     /* of the layer */
	float *keys_t, *values_t;              /* packed by channel */
	float *keys, *queries, *packed;        /* packed by row: values or d_o in the last */
	float *scores, *max, *sum, *o, *delta; /* of a block of queries */
	float *prob, *ds, *dk, *dv, *dq;
	struct gradient_work work;
	size_t head;
};

static size_t lay_out(const struct attention_run *a, float *at, struct heads *h)
{
	size_t nr = a->kernels->nr, panels = attention_up(ROWS, nr) * attention_up(DEPTH, nr);
	size_t kept = (size_t)GRADIENT_QUERIES * a->products->per * a->strip + 16;
	const struct piece pieces[] = {{&h->q, MATRIX},
	                               {&h->k, MATRIX},
	                               {&h->values, MATRIX},
	                               {&h->d_o, MATRIX},
	                               {&h->lse, HEADS * ROWS},
	                               {&h->keys_t, panels},
	                               {&h->values_t, panels},
	                               {&h->keys, panels},
	                               {&h->queries, panels},
	                               {&h->packed, panels},
	                               {&h->scores, ATTENTION_QUERIES * a->strip},
	                               {&h->max, ATTENTION_QUERIES},
	                               {&h->sum, ATTENTION_QUERIES * nr},
	                               {&h->o, panels},
	                               {&h->delta, ROWS},
	                               {&h->prob, kept},
	                               {&h->ds, kept},
	                               {&h->dk, panels},
	                               {&h->dv, panels},
	                               {&h->dq, panels}};
	size_t n = attention_lay_out(pieces, sizeof(pieces) / sizeof(pieces[0]), at);

	return n + gradient_lay_out(a, at != NULL ? at + n : NULL, &h->work);
}

static void start(const struct cpu *ops, struct heads *h)
{
	size_t n;

	h->p = (struct op_attention){
		.batch = 1, .heads = HEADS, .nq = ROWS, .nk = ROWS, .qk = DEPTH, .v = DEPTH};
	h->a = attention_start(ops, &h->p);
	n = lay_out(&h->a, NULL, h);
	h->memory = floats_new(n);
	memset(h->memory, 0, n * sizeof(float));
	lay_out(&h->a, h->memory, h);
	h->p.q = h->q;
	h->p.k = h->k;
	h->p.values = h->values;
	h->p.d_o = h->d_o;
	h->p.lse = h->lse;
}

struct heads *heads_new(const struct cpu *ops, unsigned n)
{
	struct heads *all = mem_calloc(n, sizeof(all[0]));

	for (unsigned i = 0; i < n; i++)
		start(ops, &all[i]);
	return all;
}

void heads_free(struct heads *all, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		free(all[i].memory);
	free(all);
}

/* ---- forward --------------------------------------------------------------------------------- */

void heads_forward_block(const struct attention_run *a, const struct query_block *q,
                         const struct forward_block *f)
{
	struct softmax_tile tile = {.rows = q->rows,
	                            .row = a->strip,
	                            .scale = a->scale,
	                            .s = f->scores,
	                            .max = f->max,
	                            .sum = f->sum,
	                            .o = f->o,
	                            .o_row = f->o_row};

	attention_copy_rows(a, q, a->p->qk, attention_q(a, q->b, q->h), a->ld_qk, f->q);
	for (size_t k = 0; k < a->strips; k++) {
		struct strip strip = attention_strip(a, k);
		struct attention_sum sum = {
			.weights = f->scores,
			.packed = f->values + gemm_places(a->products, strip.k0) * a->kernels->nr,
			.panel = a->kernels->nr * a->nk_places,
			.to = f->o,
			.to_row = f->o_row,
			.accumulate = k > 0};

		attention_scores(a, q, &strip, a->qk_places, f->q,
		                 f->keys_t + strip.k0 * a->qk_places, f->scores);
		tile.n = strip.n;
		a->kernels->softmax(&tile);
		attention_gather(a, q, &strip, a->p->v, &sum);
	}
}

double heads_forward(struct heads *all, unsigned thread)
{
	struct heads *h = &all[thread];
	const struct attention_run *a = &h->a;
	const struct forward_block f = {.keys_t = h->keys_t,
	                                .values = h->packed,
	                                .q = h->work.q,
	                                .scores = h->scores,
	                                .max = h->max,
	                                .sum = h->sum,
	                                .o = h->o,
	                                .o_row = attention_up(DEPTH, a->kernels->nr)};

	attention_pack(a, DEPTH, ROWS, attention_k(a, 0, h->head), 1, a->ld_qk, h->keys_t);
	attention_pack(a, ROWS, DEPTH, attention_values(a, 0, h->head), a->ld_v, 1, h->packed);
	for (size_t i = 0; i < a->q_blocks; i++) {
		struct query_block q = attention_block(a, 0, h->head, i);

		heads_forward_block(a, &q, &f);
	}
	h->head = (h->head + 1) % HEADS;
	return (double)ROWS * ROWS;
}

/* ---- backward -------------------------------------------------------------------------------- */

/* P, dS and the share of dq of queries [q0, q0 + n) with a strip. */
static void weigh_queries(struct heads *h, const struct strip *strip, size_t q0, size_t n)
{
	const struct attention_run *a = &h->a;

	for (size_t i = q0; i < q0 + n; i += ATTENTION_QUERIES) {
		struct query_block q = attention_block(a, 0, h->head, i / ATTENTION_QUERIES);
		size_t at = (i - q0) / a->products->per * a->strip;
		struct gradient_strip s = {*strip, h->keys_t, h->values_t, h->prob + at,
		                           h->ds + at};
		struct attention_sum sum = {.packed = h->keys,
		                            .panel = gemm_places(a->products, strip->n) *
		                                     a->kernels->nr,
		                            .to = h->dq,
		                            .to_row = attention_up(DEPTH, a->kernels->nr)};

		gradient_start(a, &q, &h->work);
		sum.weights = gradient_tile(a, &q, h->delta + i, &s, &h->work);
		attention_gather(a, &q, strip, DEPTH, &sum);
	}
}

static void sum_queries(struct heads *h, const struct strip *strip, size_t q0, size_t n)
{
	const struct attention_run *a = &h->a;
	size_t nr = a->kernels->nr, at = q0 / a->products->per * nr;
	struct gradient_sum dk = {.places = gemm_places(a->products, n),
	                          .panel = nr * a->nq_places,
	                          .kept = h->ds,
	                          .packed = h->queries + at,
	                          .to = h->dk,
	                          .to_row = attention_up(DEPTH, nr),
	                          .accumulate = q0 > 0};
	struct gradient_sum dv = dk;

	dv.kept = h->prob;
	dv.packed = h->packed + at;
	dv.to = h->dv;
	gradient_sum(a, strip, DEPTH, &dk);
	gradient_sum(a, strip, DEPTH, &dv);
}

static void backward_strip(struct heads *h, const struct strip *strip)
{
	const struct attention_run *a = &h->a;
	const float *k = attention_k(a, 0, h->head) + strip->k0 * a->ld_qk;
	const float *values = attention_values(a, 0, h->head) + strip->k0 * a->ld_v;
	size_t some = GRADIENT_QUERIES * a->products->per;

	attention_pack(a, DEPTH, strip->n, k, 1, a->ld_qk, h->keys_t);
	attention_pack(a, DEPTH, strip->n, values, 1, a->ld_v, h->values_t);
	attention_pack(a, strip->n, DEPTH, k, a->ld_qk, 1, h->keys);
	for (size_t q0 = 0; q0 < ROWS; q0 += some) {
		size_t n = ROWS - q0 < some ? ROWS - q0 : some;

		weigh_queries(h, strip, q0, n);
		sum_queries(h, strip, q0, n);
	}
}

double heads_backward(struct heads *all, unsigned thread)
{
	struct heads *h = &all[thread];
	const struct attention_run *a = &h->a;

	attention_pack(a, ROWS, DEPTH, attention_q(a, 0, h->head), a->ld_qk, 1, h->queries);
	attention_pack(a, ROWS, DEPTH, h->p.d_o + attention_o_at(a, 0, h->head), a->ld_v, 1,
	               h->packed);
	for (size_t i = 0; i < a->strips; i++) {
		struct strip strip = attention_strip(a, i);

		backward_strip(h, &strip);
	}
	h->head = (h->head + 1) % HEADS;
	return (double)ROWS * ROWS;
}

/*
 * Attention backward by strips of keys: a task owns a strip of one head and goes through all its
 * queries, some blocks of them at a time. Their P and dS are summed into the strip's dk and dv as
 * soon as they are there, from the second cache, and are never seen beyond it. What each strip adds
 * to dq is kept apart. So there are three kinds of tasks: what all strips read of the queries is
 * packed; the strips; what they add to dq is added up in their order. They are one round, and each
 * kind waits for what it reads: whoever is done with his last strip adds up other heads' shares.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/ops/attention_gradient.h"
#include "trainer/ops/gemm.h"
#include "trainer/ops/threads.h"

struct strips_run {
	const struct attention_run *a;
	size_t b;
	float *queries, *d_o; /* of each head, packed by query */
	size_t queries_n, d_o_n;
	float *rows; /* [heads][blocks]: of q and of d_o, as all strips multiply them */
	size_t rows_n;
	float *delta; /* [heads][queries] */
	float *dq;    /* [heads][strips][queries][dq_row]: what each strip adds */
	size_t dq_row;
	atomic_size_t prepared; /* blocks of queries */
	atomic_size_t *summed;  /* [heads]: strips */
	float *work;
	size_t work_each;
};

/* A task's memory: panels of the strip, P and dS of the queries at hand, and the strip's sums. */
struct strip_work {
	struct gradient_work block;
	float *keys_t, *values_t, *keys;
	float *prob, *ds;
	float *dk, *dv;
};

static size_t lay_out(const struct attention_run *a, float *at, struct strip_work *w)
{
	size_t nr = a->kernels->nr, qk = attention_up(a->p->qk, nr), v = attention_up(a->p->v, nr);
	size_t kept = GRADIENT_QUERIES * a->strip + 16; /* pack_columns' more */
	size_t block = gradient_lay_out(a, at, &w->block);
	const struct piece pieces[] = {{&w->keys_t, a->strip * a->qk_places},
	                               {&w->values_t, a->strip * a->v_places},
	                               {&w->keys, gemm_places(a->products, a->strip) * qk},
	                               {&w->prob, kept},
	                               {&w->ds, kept},
	                               {&w->dk, a->strip * qk},
	                               {&w->dv, a->strip * v}};

	return block + attention_lay_out(pieces, sizeof(pieces) / sizeof(pieces[0]),
	                                 at != NULL ? at + block : NULL);
}

/* ---- blocks of queries ----------------------------------------------------------------------- */

/* Rows [q0, q0 + rows) of all panels of x, [queries][n], in places. */
static void pack_rows(const struct attention_run *a, const struct query_block *q, size_t n,
                      const float *x, size_t x_row, float *to)
{
	size_t nr = a->kernels->nr;

	for (size_t i = 0; i < n; i += nr)
		a->products->pack(q->rows, n - i < nr ? n - i : nr, x + q->q0 * x_row + i, x_row, 1,
		                  to + i * a->nq_places + q->q0 / a->products->per * nr);
}

/* Where the rows of a head's i-th block are, once for all strips. */
static void rows_of(const struct strips_run *r, size_t h, size_t i, struct gradient_work *w)
{
	w->q = r->rows + (h * r->a->q_blocks + i) * r->rows_n;
	w->d_o = w->q + attention_copy_room(r->a, r->a->p->qk);
}

/* A block of queries, for all heads: their rows lie side by side. */
static void prepare_block(struct strips_run *r, size_t i)
{
	const struct attention_run *a = r->a;
	const struct op_attention *p = a->p;
	struct gradient_work rows;

	for (size_t h = 0; h < p->heads; h++) {
		struct query_block q = attention_block(a, r->b, h, i);

		pack_rows(a, &q, p->qk, attention_q(a, r->b, h), a->ld_qk,
		          r->queries + h * r->queries_n);
		pack_rows(a, &q, p->v, p->d_o + attention_o_at(a, r->b, h), a->ld_v,
		          r->d_o + h * r->d_o_n);
		gradient_deltas(a, &q, r->delta + h * p->nq + q.q0);
		rows_of(r, h, i, &rows);
		gradient_start(a, &q, &rows);
	}
	threads_done(&r->prepared);
}

/* ---- strips ---------------------------------------------------------------------------------- */

/* A strip of one head of one clip, and its memory. */
struct strip_task {
	const struct strips_run *r;
	size_t h;
	struct strip strip;
	size_t keys_panel;
	float *dq;
	struct strip_work w;
};

static void pack_strip(const struct strip_task *t)
{
	const struct attention_run *a = t->r->a;
	const struct op_attention *p = a->p;
	const float *k = attention_k(a, t->r->b, t->h) + t->strip.k0 * a->ld_qk;
	const float *values = attention_values(a, t->r->b, t->h) + t->strip.k0 * a->ld_v;

	attention_pack(a, p->qk, t->strip.n, k, 1, a->ld_qk, t->w.keys_t);
	attention_pack(a, p->v, t->strip.n, values, 1, a->ld_v, t->w.values_t);
	attention_pack(a, t->strip.n, p->qk, k, a->ld_qk, 1, t->w.keys);
}

/* P, dS and the share of dq of queries [q0, q0 + n). */
static void weigh_queries(struct strip_task *t, size_t q0, size_t n)
{
	const struct attention_run *a = t->r->a;

	for (size_t i = q0; i < q0 + n; i += ATTENTION_QUERIES) {
		struct query_block q = attention_block(a, t->r->b, t->h, i / ATTENTION_QUERIES);
		size_t at = (i - q0) / a->products->per * a->strip;
		struct gradient_strip s = {t->strip, t->w.keys_t, t->w.values_t, t->w.prob + at,
		                           t->w.ds + at};
		struct attention_sum sum = {.packed = t->w.keys,
		                            .panel = t->keys_panel,
		                            .to = t->dq + i * t->r->dq_row,
		                            .to_row = t->r->dq_row};

		rows_of(t->r, t->h, i / ATTENTION_QUERIES, &t->w.block);
		sum.weights =
			gradient_tile(a, &q, t->r->delta + t->h * a->p->nq + i, &s, &t->w.block);
		attention_gather(a, &q, &t->strip, a->p->qk, &sum);
	}
}

/* Adds what these queries give to the strip's dk and dv. */
static void sum_queries(const struct strip_task *t, size_t q0, size_t n)
{
	const struct attention_run *a = t->r->a;
	const struct op_attention *p = a->p;
	size_t nr = a->kernels->nr, at = q0 / a->products->per * nr;
	struct gradient_sum dk = {.places = gemm_places(a->products, n),
	                          .panel = nr * a->nq_places,
	                          .kept = t->w.ds,
	                          .packed = t->r->queries + t->h * t->r->queries_n + at,
	                          .to = t->w.dk,
	                          .to_row = attention_up(p->qk, nr),
	                          .accumulate = q0 > 0};
	struct gradient_sum dv = dk;

	dv.kept = t->w.prob;
	dv.packed = t->r->d_o + t->h * t->r->d_o_n + at;
	dv.to = t->w.dv;
	dv.to_row = attention_up(p->v, nr);
	gradient_sum(a, &t->strip, p->qk, &dk);
	gradient_sum(a, &t->strip, p->v, &dv);
}

static void store_strip(const struct strip_task *t)
{
	const struct attention_run *a = t->r->a;
	const struct op_attention *p = a->p;
	size_t nr = a->kernels->nr, key = t->r->b * p->nk + t->strip.k0;

	for (size_t i = 0; i < t->strip.n; i++) {
		memcpy(p->dk + (key + i) * a->ld_qk + t->h * p->qk,
		       t->w.dk + i * attention_up(p->qk, nr), p->qk * sizeof(float));
		memcpy(p->dvalues + (key + i) * a->ld_v + t->h * p->v,
		       t->w.dv + i * attention_up(p->v, nr), p->v * sizeof(float));
	}
}

/* Strip by strip of a head: the last one may be narrower. */
static void run_strip(struct strips_run *r, size_t i, unsigned worker)
{
	const struct attention_run *a = r->a;
	size_t nq = a->p->nq, some = GRADIENT_QUERIES * a->products->per;
	struct strip_task t = {.r = r, .h = i / a->strips};

	t.strip = attention_strip(a, i % a->strips);
	t.keys_panel = gemm_places(a->products, t.strip.n) * a->kernels->nr;
	t.dq = r->dq + i * nq * r->dq_row;
	lay_out(a, r->work + worker * r->work_each, &t.w);
	pack_strip(&t);
	threads_await(&r->prepared, a->q_blocks);
	for (size_t q0 = 0; q0 < nq; q0 += some) {
		size_t n = nq - q0 < some ? nq - q0 : some;

		weigh_queries(&t, q0, n);
		sum_queries(&t, q0, n);
	}
	store_strip(&t);
	threads_done(&r->summed[t.h]);
}

/* ---- shares of dq ---------------------------------------------------------------------------- */

/* dq of a block of queries of one head: what the strips add, in their order. */
static void add_shares(struct strips_run *r, size_t i)
{
	const struct attention_run *a = r->a;
	struct query_block q = attention_block(a, r->b, i / a->q_blocks, i % a->q_blocks);
	size_t share = a->p->nq * r->dq_row;
	float *sum = r->dq + q.h * a->strips * share + q.q0 * r->dq_row;

	threads_await(&r->summed[q.h], a->strips);
	for (size_t j = 1; j < a->strips; j++)
		a->kernels->add(sum, sum + j * share, q.rows * r->dq_row);
	gradient_finish(a, &q, sum, r->dq_row);
}

static void run_task(void *ctx, size_t i, unsigned worker)
{
	struct strips_run *r = ctx;
	size_t blocks = r->a->q_blocks, strips = r->a->p->heads * r->a->strips;

	if (i < blocks)
		prepare_block(r, i);
	else if (i < blocks + strips)
		run_strip(r, i - blocks, worker);
	else
		add_shares(r, i - blocks - strips);
}

static void run_clip(struct cpu *ops, struct strips_run *r)
{
	const struct attention_run *a = r->a;
	size_t heads = a->p->heads;

	atomic_store_explicit(&r->prepared, 0, memory_order_relaxed);
	for (size_t h = 0; h < heads; h++)
		atomic_store_explicit(&r->summed[h], 0, memory_order_relaxed);
	threads_run(ops->threads, a->q_blocks + heads * (a->strips + a->q_blocks), run_task, r);
}

bool attention_strips_suit(const struct attention_run *a, unsigned threads)
{
	enum { NEAR = 1 << 18, EACH = 8 }; /* values; tasks of a thread */
	struct strip_work sizes;

	return a->p->heads * a->strips >= (size_t)EACH * threads &&
	       lay_out(a, NULL, &sizes) <= NEAR;
}

void attention_strips_backward(struct cpu *ops, const struct attention_run *a)
{
	struct strip_work sizes;
	const struct op_attention *p = a->p;
	size_t nr = a->kernels->nr, qk = attention_up(p->qk, nr);
	struct strips_run r = {.a = a,
	                       .queries_n = a->nq_places * qk,
	                       .d_o_n = a->nq_places * attention_up(p->v, nr),
	                       .rows_n =
	                               attention_copy_room(a, p->qk) + attention_copy_room(a, p->v),
	                       .dq_row = qk,
	                       .summed = mem_calloc(p->heads, sizeof(r.summed[0])),
	                       .work_each = lay_out(a, NULL, &sizes)};
	const struct piece pieces[] = {{&r.queries, p->heads * r.queries_n},
	                               {&r.d_o, p->heads * r.d_o_n},
	                               {&r.rows, p->heads * a->q_blocks * r.rows_n},
	                               {&r.delta, p->heads * p->nq},
	                               {&r.dq, p->heads * a->strips * p->nq * qk},
	                               {&r.work, threads_count(ops->threads) * r.work_each}};
	size_t n = sizeof(pieces) / sizeof(pieces[0]);

	attention_lay_out(pieces, n, ops_scratch(ops, attention_lay_out(pieces, n, NULL)));
	for (r.b = 0; r.b < p->batch; r.b++)
		run_clip(ops, &r);
	free(r.summed);
}

/*
 * Attention backward, as a pipeline over groups of heads. For each group, the first stage packs its
 * matrices; the second, block of queries by block, computes the probabilities again from the saved
 * log-sum-exp, then dS, then dq, and keeps P and dS; the third sums these over the queries into dk
 * and dv. Each stage is a turn behind the one before it, and a turn has all three of neighbouring
 * groups. All turns are one loop of the threads, who meet at its end alone: a task waits for those
 * which make what it reads or read what it writes over, and these come before it. So even a single
 * head's first sums are made while its last queries are weighed.
 *
 * P and dS are kept strip by strip of keys, [strip][query][keys of a strip]: what the sums over
 * the queries read lies one line after another.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "trainer/ops/attention_gradient.h"
#include "trainer/ops/fast.h"
#include "trainer/ops/gemm.h"
#include "trainer/ops/threads.h"

enum {
	HELD = 1 << 20, /* values of P and dS held for a group, about */
	PACKS = 3,      /* groups whose packed matrices are in use */
	KEPT = 2        /* groups whose P and dS are */
};

/* Panels of one head, or of a group one head after another: keys and values by channel, keys by
 * key, queries and d_o by query. And the
 * queries' deltas. */
struct packs {
	float *keys_t, *values_t, *keys, *queries, *d_o, *delta;
};

struct backward_run {
	struct attention_run a;
	size_t group, groups; /* heads of a group; groups of all clips together */
	struct packs packs[PACKS];
	size_t keys_t_n, values_t_n, keys_n, queries_n, d_o_n;
	float *prob[KEPT], *ds[KEPT];
	size_t kept_n, dq_row;
	float *work;
	size_t work_each;
	size_t *first; /* [turns + 1]: each turn's first task */
	/* what is done: of a group its matrices and its sums, of a head its blocks of queries by
	 * span of GRADIENT_QUERIES places */
	atomic_size_t *packed, *summed, *weighed;
	size_t spans;
};

/* Group number i: heads [h0, h0 + heads) of clip b. */
struct group {
	size_t i, b, h0, heads;
};

/* A task's memory. */
struct backward_work {
	struct gradient_work block;
	float *dq;
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t lay_out(const struct backward_run *r, float *at, struct backward_work *w)
{
	size_t block = gradient_lay_out(&r->a, at, &w->block);
	const struct piece dq = {&w->dq, ATTENTION_QUERIES * r->dq_row};

	return block + attention_lay_out(&dq, 1, at != NULL ? at + block : NULL);
}

enum { COLUMNS = 128 }; /* of a task of the third stage, about: whole panels of every set */

/* What a strip is summed into: dk, then dv, by COLUMNS; tasks of one strip. */
static size_t sums_of(const struct op_attention *p)
{
	return (p->qk + COLUMNS - 1) / COLUMNS + (p->v + COLUMNS - 1) / COLUMNS;
}

/* Heads come in groups of r->group, the last one of a clip may have fewer. No heads: no group. */
static struct group group_at(const struct backward_run *r, size_t i)
{
	size_t heads = r->a.p->heads, each = (heads + r->group - 1) / r->group;
	size_t h0 = i % each * r->group;

	if (i >= r->groups)
		return (struct group){0};
	return (struct group){i, i / each, h0, least(r->group, heads - h0)};
}

static size_t tasks_of_sums(const struct backward_run *r, const struct group *g)
{
	return g->heads * r->a.strips * sums_of(r->a.p);
}

/* The group whose memory this one takes over, `before` groups ago, has been summed up. */
static void await_sums(const struct backward_run *r, const struct group *g, size_t before)
{
	if (g->i >= before) {
		struct group last = group_at(r, g->i - before);

		threads_await(&r->summed[last.i], tasks_of_sums(r, &last));
	}
}

/* ---- first stage: packing -------------------------------------------------------------------- */

enum { MATRICES = 6 };

static void pack_matrix(const struct backward_run *r, const struct group *g, size_t i)
{
	const struct attention_run *a = &r->a;
	const struct op_attention *p = a->p;
	const struct packs *to = &r->packs[g->i % PACKS];
	size_t k = i / MATRICES, h = g->h0 + k;

	await_sums(r, g, PACKS);
	switch (i % MATRICES) {
	case 0:
		attention_pack(a, p->qk, p->nk, attention_k(a, g->b, h), 1, a->ld_qk,
		               to->keys_t + k * r->keys_t_n);
		break;
	case 1:
		attention_pack(a, p->v, p->nk, attention_values(a, g->b, h), 1, a->ld_v,
		               to->values_t + k * r->values_t_n);
		break;
	case 2:
		attention_pack(a, p->nk, p->qk, attention_k(a, g->b, h), a->ld_qk, 1,
		               to->keys + k * r->keys_n);
		break;
	case 3:
		attention_pack(a, p->nq, p->qk, attention_q(a, g->b, h), a->ld_qk, 1,
		               to->queries + k * r->queries_n);
		break;
	case 4:
		attention_pack(a, p->nq, p->v, p->d_o + attention_o_at(a, g->b, h), a->ld_v, 1,
		               to->d_o + k * r->d_o_n);
		break;
	default:
		gradient_deltas(a, &(struct query_block){g->b, h, 0, p->nq}, to->delta + k * p->nq);
		break;
	}
	threads_done(&r->packed[g->i]);
}

/* ---- second stage: P, dS, dq ----------------------------------------------------------------- */

/* P, dS and what they add to dq, of a block of queries of the k-th head of the group. */
static void weigh_strip(const struct backward_run *r, const struct group *g, size_t k,
                        const struct query_block *q, size_t j, const struct backward_work *w)
{
	const struct attention_run *a = &r->a;
	const struct packs *packs = &r->packs[g->i % PACKS];
	struct strip strip = attention_strip(a, j);
	size_t at = k * r->kept_n + (j * a->nq_places + q->q0 / a->products->per) * a->strip;
	struct gradient_strip s = {
		.strip = strip,
		.keys_t = packs->keys_t + k * r->keys_t_n + strip.k0 * a->qk_places,
		.values_t = packs->values_t + k * r->values_t_n + strip.k0 * a->v_places,
		.prob = r->prob[g->i % KEPT] + at,
		.ds = r->ds[g->i % KEPT] + at};
	struct attention_sum sum = {
		.weights = gradient_tile(a, q, packs->delta + k * a->p->nq + q->q0, &s, &w->block),
		.packed = packs->keys + k * r->keys_n +
	                  gemm_places(a->products, strip.k0) * a->kernels->nr,
		.panel = a->kernels->nr * a->nk_places,
		.to = w->dq,
		.to_row = r->dq_row,
		.accumulate = j > 0};

	attention_gather(a, q, &strip, a->p->qk, &sum);
}

/* Blocks of queries in a span, and those of a head's span. */
static size_t span_blocks(const struct attention_run *a)
{
	return GRADIENT_QUERIES * a->products->per / ATTENTION_QUERIES;
}

static atomic_size_t *weighed_in(const struct backward_run *r, size_t b, size_t h, size_t span)
{
	return &r->weighed[(b * r->a.p->heads + h) * r->spans + span];
}

static void await_span(const struct backward_run *r, size_t b, size_t h, size_t span)
{
	size_t blocks = span_blocks(&r->a);

	threads_await(weighed_in(r, b, h, span), least(blocks, r->a.q_blocks - span * blocks));
}

static void query_rows(const struct backward_run *r, const struct group *g, size_t i,
                       const struct backward_work *w)
{
	const struct attention_run *a = &r->a;
	size_t k = i / a->q_blocks, h = g->h0 + k, span = i % a->q_blocks / span_blocks(a);
	struct query_block q = attention_block(a, g->b, h, i % a->q_blocks);

	threads_await(&r->packed[g->i], g->heads * MATRICES);
	await_sums(r, g, KEPT);
	if (a->p->q_shared && g->b > 0)
		await_span(r, g->b - 1, h, span); /* dq takes the clips' shares in their order */
	gradient_start(a, &q, &w->block);
	for (size_t j = 0; j < a->strips; j++)
		weigh_strip(r, g, k, &q, j, w);
	gradient_finish(a, &q, w->dq, r->dq_row);
	threads_done(weighed_in(r, g->b, h, span));
}

/* ---- third stage: dk = dS^T q, dv = P^T d_o -------------------------------------------------- */

/* A strip's share of dk or dv: `n` columns from `to` on. */
struct key_sum {
	size_t h;
	struct strip strip;
	const float *kept, *packed; /* from the head's and the columns' first on */
	size_t n;
	float *to;
	size_t to_row;
};

/* to[keys of the strip, n] = kept^T times packed rows by query, a span of them at a time. */
static void sum_queries(const struct backward_run *r, const struct group *g,
                        const struct key_sum *k)
{
	const struct attention_run *a = &r->a;

	for (size_t i = 0; i < r->spans; i++) {
		size_t at = i * GRADIENT_QUERIES;
		struct gradient_sum s = {.places = least(GRADIENT_QUERIES, a->nq_places - at),
		                         .panel = a->kernels->nr * a->nq_places,
		                         .kept = k->kept + at * a->strip,
		                         .packed = k->packed + at * a->kernels->nr,
		                         .to = k->to,
		                         .to_row = k->to_row,
		                         .accumulate = i > 0};

		await_span(r, g->b, k->h, i);
		gradient_sum(a, &k->strip, k->n, &s);
	}
}

static void key_rows(const struct backward_run *r, const struct group *g, size_t i)
{
	const struct attention_run *a = &r->a;
	const struct op_attention *p = a->p;
	const struct packs *packs = &r->packs[g->i % PACKS];
	size_t sums = sums_of(p), keys = (p->qk + COLUMNS - 1) / COLUMNS;
	size_t k = i / sums / a->strips, j = i / sums % a->strips, h = g->h0 + k;
	size_t at = k * r->kept_n + j * a->nq_places * a->strip;
	struct key_sum s = {.h = h, .strip = attention_strip(a, j)};
	size_t key = g->b * p->nk + s.strip.k0;

	if (i % sums < keys) {
		size_t c = i % sums * COLUMNS;

		s.kept = r->ds[g->i % KEPT] + at;
		s.packed = packs->queries + k * r->queries_n + c * a->nq_places;
		s.n = least(COLUMNS, p->qk - c);
		s.to = p->dk + key * a->ld_qk + h * p->qk + c;
		s.to_row = a->ld_qk;
	} else {
		size_t c = (i % sums - keys) * COLUMNS;

		s.kept = r->prob[g->i % KEPT] + at;
		s.packed = packs->d_o + k * r->d_o_n + c * a->nq_places;
		s.n = least(COLUMNS, p->v - c);
		s.to = p->dvalues + key * a->ld_v + h * p->v + c;
		s.to_row = a->ld_v;
	}
	sum_queries(r, g, &s);
	threads_done(&r->summed[g->i]);
}

/* ---- the pipeline ---------------------------------------------------------------------------- */

/* What a turn has: sums, queries and packs, of groups one after another. */
struct turn {
	struct group sums, queries, pack;
	size_t n_sums, n_queries, n;
};

static struct turn turn_at(const struct backward_run *r, size_t i)
{
	struct turn t = {.pack = group_at(r, i)};

	if (i >= 1)
		t.queries = group_at(r, i - 1);
	if (i >= 2)
		t.sums = group_at(r, i - 2);
	t.n_sums = tasks_of_sums(r, &t.sums);
	t.n_queries = t.queries.heads * r->a.q_blocks;
	t.n = t.n_sums + t.n_queries + t.pack.heads * MATRICES;
	return t;
}

static void run_task(void *ctx, size_t i, unsigned worker)
{
	const struct backward_run *r = ctx;
	struct backward_work w;
	struct turn t;
	size_t turn = 0;

	while (i >= r->first[turn + 1])
		turn++;
	i -= r->first[turn];
	t = turn_at(r, turn);
	if (i < t.n_sums) {
		key_rows(r, &t.sums, i);
	} else if (i - t.n_sums < t.n_queries) {
		lay_out(r, r->work + worker * r->work_each, &w);
		query_rows(r, &t.queries, i - t.n_sums, &w);
	} else {
		pack_matrix(r, &t.pack, i - t.n_sums - t.n_queries);
	}
}

/* All turns' tasks, in their order: whatever one waits for comes before it. */
static void run_turns(struct cpu *ops, struct backward_run *r)
{
	size_t turns = r->groups + 2, heads = r->a.p->batch * r->a.p->heads;
	atomic_size_t *done;

	r->spans = (r->a.q_blocks + span_blocks(&r->a) - 1) / span_blocks(&r->a);
	done = mem_calloc(2 * r->groups + heads * r->spans, sizeof(done[0]));
	r->packed = done;
	r->summed = r->packed + r->groups;
	r->weighed = r->summed + r->groups;
	r->first = mem_calloc(turns + 1, sizeof(r->first[0]));
	for (size_t i = 0; i < turns; i++)
		r->first[i + 1] = r->first[i] + turn_at(r, i).n;
	threads_run(ops->threads, r->first[turns], run_task, r);
	free(r->first);
	free(done);
}

/* All memory of the call. */
static void take_memory(struct cpu *ops, struct backward_run *r)
{
	enum { PIECES = MATRICES * PACKS + 2 * KEPT + 1 };
	struct piece pieces[PIECES], *to = pieces;
	struct backward_work sizes;

	for (size_t i = 0; i < PACKS; i++) {
		struct packs *packs = &r->packs[i];

		*to++ = (struct piece){&packs->keys_t, r->group * r->keys_t_n};
		*to++ = (struct piece){&packs->values_t, r->group * r->values_t_n};
		*to++ = (struct piece){&packs->keys, r->group * r->keys_n};
		*to++ = (struct piece){&packs->queries, r->group * r->queries_n};
		*to++ = (struct piece){&packs->d_o, r->group * r->d_o_n};
		*to++ = (struct piece){&packs->delta, r->group * r->a.p->nq};
	}
	for (size_t i = 0; i < KEPT; i++) {
		*to++ = (struct piece){&r->prob[i], r->group * r->kept_n};
		*to++ = (struct piece){&r->ds[i], r->group * r->kept_n};
	}
	r->work_each = lay_out(r, NULL, &sizes);
	*to++ = (struct piece){&r->work, threads_count(ops->threads) * r->work_each};
	attention_lay_out(pieces, PIECES,
	                  ops_scratch(ops, attention_lay_out(pieces, PIECES, NULL)));
}

void attention_fast_backward(struct cpu *ops, const struct op_attention *p)
{
	struct backward_run r = {.a = attention_start(ops, p)};
	const struct attention_run *a = &r.a;
	size_t nr = a->kernels->nr, nk = attention_up(p->nk, nr);

	if (attention_strips_suit(a, threads_count(ops->threads))) {
		attention_strips_backward(ops, a);
		return;
	}
	r.keys_t_n = nk * a->qk_places;
	r.values_t_n = nk * a->v_places;
	r.keys_n = a->nk_places * attention_up(p->qk, nr);
	r.queries_n = a->nq_places * attention_up(p->qk, nr);
	r.d_o_n = a->nq_places * attention_up(p->v, nr);
	r.kept_n = a->strips * a->nq_places * a->strip + 16; /* pack_columns' more */
	r.dq_row = gemm_stride(attention_up(p->qk, nr));
	r.group = HELD / (2 * r.kept_n);
	r.group = r.group < 1 ? 1 : least(r.group, p->heads);
	r.groups = p->batch * ((p->heads + r.group - 1) / r.group);
	take_memory(ops, &r);
	run_turns(ops, &r);
}

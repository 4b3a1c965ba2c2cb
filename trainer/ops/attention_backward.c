/*
 * Attention backward, as a pipeline over groups of heads. For each group, one round packs its
 * matrices; the next, block of queries by block, computes the probabilities again from the saved
 * log-sum-exp, then dS, then dq, and keeps P and dS; the one after that sums these over the
 * queries into dk and dv. All three stages of neighbouring groups run at once, in one round, so
 * that a round has many tasks and the threads seldom wait for each other.
 *
 * P and dS are kept strip by strip of keys, [strip][query][keys of a strip]: what the sums over
 * the queries read lies one line after another.
 */
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
	size_t round;
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

/* ---- first stage: packing -------------------------------------------------------------------- */

enum { MATRICES = 6 };

static void pack_matrix(const struct backward_run *r, const struct group *g, size_t i)
{
	const struct attention_run *a = &r->a;
	const struct op_attention *p = a->p;
	const struct packs *to = &r->packs[g->i % PACKS];
	size_t k = i / MATRICES, h = g->h0 + k;

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

static void query_rows(const struct backward_run *r, const struct group *g, size_t i,
                       const struct backward_work *w)
{
	const struct attention_run *a = &r->a;
	size_t k = i / a->q_blocks;
	struct query_block q = attention_block(a, g->b, g->h0 + k, i % a->q_blocks);

	gradient_start(a, &q, &w->block);
	for (size_t j = 0; j < a->strips; j++)
		weigh_strip(r, g, k, &q, j, w);
	gradient_finish(a, &q, w->dq, r->dq_row);
}

/* ---- third stage: dk = dS^T q, dv = P^T d_o -------------------------------------------------- */

/* to[keys of the strip, n] = kept^T times packed rows by query, by some queries at a time. */
static void sum_queries(const struct attention_run *a, const struct strip *strip, const float *kept,
                        const float *packed, size_t n, float *to, size_t to_row)
{
	for (size_t i = 0; i < a->nq_places; i += GRADIENT_QUERIES) {
		struct gradient_sum s = {.places = least(GRADIENT_QUERIES, a->nq_places - i),
		                         .panel = a->kernels->nr * a->nq_places,
		                         .kept = kept + i * a->strip,
		                         .packed = packed + i * a->kernels->nr,
		                         .to = to,
		                         .to_row = to_row,
		                         .accumulate = i > 0};

		gradient_sum(a, strip, n, &s);
	}
}

enum { COLUMNS = 128 }; /* of a task of the third stage, about: whole panels of every set */

/* What a strip is summed into: dk, then dv, by COLUMNS; tasks of one strip. */
static size_t sums_of(const struct op_attention *p)
{
	return (p->qk + COLUMNS - 1) / COLUMNS + (p->v + COLUMNS - 1) / COLUMNS;
}

static void key_rows(const struct backward_run *r, const struct group *g, size_t i)
{
	const struct attention_run *a = &r->a;
	const struct op_attention *p = a->p;
	const struct packs *packs = &r->packs[g->i % PACKS];
	size_t sums = sums_of(p), keys = (p->qk + COLUMNS - 1) / COLUMNS;
	size_t k = i / sums / a->strips, j = i / sums % a->strips, h = g->h0 + k;
	size_t at = k * r->kept_n + j * a->nq_places * a->strip;
	struct strip strip = attention_strip(a, j);
	size_t key = g->b * p->nk + strip.k0;

	if (i % sums < keys) {
		size_t c = i % sums * COLUMNS;

		sum_queries(a, &strip, r->ds[g->i % KEPT] + at,
		            packs->queries + k * r->queries_n + c * a->nq_places,
		            least(COLUMNS, p->qk - c), p->dk + key * a->ld_qk + h * p->qk + c,
		            a->ld_qk);
	} else {
		size_t c = (i % sums - keys) * COLUMNS;

		sum_queries(a, &strip, r->prob[g->i % KEPT] + at,
		            packs->d_o + k * r->d_o_n + c * a->nq_places, least(COLUMNS, p->v - c),
		            p->dvalues + key * a->ld_v + h * p->v + c, a->ld_v);
	}
}

/* ---- the pipeline ---------------------------------------------------------------------------- */

/* The group that is `stage` rounds behind the first; no heads when there is none. */
static struct group group_of(const struct backward_run *r, size_t stage)
{
	size_t heads = r->a.p->heads, each = (heads + r->group - 1) / r->group;
	size_t i = r->round - stage, h0 = i % each * r->group;

	if (r->round < stage || i >= r->groups)
		return (struct group){0};
	return (struct group){i, i / each, h0, least(r->group, heads - h0)};
}

/* The long tasks first, so that the short ones fill the threads up at the end. */
static void run_task(void *ctx, size_t i, unsigned worker)
{
	const struct backward_run *r = ctx;
	struct group queries = group_of(r, 1), keys = group_of(r, 2), pack = group_of(r, 0);
	size_t n_queries = queries.heads * r->a.q_blocks,
	       n_keys = keys.heads * r->a.strips * sums_of(r->a.p);
	struct backward_work w;

	if (i < n_keys) {
		key_rows(r, &keys, i);
	} else if (i - n_keys < n_queries) {
		lay_out(r, r->work + worker * r->work_each, &w);
		query_rows(r, &queries, i - n_keys, &w);
	} else {
		pack_matrix(r, &pack, i - n_keys - n_queries);
	}
}

static size_t count_tasks(const struct backward_run *r)
{
	return group_of(r, 1).heads * r->a.q_blocks +
	       group_of(r, 2).heads * r->a.strips * sums_of(r->a.p) +
	       group_of(r, 0).heads * MATRICES;
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
	for (r.round = 0; r.round < r.groups + 2; r.round++)
		threads_run(ops->threads, count_tasks(&r), run_task, &r);
}

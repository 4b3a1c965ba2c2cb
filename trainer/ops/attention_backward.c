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
#include <string.h>

#include "trainer/ops/attention_fast.h"
#include "trainer/ops/fast.h"
#include "trainer/ops/gemm.h"
#include "trainer/ops/threads.h"

enum {
	HELD = 1 << 20, /* values of P and dS held for a group, about */
	PACKS = 3,      /* groups whose packed matrices are in use */
	KEPT = 2        /* groups whose P and dS are */
};

/* Panels of one head, or of a group one head after another: keys and values by channel, keys by
 * key, queries and d_o by query. */
struct packs {
	float *keys_t, *values_t, *keys, *queries, *d_o;
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
	float *q, *d_o, *keep, *dq, *lse, *delta, *prob, *ds;
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t lay_out(const struct backward_run *r, float *at, struct backward_work *w)
{
	const struct attention_run *a = &r->a;
	size_t tile = ATTENTION_QUERIES * a->strip;
	const struct piece pieces[] = {{&w->q, ATTENTION_QUERIES * gemm_stride(a->qk_places)},
	                               {&w->d_o, ATTENTION_QUERIES * gemm_stride(a->v_places)},
	                               {&w->keep, tile},
	                               {&w->dq, ATTENTION_QUERIES * r->dq_row},
	                               {&w->lse, ATTENTION_QUERIES},
	                               {&w->delta, ATTENTION_QUERIES},
	                               {&w->prob, tile},
	                               {&w->ds, tile}};

	return attention_lay_out(pieces, sizeof(pieces) / sizeof(pieces[0]), at);
}

/* ---- first stage: packing -------------------------------------------------------------------- */

enum { MATRICES = 5 };

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
	default:
		attention_pack(a, p->nq, p->v, p->d_o + attention_o_at(a, g->b, h), a->ld_v, 1,
		               to->d_o + k * r->d_o_n);
		break;
	}
}

/* ---- second stage: P, dS, dq ----------------------------------------------------------------- */

/* Copies the block's rows, and per row finds lse and delta = d_o . o, which is the sum of P dP. */
static void start_block(const struct backward_run *r, const struct query_block *q,
                        const struct backward_work *w)
{
	const struct attention_run *a = &r->a;
	const struct op_attention *p = a->p;
	size_t at = attention_o_at(a, q->b, q->h);

	attention_copy_rows(a, q, p->qk, attention_q(a, q->b, q->h), a->ld_qk, w->q);
	attention_copy_rows(a, q, p->v, p->d_o + at, a->ld_v, w->d_o);
	for (size_t i = 0; i < q->rows; i++) {
		size_t row = at + (q->q0 + i) * a->ld_v;

		w->lse[i] = p->lse[(q->b * p->heads + q->h) * p->nq + q->q0 + i];
		w->delta[i] = a->kernels->dot(p->d_o + row, p->o + row, p->v);
	}
	memset(w->dq, 0, q->rows * r->dq_row * sizeof(float));
}

static void finish_block(const struct backward_run *r, const struct query_block *q,
                         const struct backward_work *w)
{
	const struct attention_run *a = &r->a;
	const struct op_attention *p = a->p;
	size_t first = (p->q_shared ? 0 : q->b * p->nq) + q->q0;
	bool add = p->q_shared && q->b > 0;

	for (size_t i = 0; i < q->rows; i++) {
		float *dq = p->dq + (first + i) * a->ld_qk + q->h * p->qk;
		const float *from = w->dq + i * r->dq_row;

		if (add)
			a->kernels->add(dq, from, p->qk);
		else
			memcpy(dq, from, p->qk * sizeof(float));
	}
}

/* The block's rows of a strip of P or dS become places where sum_queries finds them; floats have
 * been written there. */
static void keep_rows(const struct attention_run *a, const struct query_block *q, const float *tile,
                      float *kept)
{
	if (tile != kept)
		a->products->pack_columns(q->rows, a->strip, tile, a->strip, kept);
}

static void query_rows(const struct backward_run *r, const struct group *g, size_t i,
                       const struct backward_work *w)
{
	const struct attention_run *a = &r->a;
	const struct packs *packs = &r->packs[g->i % PACKS];
	size_t k = i / a->q_blocks;
	struct query_block q = attention_block(a, g->b, g->h0 + k, i % a->q_blocks);
	bool floats = a->products->per == 1;

	start_block(r, &q, w);
	for (size_t j = 0; j < a->strips; j++) {
		struct strip strip = attention_strip(a, j);
		size_t at = k * r->kept_n + (j * a->nq_places + q.q0 / a->products->per) * a->strip;
		float *kept_prob = r->prob[g->i % KEPT] + at, *kept_ds = r->ds[g->i % KEPT] + at;
		struct softmax_gradient tile = {.rows = q.rows,
		                                .n = strip.padded,
		                                .row = a->strip,
		                                .scale = a->scale,
		                                .lse = w->lse,
		                                .delta = w->delta,
		                                .s = floats ? kept_prob : w->prob,
		                                .ds = floats ? kept_ds : w->ds};

		attention_scores(a, &q, &strip, a->qk_places, w->q, packs->keys_t + k * r->keys_t_n,
		                 tile.s);
		attention_scores(a, &q, &strip, a->v_places, w->d_o,
		                 packs->values_t + k * r->values_t_n, tile.ds);
		tile.keep = attention_keep(a, &q, &strip, w->keep);
		a->kernels->softmax_gradient(&tile);
		keep_rows(a, &q, tile.s, kept_prob);
		keep_rows(a, &q, tile.ds, kept_ds);
		attention_gather(a, &q, &strip, a->p->qk, tile.ds, packs->keys + k * r->keys_n,
		                 w->dq, r->dq_row);
	}
	finish_block(r, &q, w);
}

/* ---- third stage: dk = dS^T q, dv = P^T d_o -------------------------------------------------- */

/*
 * to[keys of the strip, n] = kept^T times packed rows by query; by some queries at a time, whose
 * part of a packed panel stays in the first cache, and their weights in the second, while all keys
 * of the strip walk over them.
 */
static void sum_queries(const struct attention_run *a, const struct strip *strip, const float *kept,
                        const float *packed, size_t n, float *to, size_t to_row)
{
	enum { AT_ONCE = 112 };

	for (size_t i = 0; i < a->nq_places; i += AT_ONCE) {
		struct gemm_block g = {.m = strip->n,
		                       .n = n,
		                       .k = least(AT_ONCE, a->nq_places - i),
		                       .a = kept + i * a->strip,
		                       .a_row = 1,
		                       .a_col = a->strip,
		                       .b = packed + i * a->kernels->nr,
		                       .b_panel = a->kernels->nr * a->nq_places,
		                       .c = to,
		                       .c_row = to_row,
		                       .accumulate = i > 0};

		a->products->gemm(&g);
	}
}

static void key_rows(const struct backward_run *r, const struct group *g, size_t i)
{
	const struct attention_run *a = &r->a;
	const struct op_attention *p = a->p;
	const struct packs *packs = &r->packs[g->i % PACKS];
	size_t k = i / a->strips, j = i % a->strips, h = g->h0 + k;
	size_t at = k * r->kept_n + j * a->nq_places * a->strip;
	struct strip strip = attention_strip(a, j);
	size_t key = g->b * p->nk + strip.k0;

	sum_queries(a, &strip, r->ds[g->i % KEPT] + at, packs->queries + k * r->queries_n, p->qk,
	            p->dk + key * a->ld_qk + h * p->qk, a->ld_qk);
	sum_queries(a, &strip, r->prob[g->i % KEPT] + at, packs->d_o + k * r->d_o_n, p->v,
	            p->dvalues + key * a->ld_v + h * p->v, a->ld_v);
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
	size_t n_queries = queries.heads * r->a.q_blocks, n_keys = keys.heads * r->a.strips;
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
	return group_of(r, 1).heads * r->a.q_blocks + group_of(r, 2).heads * r->a.strips +
	       group_of(r, 0).heads * MATRICES;
}

/* All memory of the call. */
static void take_memory(struct cpu *ops, struct backward_run *r)
{
	enum { PIECES = 5 * PACKS + 2 * KEPT + 1 };
	struct piece pieces[PIECES], *to = pieces;
	struct backward_work sizes;

	for (size_t i = 0; i < PACKS; i++) {
		struct packs *packs = &r->packs[i];

		*to++ = (struct piece){&packs->keys_t, r->group * r->keys_t_n};
		*to++ = (struct piece){&packs->values_t, r->group * r->values_t_n};
		*to++ = (struct piece){&packs->keys, r->group * r->keys_n};
		*to++ = (struct piece){&packs->queries, r->group * r->queries_n};
		*to++ = (struct piece){&packs->d_o, r->group * r->d_o_n};
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

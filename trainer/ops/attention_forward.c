/*
 * Attention forward, strip by strip with the softmax on the way: a row's maximum is raised, and
 * what was summed so far scaled down, only when a score exceeds it by much (struct softmax_tile);
 * the rows are divided by their sums at the end.
 */
#include <math.h>
#include <string.h>

#include "trainer/ops/attention_fast.h"
#include "trainer/ops/fast.h"
#include "trainer/ops/gemm.h"
#include "trainer/ops/threads.h"

struct forward_run {
	struct attention_run a;
	size_t b;
	float *keys, *values; /* of all heads: keys by channel, values by key; in panels */
	size_t keys_n, values_n, o_row;
	atomic_size_t packed; /* of these matrices */
	float *work;
	size_t work_each;
};

/* A task's memory. */
struct forward_work {
	float *q, *s, *keep, *sum, *max, *o;
};

static size_t lay_out(const struct forward_run *r, float *at, struct forward_work *w)
{
	size_t tile = ATTENTION_QUERIES * r->a.strip;
	const struct piece pieces[] = {{&w->q, attention_copy_room(&r->a, r->a.p->qk)},
	                               {&w->s, tile},
	                               {&w->keep, tile},
	                               {&w->sum, ATTENTION_QUERIES * r->a.kernels->nr},
	                               {&w->max, ATTENTION_QUERIES},
	                               {&w->o, ATTENTION_QUERIES * r->o_row}};

	return attention_lay_out(pieces, sizeof(pieces) / sizeof(pieces[0]), at);
}

static void pack_head(struct forward_run *r, size_t i)
{
	const struct op_attention *p = r->a.p;
	size_t h = i / 2;

	if (i % 2 == 0)
		attention_pack(&r->a, p->qk, p->nk, attention_k(&r->a, r->b, h), 1, r->a.ld_qk,
		               r->keys + h * r->keys_n);
	else
		attention_pack(&r->a, p->nk, p->v, attention_values(&r->a, r->b, h), r->a.ld_v, 1,
		               r->values + h * r->values_n);
	threads_done(&r->packed);
}

/* Asks for the rows that a block's end will write. */
static void fetch_output(const struct attention_run *a, const struct query_block *q)
{
	float *o = a->p->o + attention_o_at(a, q->b, q->h) + q->q0 * a->ld_v;

	for (size_t i = 0; i < q->rows; i++)
		for (size_t k = 0; k < a->p->v; k += 16)
			__builtin_prefetch(o + i * a->ld_v + k, 1);
}

static void forward_block(const struct forward_run *r, size_t i, unsigned worker)
{
	const struct attention_run *a = &r->a;
	struct query_block q = attention_block(a, r->b, i / a->q_blocks, i % a->q_blocks);
	struct forward_work w;
	struct softmax_tile tile;

	lay_out(r, r->work + worker * r->work_each, &w);
	attention_copy_rows(a, &q, a->p->qk, attention_q(a, q.b, q.h), a->ld_qk, w.q);
	memset(w.sum, 0, q.rows * a->kernels->nr * sizeof(float));
	memset(w.o, 0, q.rows * r->o_row * sizeof(float));
	for (size_t k = 0; k < q.rows; k++)
		w.max[k] = -INFINITY;
	tile = (struct softmax_tile){.rows = q.rows,
	                             .row = a->strip,
	                             .scale = a->scale,
	                             .s = w.s,
	                             .max = w.max,
	                             .sum = w.sum,
	                             .o = w.o,
	                             .o_row = r->o_row};
	for (size_t k = 0; k < a->strips; k++) {
		struct strip strip = attention_strip(a, k);
		size_t places = gemm_places(a->products, strip.k0);
		struct attention_sum sum = {.weights = w.s,
		                            .packed = r->values + q.h * r->values_n +
		                                      places * a->kernels->nr,
		                            .panel = a->kernels->nr * a->nk_places,
		                            .to = w.o,
		                            .to_row = r->o_row,
		                            .accumulate = true};

		attention_scores(a, &q, &strip, a->qk_places, w.q,
		                 r->keys + q.h * r->keys_n + strip.k0 * a->qk_places, w.s);
		tile.n = strip.n;
		tile.keep = attention_keep(a, &q, &strip, w.keep);
		a->kernels->softmax(&tile);
		if (k + 1 == a->strips)
			fetch_output(a, &q);
		attention_gather(a, &q, &strip, a->p->v, &sum);
	}
	a->kernels->softmax_end(&tile, a->p->v,
	                        a->p->o + attention_o_at(a, q.b, q.h) + q.q0 * a->ld_v, a->ld_v,
	                        a->p->lse + (q.b * a->p->heads + q.h) * a->p->nq + q.q0);
}

/* A head is packed by two tasks before the blocks, in one round, as a product's panels are. */
static void run_task(void *ctx, size_t i, unsigned worker)
{
	struct forward_run *r = ctx;
	size_t packs = 2 * r->a.p->heads;

	if (i < packs) {
		pack_head(r, i);
		return;
	}
	threads_await(&r->packed, packs);
	forward_block(r, i - packs, worker);
}

void attention_fast_forward(struct cpu *ops, const struct op_attention *p)
{
	struct forward_run r = {.a = attention_start(ops, p)};
	struct forward_work sizes;
	struct piece pieces[3];
	size_t nr = ops->kernels->nr;

	r.o_row = gemm_stride(attention_up(p->v, nr));
	r.keys_n = attention_up(p->nk, nr) * r.a.qk_places;
	r.values_n = r.a.nk_places * attention_up(p->v, nr);
	r.work_each = lay_out(&r, NULL, &sizes);
	pieces[0] = (struct piece){&r.keys, p->heads * r.keys_n};
	pieces[1] = (struct piece){&r.values, p->heads * r.values_n};
	pieces[2] = (struct piece){&r.work, threads_count(ops->threads) * r.work_each};
	attention_lay_out(pieces, 3, ops_scratch(ops, attention_lay_out(pieces, 3, NULL)));
	for (r.b = 0; r.b < p->batch; r.b++) {
		atomic_store_explicit(&r.packed, 0, memory_order_relaxed);
		threads_run(ops->threads, p->heads * (2 + r.a.q_blocks), run_task, &r);
	}
}

/*
 * Attention by blocks of queries. Keys and values of all heads are packed once; a task then owns a
 * block of queries of one head: its scores stay in the cache from their product to their use. The
 * backward pass recomputes the probabilities from the saved log-sum-exp instead of keeping them; it
 * writes P and dS of a few heads at a time for the products that sum over queries.
 */
#include <math.h>
#include <string.h>

#include "trainer/ops/fast.h"
#include "trainer/ops/gemm.h"
#include "trainer/ops/threads.h"

enum {
	QUERIES = 28,             /* of a task */
	KEYS = KERNEL_BLOCK_ROWS, /* of a task of the second backward stage */
	HELD = 1 << 20            /* values of P and dS held at once, about */
};

/* One call, one clip. */
struct attention_run {
	const struct kernels *kernels;
	const struct product_kernels *products;
	const struct op_attention *p;
	size_t b, h0, heads; /* heads [h0, h0 + heads) are worked on */
	size_t nk_pad, ld;   /* keys in whole panels; row stride of a score buffer */
	size_t qk_places, v_places, nq_places, nk_places;
	size_t q_blocks, k_blocks;
	size_t ld_qk, ld_v; /* row strides of q, k and of values, o */
	/* panels per head: keys by channel, values by key; backward: values by channel, keys by
	 * key, queries and d_o by query */
	float *keys_t, *values, *values_t, *keys, *queries, *d_o;
	size_t keys_t_n, values_n, values_t_n, keys_n, queries_n, d_o_n;
	float *work, *prob, *ds;
	size_t work_each, nq_held;
	float scale;
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

static struct attention_run start_attention(struct ops *ops, const struct op_attention *p)
{
	const struct product_kernels *products = ops->products;
	size_t nr = ops->kernels->nr, qk = gemm_places(products, p->qk);
	size_t v = gemm_places(products, p->v), nq = gemm_places(products, p->nq);
	size_t nk = gemm_places(products, p->nk);

	return (struct attention_run){.kernels = ops->kernels,
	                              .products = products,
	                              .p = p,
	                              .heads = p->heads,
	                              .nk_pad = up(p->nk, nr),
	                              .ld = gemm_stride(up(p->nk, nr)),
	                              .q_blocks = (p->nq + QUERIES - 1) / QUERIES,
	                              .k_blocks = (p->nk + KEYS - 1) / KEYS,
	                              .ld_qk = p->heads * p->qk,
	                              .ld_v = p->heads * p->v,
	                              .qk_places = qk,
	                              .v_places = v,
	                              .nq_places = nq,
	                              .nk_places = nk,
	                              .keys_t_n = up(p->nk, nr) * qk,
	                              .values_n = nk * up(p->v, nr),
	                              .values_t_n = up(p->nk, nr) * v,
	                              .keys_n = nk * up(p->qk, nr),
	                              .queries_n = nq * up(p->qk, nr),
	                              .d_o_n = nq * up(p->v, nr),
	                              .scale = 1 / sqrtf((float)p->qk)};
}

/* Room for a block of queries copied, or for a row of dropout factors after it. */
static size_t row_work(const struct attention_run *r)
{
	size_t widest = r->p->qk > r->p->v ? r->p->qk : r->p->v;
	size_t copy = QUERIES * gemm_stride(widest);

	return copy > r->ld ? copy : r->ld;
}

/* Packs b[k, n] into panels. */
static void pack_all(const struct attention_run *r, size_t k, size_t n, const float *b,
                     size_t b_row, size_t b_col, float *out)
{
	size_t nr = r->kernels->nr, places = gemm_places(r->products, k);

	for (size_t i = 0; i < n; i += nr)
		r->products->pack(k, least(nr, n - i), b + i * b_col, b_row, b_col,
		                  out + i * places);
}

static const float *q_of(const struct attention_run *r, size_t h)
{
	const struct op_attention *p = r->p;

	return p->q + (p->q_shared ? 0 : r->b * p->nq * r->ld_qk) + h * p->qk;
}

static const float *k_of(const struct attention_run *r, size_t h)
{
	return r->p->k + r->b * r->p->nk * r->ld_qk + h * r->p->qk;
}

static const float *v_of(const struct attention_run *r, size_t h)
{
	return r->p->values + r->b * r->p->nk * r->ld_v + h * r->p->v;
}

/* Where rows of o, or d_o, of a head begin. */
static size_t o_at(const struct attention_run *r, size_t h)
{
	return r->b * r->p->nq * r->ld_v + h * r->p->v;
}

static void pack_forward(void *ctx, size_t i, unsigned worker)
{
	const struct attention_run *r = ctx;
	const struct op_attention *p = r->p;
	size_t h = i / 2;

	(void)worker;
	if (i % 2 == 0)
		pack_all(r, p->qk, p->nk, k_of(r, h), 1, r->ld_qk, r->keys_t + h * r->keys_t_n);
	else
		pack_all(r, p->nk, p->v, v_of(r, h), r->ld_v, 1, r->values + h * r->values_n);
}

/* s[rows, nk_pad] = rows of x times packed columns; copy: room for the rows */
static void scores(const struct attention_run *r, size_t rows, size_t k, const float *x,
                   size_t x_row, const float *packed, float *copy, float *s)
{
	struct gemm_block g = {.m = rows,
	                       .n = r->nk_pad,
	                       .k = k,
	                       .a = x,
	                       .a_row = x_row,
	                       .a_col = 1,
	                       .b = packed,
	                       .b_panel = r->kernels->nr * gemm_places(r->products, k),
	                       .c = s,
	                       .c_row = r->ld};

	gemm_copied(r->products, &g, copy);
}

/* Dropout factors of query i of head h. */
static void keep_row(const struct attention_run *r, size_t h, size_t i, float *factor)
{
	const struct op_dropout *d = &r->p->dropout;
	uint64_t row = (uint64_t)h * r->p->nq + i;
	uint64_t sample = d->sample != NULL ? d->sample[r->b] : r->b;

	r->kernels->dropout(d, sample, (uint32_t)(row * ((r->p->nk + 3) / 4)), r->p->nk, factor);
}

static void forward_block(void *ctx, size_t i, unsigned worker)
{
	const struct attention_run *r = ctx;
	const struct op_attention *p = r->p;
	size_t h = i / r->q_blocks, q0 = i % r->q_blocks * QUERIES;
	size_t rows = least(QUERIES, p->nq - q0);
	float *s = r->work + worker * r->work_each, *factor = s + QUERIES * r->ld;
	struct gemm_block out = {.m = rows,
	                         .n = p->v,
	                         .k = r->nk_places,
	                         .a = s,
	                         .a_row = r->ld,
	                         .a_col = 1,
	                         .b = r->values + h * r->values_n,
	                         .b_panel = r->kernels->nr * r->nk_places,
	                         .c = p->o + o_at(r, h) + q0 * r->ld_v,
	                         .c_row = r->ld_v};

	scores(r, rows, p->qk, q_of(r, h) + q0 * r->ld_qk, r->ld_qk, r->keys_t + h * r->keys_t_n,
	       factor, s);
	for (size_t k = 0; k < rows; k++) {
		float *row = s + k * r->ld;

		p->lse[(r->b * p->heads + h) * p->nq + q0 + k] =
			r->kernels->softmax(row, p->nk, r->scale);
		if (p->dropout.p != 0) {
			keep_row(r, h, q0 + k, factor);
			for (size_t j = 0; j < p->nk; j++)
				row[j] *= factor[j];
		}
		r->products->pack_row(p->nk, row, row);
	}
	r->products->gemm(&out);
}

void attention_fast_forward(struct ops *ops, const struct op_attention *p)
{
	struct attention_run r = start_attention(ops, p);
	unsigned threads = threads_count(ops->threads);
	float *at;

	r.work_each = QUERIES * r.ld + row_work(&r);
	at = ops_scratch(ops, p->heads * (r.keys_t_n + r.values_n) + threads * r.work_each);
	r.keys_t = at;
	r.values = at + p->heads * r.keys_t_n;
	r.work = r.values + p->heads * r.values_n;
	for (r.b = 0; r.b < p->batch; r.b++) {
		threads_run(ops->threads, 2 * p->heads, pack_forward, &r);
		threads_run(ops->threads, p->heads * r.q_blocks, forward_block, &r);
	}
}

static void pack_backward(void *ctx, size_t i, unsigned worker)
{
	const struct attention_run *r = ctx;
	const struct op_attention *p = r->p;
	size_t k = i / 5, h = r->h0 + k;

	(void)worker;
	switch (i % 5) {
	case 0:
		pack_all(r, p->qk, p->nk, k_of(r, h), 1, r->ld_qk, r->keys_t + k * r->keys_t_n);
		break;
	case 1:
		pack_all(r, p->v, p->nk, v_of(r, h), 1, r->ld_v, r->values_t + k * r->values_t_n);
		break;
	case 2:
		pack_all(r, p->nk, p->qk, k_of(r, h), r->ld_qk, 1, r->keys + k * r->keys_n);
		break;
	case 3:
		pack_all(r, p->nq, p->qk, q_of(r, h), r->ld_qk, 1, r->queries + k * r->queries_n);
		break;
	default:
		pack_all(r, p->nq, p->v, p->d_o + o_at(r, h), r->ld_v, 1, r->d_o + k * r->d_o_n);
		break;
	}
}

/* One query: prob from scores to P with dropout, ds from dP to dS * scale. */
static void backward_row(const struct attention_run *r, size_t h, size_t i, float *prob, float *ds,
                         float *factor)
{
	const struct op_attention *p = r->p;
	size_t o = o_at(r, h) + i * r->ld_v;
	float lse = p->lse[(r->b * p->heads + h) * p->nq + i];
	float delta = r->kernels->dot(p->d_o + o, p->o + o, p->v); /* = sum of P dP */

	r->kernels->probabilities(prob, p->nk, r->scale, lse);
	if (p->dropout.p != 0) {
		keep_row(r, h, i, factor);
		for (size_t j = 0; j < p->nk; j++)
			ds[j] *= factor[j];
	}
	r->kernels->dscores(prob, ds, p->nk, delta, r->scale);
	for (size_t j = 0; p->dropout.p != 0 && j < p->nk; j++)
		prob[j] *= factor[j];
}

/* Puts rows of P and dS where backward_keys finds them, and dS's in places for dq. Floats already
 * are in both. */
static void hold(const struct attention_run *r, size_t rows, size_t at, float *prob, float *ds)
{
	if (r->products->per == 1)
		return;
	r->products->pack_columns(rows, r->ld, prob, r->ld, r->prob + at);
	r->products->pack_columns(rows, r->ld, ds, r->ld, r->ds + at);
	for (size_t row = 0; row < rows; row++)
		r->products->pack_row(r->p->nk, ds + row * r->ld, ds + row * r->ld);
}

static void backward_queries(void *ctx, size_t i, unsigned worker)
{
	const struct attention_run *r = ctx;
	const struct op_attention *p = r->p;
	size_t k = i / r->q_blocks, h = r->h0 + k, q0 = i % r->q_blocks * QUERIES;
	size_t rows = least(QUERIES, p->nq - q0);
	size_t at = (k * r->nq_places + q0 / r->products->per) * r->ld;
	float *work = r->work + worker * r->work_each;
	bool floats = r->products->per == 1;
	float *prob = floats ? r->prob + at : work + row_work(r);
	float *ds = floats ? r->ds + at : prob + QUERIES * r->ld;
	size_t q_row = p->q_shared ? 0 : r->b * p->nq;
	struct gemm_block dq = {.m = rows,
	                        .n = p->qk,
	                        .k = r->nk_places,
	                        .a = ds,
	                        .a_row = r->ld,
	                        .a_col = 1,
	                        .b = r->keys + k * r->keys_n,
	                        .b_panel = r->kernels->nr * r->nk_places,
	                        .c = p->dq + (q_row + q0) * r->ld_qk + h * p->qk,
	                        .c_row = r->ld_qk,
	                        .accumulate = p->q_shared && r->b > 0};

	scores(r, rows, p->qk, q_of(r, h) + q0 * r->ld_qk, r->ld_qk, r->keys_t + k * r->keys_t_n,
	       work, prob);
	scores(r, rows, p->v, p->d_o + o_at(r, h) + q0 * r->ld_v, r->ld_v,
	       r->values_t + k * r->values_t_n, work, ds);
	for (size_t row = 0; row < rows; row++)
		backward_row(r, h, q0 + row, prob + row * r->ld, ds + row * r->ld, work);
	hold(r, rows, at, prob, ds);
	r->products->gemm(&dq);
}

/* Keys [k0, k0 + KEYS) of a head: dk = dS^T q, dv = P^T d_o. */
static void backward_keys(void *ctx, size_t i, unsigned worker)
{
	const struct attention_run *r = ctx;
	const struct op_attention *p = r->p;
	size_t k = i / r->k_blocks, h = r->h0 + k, k0 = i % r->k_blocks * KEYS;
	size_t at = k * r->nq_places * r->ld + k0;
	/* the left matrices are in places already: their columns are only copied together */
	struct product_kernels ready = *r->products;
	struct gemm_block dk = {.m = least(KEYS, p->nk - k0),
	                        .n = p->qk,
	                        .k = r->nq_places,
	                        .a = r->ds + at,
	                        .a_row = 1,
	                        .a_col = r->ld,
	                        .b = r->queries + k * r->queries_n,
	                        .b_panel = r->kernels->nr * r->nq_places,
	                        .c = p->dk + (r->b * p->nk + k0) * r->ld_qk + h * p->qk,
	                        .c_row = r->ld_qk};
	struct gemm_block dv = dk;

	dv.n = p->v;
	dv.a = r->prob + at;
	dv.b = r->d_o + k * r->d_o_n;
	dv.c = p->dvalues + (r->b * p->nk + k0) * r->ld_v + h * p->v;
	dv.c_row = r->ld_v;
	ready.per = 1;
	ready.pack_columns = r->kernels->f32.pack_columns;
	gemm_transposed(r->kernels->mr, &ready, &dk, r->work + worker * r->work_each);
	gemm_transposed(r->kernels->mr, &ready, &dv, r->work + worker * r->work_each);
}

/* Lays the backward pass's buffers out for `held` heads at a time. */
static void lay_out(struct ops *ops, struct attention_run *r, size_t held)
{
	unsigned threads = threads_count(ops->threads);
	size_t scores_n = held * r->nq_places * r->ld;
	struct {
		float **to;
		size_t n;
	} rows[] = {{&r->keys_t, held * r->keys_t_n},
	            {&r->values_t, held * r->values_t_n},
	            {&r->keys, held * r->keys_n},
	            {&r->queries, held * r->queries_n},
	            {&r->d_o, held * r->d_o_n},
	            {&r->prob, scores_n},
	            {&r->ds, scores_n},
	            {&r->work, threads * r->work_each}};
	size_t total = 0;
	float *at;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		total += up(rows[i].n, 16);
	at = ops_scratch(ops, total);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		*rows[i].to = at;
		at += up(rows[i].n, 16);
	}
}

void attention_fast_backward(struct ops *ops, const struct op_attention *p)
{
	struct attention_run r = start_attention(ops, p);
	size_t each = 2 * r.nq_places * r.ld, held = HELD / each;

	held = held < 1 ? 1 : least(held, p->heads);
	r.work_each = row_work(&r) + (r.products->per > 1 ? 2 * QUERIES * r.ld : 0);
	if (r.work_each < up(r.kernels->mr * p->nq, 16) + 16)
		r.work_each = up(r.kernels->mr * p->nq, 16) + 16;
	lay_out(ops, &r, held);
	for (r.b = 0; r.b < p->batch; r.b++) {
		for (r.h0 = 0; r.h0 < p->heads; r.h0 += held) {
			r.heads = least(held, p->heads - r.h0);
			threads_run(ops->threads, 5 * r.heads, pack_backward, &r);
			threads_run(ops->threads, r.heads * r.q_blocks, backward_queries, &r);
			threads_run(ops->threads, r.heads * r.k_blocks, backward_keys, &r);
		}
	}
}

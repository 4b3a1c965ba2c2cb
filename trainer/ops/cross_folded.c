/* The cross attention folded: statistics of tokens, the small products, and the order of it all. */
#include "trainer/ops/cross_folded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "trainer/ops/cross_rows.h"
#include "trainer/ops/cross_tiles.h"
#include "trainer/ops/fast.h"
#include "trainer/ops/floats.h"
#include "trainer/ops/gemm.h"
#include "trainer/ops/threads.h"

enum { STATS_CHUNK = 1024 };

void *cross_folded_new(const struct op_cross *p)
{
	struct folded *f = mem_zalloc(sizeof(*f));

	f->batch_max = p->batch;
	return f;
}

void cross_folded_free(void *state)
{
	struct folded *f = state;

	if (f == NULL)
		return;
	float *arrays[] = {f->t,  f->q,     f->mean, f->rstd, f->bias,     f->u,
	                   f->z,  f->lse,   f->wtot, f->dq,   f->pad_part, f->plain_part,
	                   f->xh, f->delta, f->kept, f->dkept};

	for (size_t i = 0; i < ARRAY_LEN(arrays); i++)
		free(arrays[i]);
	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++) {
		free(f->places[g].data.memory);
		for (size_t d = 0; d < GRID_DIMS; d++)
			free(f->places[g].position[d].memory);
	}
	free(f->plain);
	free(f->n_plain);
	free(f);
}

/* Memory, at the first forward: the panels' width is the kernels'. */
static void ensure(struct cpu *ops, const struct op_cross *p, struct folded *f)
{
	size_t nr = ops->kernels->nr, c = p->channels, b = f->batch_max, lanes;

	if (f->kernels != NULL)
		return;
	f->kernels = ops->kernels;
	f->products = ops->products;
	f->blocks = (p->nq + nr - 1) / nr;
	lanes = f->blocks * nr;
	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++) {
		f->first[g] = f->n_tokens;
		f->n_tokens += p->groups[g].n;
	}
	f->t = floats_new(p->nq * c);
	f->q = floats_new(lanes * c);
	f->mean = floats_new(b * f->n_tokens);
	f->rstd = floats_new(b * f->n_tokens);
	f->bias = floats_new(b * f->n_tokens);
	f->u = floats_new(b * p->nq * c);
	f->z = floats_new(b * p->nq * c);
	f->lse = floats_new(b * lanes);
	f->wtot = floats_new(b * OP_TOKEN_GROUPS * lanes);
	f->delta = floats_new(b * lanes);
	f->kept = floats_new(b * lanes);
	f->dkept = floats_new(b * lanes);
	f->dq = floats_new(p->nq * c);
	f->pad_part = floats_new(f->blocks * OP_TOKEN_GROUPS * c);
	f->plain_part = floats_new(f->blocks * b * PLAIN_MAX * c);
	f->xh = floats_new(b * PLAIN_MAX * c);
	f->plain = mem_calloc(b, sizeof(f->plain[0]));
	f->n_plain = mem_calloc(b, sizeof(f->n_plain[0]));
}

/* ---- statistics of the tokens ---------------------------------------------------------------- */

struct moments {
	double sum, square;
};

/* Eight sums side by side: one would wait for itself at every value. */
static void add_moments(struct moments *m, const float *x, size_t n)
{
	enum { SIDE = 8 };
	double sum[SIDE] = {0}, square[SIDE] = {0};
	size_t i = 0;

	for (; i + SIDE <= n; i += SIDE) {
		for (size_t k = 0; k < SIDE; k++) {
			sum[k] += x[i + k];
			square[k] += (double)x[i + k] * x[i + k];
		}
	}
	for (size_t k = 0; i < n; i++, k++) {
		sum[k] += x[i];
		square[k] += (double)x[i] * x[i];
	}
	for (size_t k = 0; k < SIDE; k++) {
		m->sum += sum[k];
		m->square += square[k];
	}
}

static void mean_rstd(struct moments m, size_t n, float *mean, float *rstd)
{
	double mu = m.sum / (double)n, var = m.square / (double)n - mu * mu;

	*mean = (float)mu;
	*rstd = (float)(1 / sqrt((var > 0 ? var : 0) + 1e-5));
}

struct stats {
	const struct op_cross *p;
	struct folded *f;
	size_t group, b;
	struct moments pad, *table[GRID_DIMS];
};

static void stats_chunk(void *ctx, size_t i, unsigned worker)
{
	const struct stats *s = ctx;
	const struct op_tokens *g = &s->p->groups[s->group];
	size_t end = (i + 1) * STATS_CHUNK < g->n ? (i + 1) * STATS_CHUNK : g->n;
	size_t base = s->b * s->f->n_tokens + s->f->first[s->group];

	(void)worker;
	for (size_t j = i * STATS_CHUNK; j < end; j++) {
		struct moments m = s->pad;
		size_t rest = j;
		bool masked = g->mask != NULL && g->mask[s->b * g->n + j] != 0;

		add_moments(&m, g->data + (s->b * g->n + j) * g->n_data, g->n_data);
		for (size_t d = g->ndim; d-- > 0; rest /= g->dim[d]) {
			m.sum += s->table[d][rest % g->dim[d]].sum;
			m.square += s->table[d][rest % g->dim[d]].square;
		}
		mean_rstd(m, s->p->channels, &s->f->mean[base + j], &s->f->rstd[base + j]);
		s->f->bias[base + j] = 0;
		if (masked) { /* counted among the plain tokens instead */
			s->f->mean[base + j] = s->f->rstd[base + j] = 0;
			s->f->bias[base + j] = -1e30f;
		}
	}
}

static void group_stats(struct cpu *ops, const struct op_cross *p, size_t group)
{
	const struct op_tokens *g = &p->groups[group];
	size_t columns = 1 + 2 * g->bands;
	struct stats s = {.p = p, .f = p->state, .group = group};

	add_moments(&s.pad, g->pad, g->n_pad);
	for (size_t d = 0; d < g->ndim; d++) {
		s.table[d] = mem_calloc(g->dim[d], sizeof(struct moments));
		for (size_t i = 0; i < g->dim[d]; i++)
			add_moments(&s.table[d][i], g->position[d] + i * columns, columns);
	}
	for (s.b = 0; s.b < p->batch; s.b++)
		threads_run(ops->threads, (g->n + STATS_CHUNK - 1) / STATS_CHUNK, stats_chunk, &s);
	for (size_t d = 0; d < g->ndim; d++)
		free(s.table[d]);
}

static void add_plain(const struct op_cross *p, size_t b, size_t group, bool masked, size_t count)
{
	struct folded *f = p->state;
	const struct op_tokens *g = &p->groups[group];
	size_t at = f->n_plain[b]++, data = p->channels - g->n_pad;
	struct plain_token *t = &f->plain[b][at];
	struct moments m = {0};

	*t = (struct plain_token){.group = group,
	                          .masked = masked,
	                          .count = count,
	                          .xh = f->xh + (b * PLAIN_MAX + at) * p->channels};
	if (masked) {
		memcpy(t->xh, g->mask_token, p->channels * sizeof(float));
	} else {
		memcpy(t->xh, g->data + b * g->n_data, data * sizeof(float));
		memcpy(t->xh + data, g->pad, g->n_pad * sizeof(float));
	}
	add_moments(&m, t->xh, p->channels);
	mean_rstd(m, p->channels, &t->mean, &t->rstd);
	for (size_t c = 0; c < p->channels; c++)
		t->xh[c] = (t->xh[c] - t->mean) * t->rstd;
}

/* Masked tokens of a modality are all the same vector; a token without positions is itself one. */
static void find_plain(const struct op_cross *p, size_t b)
{
	struct folded *f = p->state;

	f->n_plain[b] = 0;
	for (size_t group = 0; group < OP_TOKEN_GROUPS; group++) {
		const struct op_tokens *g = &p->groups[group];
		size_t masked = 0;

		for (size_t j = 0; g->mask != NULL && j < g->n; j++)
			masked += g->mask[b * g->n + j] != 0;
		if (masked > 0)
			add_plain(p, b, group, true, masked);
		if (g->ndim == 0 && masked < g->n)
			add_plain(p, b, group, false, 1);
	}
}

/* ---- forward --------------------------------------------------------------------------------- */

static void fold_queries(struct cpu *ops, const struct op_cross *p)
{
	struct folded *f = p->state;
	struct gemm g = {.m = p->nq,
	                 .n = p->channels,
	                 .k = p->qk,
	                 .a = p->q,
	                 .a_row = p->qk,
	                 .a_col = 1,
	                 .b = p->wk,
	                 .b_row = p->channels,
	                 .b_col = 1,
	                 .c = f->t,
	                 .c_row = p->channels};

	gemm(ops, &g);
	cross_fold_queries(ops, p);
}

void cross_folded_forward(struct cpu *ops, const struct op_cross *p)
{
	struct folded *f = p->state;
	struct sweep sweep = {.p = p, .f = f};
	struct gemm g;

	ensure(ops, p, f);
	fold_queries(ops, p);
	for (size_t group = 0; group < OP_TOKEN_GROUPS; group++)
		if (p->groups[group].ndim > 0) {
			group_stats(ops, p, group);
			tiles_place(ops, p, group);
		}
	for (size_t b = 0; b < p->batch; b++)
		find_plain(p, b);
	sweep.work_each = sweep_forward_work(p, f->kernels);
	sweep.work = ops_scratch(ops, threads_count(ops->threads) * sweep.work_each);
	threads_run(ops->threads, p->batch * f->blocks, sweep_forward, &sweep);
	cross_scale_shift(ops, p);
	g = (struct gemm){.m = p->batch * p->nq,
	                  .n = p->v,
	                  .k = p->channels,
	                  .a = f->z,
	                  .a_row = p->channels,
	                  .a_col = 1,
	                  .b = p->wv,
	                  .b_row = 1,
	                  .b_col = p->channels,
	                  .c = p->context,
	                  .c_row = p->v};
	gemm(ops, &g);
	cross_add_bias(ops, p);
}

/* ---- backward -------------------------------------------------------------------------------- */

/* Value side: dWv, dbv; then z = dU = gain * (dcontext Wv), d gain, d shift, delta. */
static void unfold_values(struct cpu *ops, const struct op_cross *p)
{
	struct folded *f = p->state;
	size_t c = p->channels, rows = p->batch * p->nq, nr = f->kernels->nr;
	struct gemm dwv = {.m = p->v,
	                   .n = c,
	                   .k = rows,
	                   .a = p->dcontext,
	                   .a_row = 1,
	                   .a_col = p->v,
	                   .b = f->z,
	                   .b_row = c,
	                   .b_col = 1,
	                   .c = p->dwv,
	                   .c_row = c,
	                   .accumulate = true};
	struct gemm dz = {.m = rows,
	                  .n = c,
	                  .k = p->v,
	                  .a = p->dcontext,
	                  .a_row = p->v,
	                  .a_col = 1,
	                  .b = p->wv,
	                  .b_row = c,
	                  .b_col = 1,
	                  .c = f->z,
	                  .c_row = c};

	cross_scale_shift(ops, p);
	gemm(ops, &dwv);
	cross_bias_gradient(ops, p);
	gemm(ops, &dz);
	memset(f->delta, 0, p->batch * f->blocks * nr * sizeof(float));
	memset(f->dkept, 0, p->batch * f->blocks * nr * sizeof(float));
	cross_unfold_values(ops, p);
}

/* Query and key side, from dq'': d gain, dq = s dT Wk^T, dWk += s q^T dT with dT = gain * dq''.
 * The key's bias and the shift move a query's scores all alike: no derivative. */
static void unfold_queries(struct cpu *ops, const struct op_cross *p)
{
	struct folded *f = p->state;
	size_t c = p->channels;
	struct gemm dq = {.m = p->nq,
	                  .n = p->qk,
	                  .k = c,
	                  .a = f->dq,
	                  .a_row = c,
	                  .a_col = 1,
	                  .b = p->wk,
	                  .b_row = 1,
	                  .b_col = c,
	                  .c = p->dq,
	                  .c_row = p->qk};
	struct gemm dwk = {.m = p->qk,
	                   .n = c,
	                   .k = p->nq,
	                   .a = p->q,
	                   .a_row = 1,
	                   .a_col = p->qk,
	                   .b = f->dq,
	                   .b_row = c,
	                   .b_col = 1,
	                   .c = p->dwk,
	                   .c_row = c,
	                   .accumulate = true};

	cross_unfold_queries(ops, p);
	gemm(ops, &dq);
	gemm(ops, &dwk);
}

/* d xh of a plain token through its normalisation, into the mask vector or the padding. */
static void plain_gradient(const struct op_cross *p, const struct plain_token *t, float *dxh)
{
	const struct op_tokens *g = &p->groups[t->group];
	size_t c = p->channels, from = t->masked ? 0 : c - g->n_pad;
	float *to = t->masked ? g->dmask_token : g->dpad;
	double mean = 0, dot = 0;

	for (size_t k = 0; k < c; k++) {
		mean += dxh[k];
		dot += (double)dxh[k] * t->xh[k];
	}
	mean /= (double)c;
	dot /= (double)c;
	for (size_t k = from; k < c; k++)
		to[k - from] += (float)(t->rstd * (dxh[k] - mean - t->xh[k] * dot));
}

/* Adds up what the blocks have found, in their order. */
static void token_gradients(const struct op_cross *p)
{
	struct folded *f = p->state;
	size_t c = p->channels, stride = p->batch * PLAIN_MAX * c;

	for (size_t group = 0; group < OP_TOKEN_GROUPS; group++)
		for (size_t i = 0; p->groups[group].ndim > 0 && i < f->blocks; i++)
			f->kernels->add(p->groups[group].dpad,
			                f->pad_part + (i * OP_TOKEN_GROUPS + group) * c,
			                p->groups[group].n_pad);
	for (size_t b = 0; b < p->batch; b++) {
		for (size_t v = 0; v < f->n_plain[b]; v++) {
			float *dxh = f->plain_part + (b * PLAIN_MAX + v) * c;

			for (size_t i = 1; i < f->blocks; i++)
				f->kernels->add(dxh, dxh + i * stride, c);
			plain_gradient(p, &f->plain[b][v], dxh);
		}
	}
}

void cross_folded_backward(struct cpu *ops, const struct op_cross *p)
{
	struct folded *f = p->state;
	struct sweep sweep = {.p = p, .f = f};

	unfold_values(ops, p);
	sweep.work_each = sweep_backward_work(p, f->kernels);
	sweep.work = ops_scratch(ops, threads_count(ops->threads) * sweep.work_each);
	threads_run(ops->threads, f->blocks, sweep_backward, &sweep);
	unfold_queries(ops, p);
	token_gradients(p);
}

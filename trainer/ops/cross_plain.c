#include "trainer/ops/cross_plain.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/ops/philox.h"

struct plain_state {
	size_t n_tokens;
	float *x, *norm, *mean, *rstd, *keys, *values, *lse; /* for all clips */
	float *dkeys, *dvalues, *dnorm, *dx, *zero;
};

size_t op_position_channel(const struct op_tokens *g, size_t d, size_t column)
{
	if (column == 0)
		return d;
	if (column <= g->bands)
		return g->ndim + d * g->bands + column - 1;
	return g->ndim + g->ndim * g->bands + d * g->bands + column - 1 - g->bands;
}

float op_dropout_factor(const struct op_dropout *d, size_t b, size_t row, size_t columns,
                        size_t column)
{
	uint64_t sample = d->sample != NULL ? d->sample[b] : b;
	uint64_t block = row * ((columns + 3) / 4) + column / 4;
	uint32_t key[2] = {(uint32_t)d->seed, (uint32_t)(d->seed >> 32)}, out[4];
	uint32_t counter[4] = {(uint32_t)block, (uint32_t)STREAM_DROPOUT << 16 | d->layer,
	                       (uint32_t)sample, (uint32_t)(sample >> 32)};

	philox_block(key, counter, out);
	return (double)out[column % 4] >= d->p * 0x1p32 ? (float)(1 / (1 - d->p)) : 0;
}

static size_t count_tokens(const struct op_cross *p)
{
	size_t n = 0;

	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++)
		n += p->groups[g].n;
	return n;
}

static bool is_masked(const struct op_tokens *g, size_t b, size_t j)
{
	return g->mask != NULL && g->mask[b * g->n + j] != 0;
}

static void form_token(const struct op_tokens *g, size_t b, size_t j, float *x)
{
	size_t n_pos = g->ndim * (1 + 2 * g->bands), rest = j;

	memcpy(x, g->data + (b * g->n + j) * g->n_data, g->n_data * sizeof(x[0]));
	for (size_t d = g->ndim; d-- > 0; rest /= g->dim[d]) {
		const float *row = g->position[d] + rest % g->dim[d] * (1 + 2 * g->bands);

		for (size_t c = 0; c < 1 + 2 * g->bands; c++)
			x[g->n_data + op_position_channel(g, d, c)] = row[c];
	}
	memcpy(x + g->n_data + n_pos, g->pad, g->n_pad * sizeof(x[0]));
}

void op_tokens_form(const struct op_cross *p, size_t b, float *out)
{
	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++) {
		const struct op_tokens *group = &p->groups[g];

		for (size_t j = 0; j < group->n; j++, out += p->channels) {
			if (is_masked(group, b, j))
				memcpy(out, group->mask_token, p->channels * sizeof(out[0]));
			else
				form_token(group, b, j, out);
		}
	}
}

void *cross_plain_new(struct ops *ops, const struct op_cross *p)
{
	struct plain_state *s = mem_zalloc(sizeof(*s));
	size_t rows = p->batch * count_tokens(p);

	(void)ops;
	s->n_tokens = count_tokens(p);
	s->x = mem_calloc(rows * p->channels, sizeof(float));
	s->norm = mem_calloc(rows * p->channels, sizeof(float));
	s->mean = mem_calloc(rows, sizeof(float));
	s->rstd = mem_calloc(rows, sizeof(float));
	s->keys = mem_calloc(rows * p->qk, sizeof(float));
	s->values = mem_calloc(rows * p->v, sizeof(float));
	s->lse = mem_calloc(p->batch * p->heads * p->nq, sizeof(float));
	s->dkeys = mem_calloc(rows * p->qk, sizeof(float));
	s->dvalues = mem_calloc(rows * p->v, sizeof(float));
	s->dnorm = mem_calloc(rows * p->channels, sizeof(float));
	s->dx = mem_calloc(rows * p->channels, sizeof(float));
	s->zero = mem_calloc(p->qk, sizeof(float));
	return s;
}

void cross_plain_free(struct ops *ops, void *state)
{
	struct plain_state *s = state;

	(void)ops;
	if (s == NULL)
		return;
	float *arrays[] = {s->x,   s->norm,  s->mean,    s->rstd,  s->keys, s->values,
	                   s->lse, s->dkeys, s->dvalues, s->dnorm, s->dx,   s->zero};

	for (size_t i = 0; i < ARRAY_LEN(arrays); i++)
		free(arrays[i]);
	free(s);
}

static struct op_norm norm_of(const struct op_cross *p, const struct plain_state *s)
{
	return (struct op_norm){.rows = p->batch * s->n_tokens,
	                        .width = p->channels,
	                        .x = s->x,
	                        .gain = p->gain,
	                        .shift = p->shift,
	                        .y = s->norm,
	                        .mean = s->mean,
	                        .rstd = s->rstd,
	                        .dy = s->dnorm,
	                        .dx = s->dx,
	                        .dgain = p->dgain,
	                        .dshift = p->dshift};
}

static struct op_attention attention_of(const struct op_cross *p, const struct plain_state *s)
{
	return (struct op_attention){.batch = p->batch,
	                             .heads = p->heads,
	                             .nq = p->nq,
	                             .nk = s->n_tokens,
	                             .qk = p->qk / p->heads,
	                             .v = p->v / p->heads,
	                             .q = p->q,
	                             .k = s->keys,
	                             .values = s->values,
	                             .q_shared = true,
	                             .dropout = p->dropout,
	                             .o = p->context,
	                             .lse = s->lse,
	                             .d_o = p->dcontext,
	                             .dq = p->dq,
	                             .dk = s->dkeys,
	                             .dvalues = s->dvalues};
}

void cross_plain_forward(struct ops *ops, const struct op_cross *p)
{
	struct plain_state *s = p->state;
	struct op_norm norm = norm_of(p, s);
	struct op_attention attention = attention_of(p, s);
	struct op_linear keys = {.rows = norm.rows,
	                         .in = p->channels,
	                         .out = p->qk,
	                         .x = s->norm,
	                         .w = p->wk,
	                         .bias = p->bk,
	                         .y = s->keys};
	struct op_linear values = {.rows = norm.rows,
	                           .in = p->channels,
	                           .out = p->v,
	                           .x = s->norm,
	                           .w = p->wv,
	                           .bias = p->bv,
	                           .y = s->values};

	for (size_t b = 0; b < p->batch; b++)
		op_tokens_form(p, b, s->x + b * s->n_tokens * p->channels);
	ops->table->norm_forward(ops, &norm);
	ops->table->linear_forward(ops, &keys);
	ops->table->linear_forward(ops, &values);
	ops->table->attention_forward(ops, &attention);
}

/* Sums dx of each token into its padding or its mask vector; data and positions are constants. */
static void token_gradients(const struct op_cross *p, const struct plain_state *s)
{
	const float *dx = s->dx;

	for (size_t b = 0; b < p->batch; b++) {
		for (size_t g = 0; g < OP_TOKEN_GROUPS; g++) {
			const struct op_tokens *t = &p->groups[g];

			for (size_t j = 0; j < t->n; j++, dx += p->channels) {
				bool masked = is_masked(t, b, j);
				size_t from = masked ? 0 : p->channels - t->n_pad;
				float *to = masked ? t->dmask_token : t->dpad;

				for (size_t c = from; c < p->channels; c++)
					to[c - from] += dx[c];
			}
		}
	}
}

void cross_plain_backward(struct ops *ops, const struct op_cross *p)
{
	struct plain_state *s = p->state;
	struct op_norm norm = norm_of(p, s);
	struct op_attention attention = attention_of(p, s);
	struct op_linear keys = {.rows = norm.rows,
	                         .in = p->channels,
	                         .out = p->qk,
	                         .x = s->norm,
	                         .w = p->wk,
	                         .dy = s->dkeys,
	                         .dx = s->dnorm,
	                         .dw = p->dwk,
	                         .dbias = s->zero};
	struct op_linear values = {.rows = norm.rows,
	                           .in = p->channels,
	                           .out = p->v,
	                           .x = s->norm,
	                           .w = p->wv,
	                           .dy = s->dvalues,
	                           .dx = s->dnorm,
	                           .add_dx = true,
	                           .dw = p->dwv,
	                           .dbias = p->dbv};

	/* bk shifts a query's scores all alike, which softmax ignores: its derivative is exactly 0.
	 * What linear_backward sums up for it is rounding noise, and is dropped in `zero`. */
	ops->table->attention_backward(ops, &attention);
	ops->table->linear_backward(ops, &keys);
	ops->table->linear_backward(ops, &values);
	ops->table->norm_backward(ops, &norm);
	token_gradients(p, s);
}

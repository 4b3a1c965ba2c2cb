/* The plain form: what several heads need, and what the folded form is held against. */
#include "trainer/cuda/launch_cross.h"

#include "base/attr.h"

enum { LINE = 64 / sizeof(float) /* arrays begin at whole lines */ };

size_t cuda_plain_place(const struct op_cross *p, float *at, struct cuda_plain *ret)
{
	struct cuda_plain c = {0};
	size_t rows, floats = 0;

	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++)
		c.tokens += p->groups[g].n;
	rows = p->batch * c.tokens;
	const struct {
		float **array;
		size_t n;
	} arrays[] = {
		{&c.x, rows * p->channels},
		{&c.norm, rows * p->channels},
		{&c.dnorm, rows * p->channels},
		{&c.mean, rows},
		{&c.rstd, rows},
		{&c.keys, rows * p->qk},
		{&c.values, rows * p->v},
		{&c.dkeys, rows * p->qk},
		{&c.dvalues, rows * p->v},
		{&c.lse, p->batch * p->heads * p->nq},
	};

	for (size_t i = 0; i < ARRAY_LEN(arrays); i++) {
		*arrays[i].array = at != NULL ? at + floats : NULL;
		floats += (arrays[i].n + LINE - 1) / LINE * LINE;
	}
	*ret = c;
	return floats * sizeof(float);
}

/* ---- tokens ---- */

static void form_tokens(struct cuda_queue *q, const struct op_cross *p, const struct cuda_plain *c)
{
	uint32_t first = 0;

	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++) {
		const struct op_tokens *t = &p->groups[g];
		struct tokens_launch l = {.data = t->data,
		                          .mask = t->mask,
		                          .pad = t->pad,
		                          .mask_token = t->mask_token,
		                          .out = c->x,
		                          .n = (uint32_t)t->n,
		                          .n_data = (uint32_t)t->n_data,
		                          .n_pad = (uint32_t)t->n_pad,
		                          .ndim = (uint32_t)t->ndim,
		                          .bands = (uint32_t)t->bands,
		                          .width = (uint32_t)p->channels,
		                          .first = first,
		                          .all = (uint32_t)c->tokens};

		for (size_t d = 0; d < t->ndim; d++) {
			l.position[d] = t->position[d];
			l.dim[d] = (uint32_t)t->dim[d];
		}
		if (t->n > 0 && p->batch > 0)
			q->launch(q, KERNEL_tokens,
			          (const unsigned[3]){(unsigned)t->n, (unsigned)p->batch, 1}, &l);
		first += (uint32_t)t->n;
	}
}

/* Adds columns from `from` on of the tokens' derivative to `out`: of masked tokens, or the others.
 */
static void sum_tokens(struct cuda_queue *q, const struct op_cross *p, const struct cuda_plain *c,
                       const struct token_sums_launch *which)
{
	struct token_sums_launch l = *which;

	l.dx = c->norm;
	l.clips = (uint32_t)p->batch;
	l.all = (uint32_t)c->tokens;
	l.width = (uint32_t)p->channels;
	l.columns = l.width - l.from;
	if (l.columns > 0 && l.n > 0)
		q->launch(q, KERNEL_token_sums, (const unsigned[3]){(l.columns + 31) / 32, 1, 1},
		          &l);
}

/* Data and positions are constants: a token's derivative goes to its padding, or to its mask. */
static void token_gradients(struct cuda_queue *q, const struct op_cross *p,
                            const struct cuda_plain *c)
{
	uint32_t first = 0;

	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++) {
		const struct op_tokens *t = &p->groups[g];
		struct token_sums_launch pad = {.mask = t->mask,
		                                .out = t->dpad,
		                                .n = (uint32_t)t->n,
		                                .first = first,
		                                .from = (uint32_t)(p->channels - t->n_pad)};
		struct token_sums_launch mask = pad;

		mask.out = t->dmask_token;
		mask.from = 0;
		mask.masked = 1;
		sum_tokens(q, p, c, &pad);
		if (t->mask != NULL)
			sum_tokens(q, p, c, &mask);
		first += (uint32_t)t->n;
	}
}

/* ---- the layers ---- */

/* The tokens' derivative takes the place of the normalised tokens, which are not read after the
 * linear layers. */
static struct op_norm norm_of(const struct op_cross *p, const struct cuda_plain *c)
{
	return (struct op_norm){.rows = p->batch * c->tokens,
	                        .width = p->channels,
	                        .x = c->x,
	                        .gain = p->gain,
	                        .shift = p->shift,
	                        .y = c->norm,
	                        .mean = c->mean,
	                        .rstd = c->rstd,
	                        .dy = c->dnorm,
	                        .dx = c->norm,
	                        .dgain = p->dgain,
	                        .dshift = p->dshift};
}

static struct op_attention attention_of(const struct op_cross *p, const struct cuda_plain *c)
{
	return (struct op_attention){.batch = p->batch,
	                             .heads = p->heads,
	                             .nq = p->nq,
	                             .nk = c->tokens,
	                             .qk = p->qk / p->heads,
	                             .v = p->v / p->heads,
	                             .q = p->q,
	                             .k = c->keys,
	                             .values = c->values,
	                             .q_shared = true,
	                             .dropout = p->dropout,
	                             .o = p->context,
	                             .lse = c->lse,
	                             .d_o = p->dcontext,
	                             .dq = p->dq,
	                             .dk = c->dkeys,
	                             .dvalues = c->dvalues};
}

/* The bias of the keys shifts a query's scores all alike, which softmax ignores: its derivative is
 * exactly 0, and what a sum would give is rounding noise. */
static struct op_linear keys_of(const struct op_cross *p, const struct cuda_plain *c)
{
	return (struct op_linear){.rows = p->batch * c->tokens,
	                          .in = p->channels,
	                          .out = p->qk,
	                          .x = c->norm,
	                          .w = p->wk,
	                          .bias = p->bk,
	                          .y = c->keys,
	                          .dy = c->dkeys,
	                          .dx = c->dnorm,
	                          .dw = p->dwk,
	                          .dbias = NULL};
}

static struct op_linear values_of(const struct op_cross *p, const struct cuda_plain *c)
{
	return (struct op_linear){.rows = p->batch * c->tokens,
	                          .in = p->channels,
	                          .out = p->v,
	                          .x = c->norm,
	                          .w = p->wv,
	                          .bias = p->bv,
	                          .y = c->values,
	                          .dy = c->dvalues,
	                          .dx = c->dnorm,
	                          .add_dx = true,
	                          .dw = p->dwv,
	                          .dbias = p->dbv};
}

void cuda_plain_forward(struct cuda_queue *q, const struct op_cross *p)
{
	const struct cuda_plain *c = &((const struct cuda_cross *)p->state)->plain;
	struct op_norm norm = norm_of(p, c);
	struct op_attention attention = attention_of(p, c);
	struct op_linear keys = keys_of(p, c), values = values_of(p, c);

	form_tokens(q, p, c);
	cuda_norm_forward(q, &norm);
	cuda_linear_forward(q, &keys);
	cuda_linear_forward(q, &values);
	cuda_attention_forward(q, &attention);
}

void cuda_plain_backward(struct cuda_queue *q, const struct op_cross *p)
{
	const struct cuda_plain *c = &((const struct cuda_cross *)p->state)->plain;
	struct op_norm norm = norm_of(p, c);
	struct op_attention attention = attention_of(p, c);
	struct op_linear keys = keys_of(p, c), values = values_of(p, c);

	cuda_attention_backward(q, &attention);
	cuda_linear_backward(q, &keys);
	cuda_linear_backward(q, &values);
	cuda_norm_backward(q, &norm);
	token_gradients(q, p, c);
}

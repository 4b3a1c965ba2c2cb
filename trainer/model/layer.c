#include "trainer/model/graph.h"

struct op_linear layer_linear(const struct model *m, size_t id, size_t rows, const float *x,
                              float *y)
{
	const struct tensor *w = &m->params.at[id];

	return (struct op_linear){.rows = rows,
	                          .out = w->shape[0],
	                          .in = w->shape[1],
	                          .x = x,
	                          .w = w->data,
	                          .bias = value_of(m, id + 1),
	                          .y = y,
	                          .dw = m->grads.n > 0 ? grad_of(m, id) : NULL,
	                          .dbias = m->grads.n > 0 ? grad_of(m, id + 1) : NULL};
}

struct op_norm layer_norm(const struct model *m, size_t id, size_t rows, const float *x, float *y,
                          float *mean, float *rstd)
{
	return (struct op_norm){.rows = rows,
	                        .width = m->params.at[id].shape[0],
	                        .x = x,
	                        .y = y,
	                        .gain = value_of(m, id),
	                        .shift = value_of(m, id + 1),
	                        .mean = mean,
	                        .rstd = rstd,
	                        .dgain = m->grads.n > 0 ? grad_of(m, id) : NULL,
	                        .dshift = m->grads.n > 0 ? grad_of(m, id + 1) : NULL};
}

/* The first half of the MLP. */
static struct op_linear_gelu layer_dense1(const struct model *m, const struct layer_params *p,
                                          const struct layer_act *a, size_t rows)
{
	struct op_linear linear = layer_linear(m, p->dense1, rows, a->norm, a->hidden);

	return (struct op_linear_gelu){.linear = linear,
	                               .gelu = {.n = rows * linear.out,
	                                        .form = m->config.hidden_act,
	                                        .x = a->hidden,
	                                        .y = a->gelu}};
}

void layer_mlp_forward(struct model *m, const struct layer_params *p, struct layer_act *a,
                       size_t rows)
{
	const struct op_table *ops = m->ops->table;
	struct op_norm norm = layer_norm(m, p->norm, rows, a->attn_out, a->norm, a->mean, a->rstd);
	struct op_linear_gelu dense1 = layer_dense1(m, p, a, rows);
	struct op_linear dense2 = layer_linear(m, p->dense2, rows, a->gelu, a->y);

	dense2.residual = a->attn_out;
	m->ops->part = p->mlp_part;
	ops->norm_forward(m->ops, &norm);
	ops->linear_gelu_forward(m->ops, &dense1);
	ops->linear_forward(m->ops, &dense2);
}

void layer_mlp_again(struct model *m, const struct layer_params *p, const struct layer_act *a,
                     size_t rows, bool products)
{
	const struct op_table *ops = m->ops->table;
	struct op_norm norm = layer_norm(m, p->norm, rows, a->attn_out, a->norm, a->mean, a->rstd);
	struct op_linear_gelu dense1 = layer_dense1(m, p, a, rows);

	m->ops->part = p->mlp_part;
	ops->norm_forward(m->ops, &norm);
	if (products)
		ops->linear_gelu_forward(m->ops, &dense1);
	else
		ops->gelu_forward(m->ops, &dense1.gelu);
}

void layer_mlp_backward(struct model *m, const struct layer_params *p, const struct layer_act *a,
                        struct layer_grad *g, size_t rows)
{
	const struct op_table *ops = m->ops->table;
	struct op_norm norm = layer_norm(m, p->norm, rows, a->attn_out, a->norm, a->mean, a->rstd);
	struct op_linear dense1 = layer_linear(m, p->dense1, rows, a->norm, a->hidden);
	struct op_linear_gelu dense2 = {.linear = layer_linear(m, p->dense2, rows, a->gelu, a->y),
	                                .gelu = {.n = rows * dense1.out,
	                                         .form = m->config.hidden_act,
	                                         .x = a->hidden,
	                                         .y = a->gelu,
	                                         .dy = g->dhidden,
	                                         .dx = g->dhidden}};

	m->ops->part = p->mlp_part;
	dense2.linear.dy = g->dy;
	dense2.linear.dx = g->dhidden;
	ops->linear_gelu_backward(m->ops, &dense2);
	dense1.dy = g->dhidden;
	dense1.dx = g->dnorm;
	ops->linear_backward(m->ops, &dense1);
	norm.dy = g->dnorm;
	norm.dx = g->dy;
	norm.add_dx = true;
	ops->norm_backward(m->ops, &norm);
}

static struct op_attention self_attention(const struct model *m, size_t index,
                                          const struct batch *b)
{
	const struct model_config *c = &m->config;
	const struct layer_act *a = &m->self[index];

	return (struct op_attention){.batch = b->n,
	                             .heads = c->num_self_attention_heads,
	                             .nq = c->num_latents,
	                             .nk = c->num_latents,
	                             .qk = m->dims.self_qk / c->num_self_attention_heads,
	                             .v = m->dims.self_v / c->num_self_attention_heads,
	                             .q = a->q,
	                             .k = a->k,
	                             .values = a->v,
	                             .dropout = {m->training ? c->attention_probs_dropout_prob : 0,
	                                         b->dropout_seed, (uint32_t)index + 1,
	                                         b->dropout_sample},
	                             .o = a->o,
	                             .lse = a->lse,
	                             .d_o = m->enc_grad.d_o,
	                             .dq = m->enc_grad.dq,
	                             .dk = m->enc_grad.dk,
	                             .dvalues = m->enc_grad.dv};
}

static const struct layer_params *self_params(const struct model *m, size_t index)
{
	return &m->ids.self[index % m->config.num_self_attends_per_block];
}

/* From the layer's input to its attn_out. */
static void attend_forward(struct model *m, size_t index, const struct batch *b)
{
	const struct op_table *ops = m->ops->table;
	const struct layer_params *p = self_params(m, index);
	struct layer_act *a = &m->self[index];
	size_t rows = b->n * m->config.num_latents;
	struct op_norm norm = layer_norm(m, p->norm_q, rows, a->x, a->norm_q, a->mean_q, a->rstd_q);
	struct op_linear q = layer_linear(m, p->query, rows, a->norm_q, a->q);
	struct op_linear k = layer_linear(m, p->key, rows, a->norm_q, a->k);
	struct op_linear v = layer_linear(m, p->value, rows, a->norm_q, a->v);
	struct op_linear out = layer_linear(m, p->out, rows, a->o, a->attn_out);
	struct op_attention attention = self_attention(m, index, b);

	out.residual = a->x;
	m->ops->part = p->part;
	ops->norm_forward(m->ops, &norm);
	ops->linear_forward(m->ops, &q);
	ops->linear_forward(m->ops, &k);
	ops->linear_forward(m->ops, &v);
	ops->attention_forward(m->ops, &attention);
	ops->linear_forward(m->ops, &out);
	if (a->keep == KEEP_INPUT)
		m->held = index;
}

void layer_self_forward(struct model *m, size_t index, const struct batch *b)
{
	attend_forward(m, index, b);
	layer_mlp_forward(m, self_params(m, index), &m->self[index], b->n * m->config.num_latents);
}

/* What the MLP's backward reads and the layer did not keep. */
static void self_again(struct model *m, size_t index, const struct batch *b)
{
	const struct layer_act *a = &m->self[index];
	bool lost = a->keep == KEEP_INPUT && m->held != index;

	if (lost)
		attend_forward(m, index, b);
	if (a->keep != KEEP_ALL)
		layer_mlp_again(m, self_params(m, index), a, b->n * m->config.num_latents, lost);
}

void layer_self_backward(struct model *m, size_t index, const struct batch *b)
{
	const struct op_table *ops = m->ops->table;
	const struct layer_params *p = self_params(m, index);
	struct layer_act *a = &m->self[index];
	struct layer_grad *g = &m->enc_grad;
	size_t rows = b->n * m->config.num_latents;
	struct op_norm norm = layer_norm(m, p->norm_q, rows, a->x, a->norm_q, a->mean_q, a->rstd_q);
	struct op_linear q = layer_linear(m, p->query, rows, a->norm_q, a->q);
	struct op_linear k = layer_linear(m, p->key, rows, a->norm_q, a->k);
	struct op_linear v = layer_linear(m, p->value, rows, a->norm_q, a->v);
	struct op_linear out = layer_linear(m, p->out, rows, a->o, a->attn_out);
	struct op_attention attention = self_attention(m, index, b);

	self_again(m, index, b);
	layer_mlp_backward(m, p, a, g, rows);
	m->ops->part = p->part;
	out.dy = g->dy;
	out.dx = g->d_o;
	ops->linear_backward(m->ops, &out);
	ops->attention_backward(m->ops, &attention);
	if (a->keep != KEEP_ALL)
		ops->norm_forward(m->ops, &norm);
	q.dy = g->dq;
	k.dy = g->dk;
	v.dy = g->dv;
	q.dx = k.dx = v.dx = g->dnorm;
	k.add_dx = v.add_dx = true;
	k.dbias = m->discard; /* exactly 0 in real arithmetic: softmax ignores it */
	ops->linear_backward(m->ops, &q);
	ops->linear_backward(m->ops, &k);
	ops->linear_backward(m->ops, &v);
	norm.dy = g->dnorm;
	norm.dx = g->dy;
	norm.add_dx = true;
	ops->norm_backward(m->ops, &norm);
}

#include <stdlib.h>

#include "trainer/model/graph.h"

/*
 * Cut from large blocks: most buffers are smaller than a huge page, and the processor would look up
 * their pages again and again. A line between them keeps them off the same places of a page.
 */
static float *cut_floats(struct model *m, size_t n)
{
	enum { LINE = 16, BLOCK = 4 << 20 };
	size_t takes = (n + LINE - 1) / LINE * LINE + LINE;

	if (takes > m->block_left) {
		struct buffer block = buffer_new(
			m->ops, (takes > BLOCK ? takes : BLOCK) * sizeof(float), "activations");

		if (block.at == NULL)
			return &m->nowhere; /* the error sticks: no op will look at it */
		vec_push(&m->blocks, block);
		m->block_at = block.at;
		m->block_left = block.bytes / sizeof(float);
	}
	m->block_at += takes;
	m->block_left -= takes;
	return m->block_at - takes;
}

static float *add_floats(struct model *m, size_t n)
{
	m->workspace += n * sizeof(float);
	return m->measuring ? &m->nowhere : cut_floats(m, n);
}

struct layer_sizes {
	size_t rows_q, rows_kv, rows; /* queries as projected; keys; outputs */
	size_t q, kv, qk, v, heads, hidden;
};

/* A buffer that is shared, or one of its own. */
static float *share(struct model *m, float *shared, size_t n)
{
	return shared != NULL ? shared : add_floats(m, n);
}

static void take_products(struct model *m, const struct layer_sizes *s,
                          const struct layer_act *shared, struct layer_act *a)
{
	a->q = share(m, shared->q, s->rows_q * s->qk);
	if (s->rows_kv > 0) {
		a->k = share(m, shared->k, s->rows_kv * s->qk);
		a->v = share(m, shared->v, s->rows_kv * s->v);
	}
	a->o = share(m, shared->o, s->rows * s->v);
	a->lse = share(m, shared->lse, s->rows * s->heads);
	a->attn_out = share(m, shared->attn_out, s->rows * s->q);
	a->hidden = share(m, shared->hidden, s->rows * s->hidden);
}

/* What `shared` has, the layer does not own; it says what is kept, too. */
static void take_layer(struct model *m, const struct layer_sizes *s, const struct layer_act *shared,
                       struct layer_act *a)
{
	a->keep = shared->keep;
	take_products(m, s, shared, a);
	a->norm_q = share(m, shared->norm_q, s->rows_q * s->q);
	a->mean_q = add_floats(m, s->rows_q);
	a->rstd_q = add_floats(m, s->rows_q);
	a->norm = share(m, shared->norm, s->rows * s->q);
	a->mean = add_floats(m, s->rows);
	a->rstd = add_floats(m, s->rows);
	a->gelu = share(m, shared->gelu, s->rows * s->hidden);
	a->y = add_floats(m, s->rows * s->q);
}

static size_t max(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Of all layers of the encoder, one after the other. What is computed again lies in buffers of
 * derivatives: the queries' norm where d_o was read last, the MLP's norm where d_o comes later,
 * GELU where dnorm comes later. */
static void take_enc_grad(struct model *m, size_t rows, size_t hidden)
{
	const struct model_dims *d = &m->dims;
	size_t w = m->config.d_latents;
	bool holds = m->recompute.selective;

	m->enc_grad =
		(struct layer_grad){.dy = add_floats(m, rows * w),
	                            .dhidden = add_floats(m, rows * hidden),
	                            .dnorm = add_floats(m, rows * (holds ? max(hidden, w) : w)),
	                            .d_o = add_floats(m, rows * max(d->self_v, holds ? w : 0)),
	                            .dq = add_floats(m, rows * d->self_qk),
	                            .dk = add_floats(m, rows * max(d->self_qk, d->dec_qk)),
	                            .dv = add_floats(m, rows * max(d->self_v, d->dec_v))};
}

static void take_encoder_layers(struct model *m, const struct layer_sizes *cross,
                                const struct layer_sizes *self)
{
	const struct layer_act all = {.keep = KEEP_ALL};
	struct layer_act of_self = all, of_cross = all, input;
	struct layer_sizes largest = *self;

	if (m->recompute.selective) {
		of_self = (struct layer_act){.keep = KEEP_PRODUCTS,
		                             .norm_q = m->enc_grad.d_o,
		                             .norm = m->enc_grad.d_o,
		                             .gelu = m->enc_grad.dnorm};
		of_cross = of_self;
		of_cross.norm_q = NULL; /* the same for all clips: small */
	}
	input = of_self;
	input.keep = KEEP_INPUT;
	largest.hidden = max(self->hidden, m->recompute.every == 1 ? cross->hidden : 0);
	if (recompute_layers(m->recompute, m->dims.n_layers) > 0)
		take_products(m, &largest, &all, &input);
	if (m->recompute.every == 1 && m->dims.n_layers > 0) {
		of_cross.keep = KEEP_INPUT;
		of_cross.hidden = input.hidden;
	}
	take_layer(m, cross, &of_cross, &m->cross);
	for (size_t i = 0; i < m->dims.n_layers; i++) {
		take_layer(m, self, recompute_layer(m->recompute, i) ? &input : &of_self,
		           &m->self[i]);
		m->self[i].x = i == 0 ? m->cross.y : m->self[i - 1].y;
	}
}

static void take_encoder(struct model *m, size_t batch)
{
	const struct model_config *c = &m->config;
	const struct model_dims *d = &m->dims;
	size_t n = c->num_latents, rows = batch * n, w = c->d_latents;
	size_t widest = max(max(d->self_qk, d->enc_qk), d->dec_qk);
	struct layer_sizes cross = {.rows_q = n,
	                            .rows = rows,
	                            .q = w,
	                            .qk = d->enc_qk,
	                            .v = d->enc_v,
	                            .heads = 1,
	                            .hidden = w * c->cross_attention_widening_factor};
	struct layer_sizes self = {.rows_q = rows,
	                           .rows_kv = rows,
	                           .rows = rows,
	                           .q = w,
	                           .qk = d->self_qk,
	                           .v = d->self_v,
	                           .heads = c->num_self_attention_heads,
	                           .hidden = w * c->self_attention_widening_factor};

	m->discard = add_floats(m, widest);
	if (!m->measuring)
		ops_zero(m->ops, m->discard, widest * sizeof(float));
	m->patches = add_floats(m, batch * 3 * d->n_pixels);
	m->onehot = add_floats(m, batch * c->num_labels);
	m->latents_b = add_floats(m, rows * w);
	take_enc_grad(m, rows, max(cross.hidden, self.hidden));
	take_encoder_layers(m, &cross, &self);
	m->dcontext = add_floats(m, rows * d->enc_v);
	m->dlatent_q = add_floats(m, n * d->enc_qk);
	m->cross_op = (struct op_cross){.batch = batch,
	                                .heads = c->num_cross_attention_heads,
	                                .nq = n,
	                                .qk = d->enc_qk,
	                                .v = d->enc_v,
	                                .channels = d->channels};
	encoder_token_shapes(m, m->cross_op.groups);
	if (!m->measuring)
		m->cross_op.state = m->ops->table->cross_state_new(m->ops, &m->cross_op);
}

static void take_decoder(struct model *m, size_t batch, size_t points)
{
	const struct model_config *c = &m->config;
	const struct model_dims *d = &m->dims;
	size_t rows = batch * points, latents = batch * c->num_latents, w = d->queries;
	struct layer_sizes s = {.rows_q = points,
	                        .rows_kv = latents,
	                        .rows = rows,
	                        .q = w,
	                        .qk = d->dec_qk,
	                        .v = d->dec_v,
	                        .heads = 1,
	                        .hidden = w};
	size_t widths[MODALITIES] = {c->samples_per_patch, 3, c->num_labels};
	struct layer_act shared;

	m->query = add_floats(m, points * w);
	m->dquery = add_floats(m, points * w);
	m->dec_grad = (struct layer_grad){.dy = add_floats(m, rows * w),
	                                  .dhidden = add_floats(m, rows * w),
	                                  .dnorm = add_floats(m, rows * w),
	                                  .d_o = add_floats(m, rows * max(d->dec_v, w)),
	                                  .dq = add_floats(m, points * d->dec_qk),
	                                  .dk = m->enc_grad.dk,
	                                  .dv = m->enc_grad.dv};
	/* Read for the last time before the derivative is written for the first. */
	shared = (struct layer_act){.keep = KEEP_ALL,
	                            .norm_q = m->dquery,
	                            .norm = m->dec_grad.d_o,
	                            .gelu = m->dec_grad.dnorm};
	take_layer(m, &s, &shared, &m->dec);
	m->dec.norm_kv = m->enc_grad.dy;
	m->dec.mean_kv = add_floats(m, latents);
	m->dec.rstd_kv = add_floats(m, latents);
	m->final = add_floats(m, rows * c->output_num_channels);
	m->dfinal = add_floats(m, rows * c->output_num_channels);
	for (enum modality k = 0; k < MODALITIES; k++) {
		m->logits[k] = add_floats(m, (k == LABEL ? batch : rows) * widths[k]);
		m->dlogits[k] = add_floats(m, (k == LABEL ? batch : rows) * widths[k]);
	}
}

void workspace_free(struct model *m)
{
	for (size_t i = 0; i < m->blocks.n; i++)
		buffer_free(m->ops, &m->blocks.at[i]);
	vec_done(&m->blocks);
	m->block_left = 0;
	if (m->cross_op.state != NULL)
		m->ops->table->cross_state_free(m->ops, m->cross_op.state);
	m->cross_op.state = NULL;
	m->workspace = m->max_batch = m->max_points = 0;
	m->held = SIZE_MAX;
}

void workspace_ensure(struct model *m, size_t batch, size_t points)
{
	if (batch <= m->max_batch && points <= m->max_points)
		return;
	batch = max(batch, m->max_batch);
	points = max(points, m->max_points);
	workspace_free(m);
	m->max_batch = batch;
	m->max_points = points;
	take_encoder(m, m->max_batch);
	take_decoder(m, m->max_batch, m->max_points);
}

struct model_workspace_bytes workspace_measure(const struct model_config *c, struct recompute r,
                                               size_t batch, size_t points)
{
	struct model m = {.config = *c, .dims = model_dims(c), .recompute = r, .measuring = true};
	struct model_workspace_bytes bytes;

	m.self = mem_calloc(m.dims.n_layers, sizeof(m.self[0]));
	take_encoder(&m, batch);
	bytes.encoder = m.workspace;
	take_decoder(&m, batch, points);
	bytes.decoder = m.workspace - bytes.encoder;
	free(m.self);
	return bytes;
}

#include <stdlib.h>
#include <string.h>

#include "trainer/model/graph.h"
#include "trainer/ops/floats.h"

static float *add_floats(struct model *m, size_t n)
{
	float *block = NULL;

	m->workspace += n * sizeof(float);
	if (m->measuring)
		return NULL;
	block = floats_new(n);
	vec_push(&m->blocks, block);
	return block;
}

struct layer_sizes {
	size_t rows_q, rows_kv, rows; /* queries as projected; keys; outputs */
	size_t q, kv, qk, v, heads, hidden;
};

static void take_layer(struct model *m, const struct layer_sizes *s, struct layer_act *a)
{
	a->norm_q = add_floats(m, s->rows_q * s->q);
	a->mean_q = add_floats(m, s->rows_q);
	a->rstd_q = add_floats(m, s->rows_q);
	a->q = add_floats(m, s->rows_q * s->qk);
	if (s->rows_kv > 0) {
		a->k = add_floats(m, s->rows_kv * s->qk);
		a->v = add_floats(m, s->rows_kv * s->v);
	}
	a->o = add_floats(m, s->rows * s->v);
	a->lse = add_floats(m, s->rows * s->heads);
	a->attn_out = add_floats(m, s->rows * s->q);
	a->norm = add_floats(m, s->rows * s->q);
	a->mean = add_floats(m, s->rows);
	a->rstd = add_floats(m, s->rows);
	a->hidden = add_floats(m, s->rows * s->hidden);
	a->gelu = add_floats(m, s->rows * s->hidden);
	a->y = add_floats(m, s->rows * s->q);
}

static size_t max(size_t a, size_t b)
{
	return a > b ? a : b;
}

static void take_encoder(struct model *m, size_t batch)
{
	const struct model_config *c = &m->config;
	const struct model_dims *d = &m->dims;
	size_t n = c->num_latents, rows = batch * n, w = c->d_latents;
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

	m->patches = add_floats(m, batch * 3 * d->n_pixels);
	m->onehot = add_floats(m, batch * c->num_labels);
	m->latents_b = add_floats(m, rows * w);
	take_layer(m, &cross, &m->cross);
	for (size_t i = 0; i < d->n_layers; i++) {
		take_layer(m, &self, &m->self[i]);
		m->self[i].x = i == 0 ? m->cross.y : m->self[i - 1].y;
	}
	m->enc_grad =
		(struct layer_grad){.dy = add_floats(m, rows * w),
	                            .dhidden = add_floats(m, rows * max(cross.hidden, self.hidden)),
	                            .dnorm = add_floats(m, rows * w),
	                            .d_o = add_floats(m, rows * d->self_v),
	                            .dq = add_floats(m, rows * d->self_qk),
	                            .dk = add_floats(m, rows * max(d->self_qk, d->dec_qk)),
	                            .dv = add_floats(m, rows * max(d->self_v, d->dec_v))};
	m->dcontext = add_floats(m, rows * d->enc_v);
	m->dlatent_q = add_floats(m, n * d->enc_qk);
	m->cross_op = (struct op_cross){.batch = batch,
	                                .heads = c->num_cross_attention_heads,
	                                .nq = n,
	                                .qk = d->enc_qk,
	                                .v = d->enc_v,
	                                .channels = d->channels};
	m->cross_op.groups[AUDIO].n = d->n_audio;
	m->cross_op.groups[IMAGE].n = d->n_image;
	m->cross_op.groups[LABEL].n = 1;
	if (!m->measuring)
		m->cross_op.state = m->ops->table->cross_state_new(&m->cross_op);
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

	m->query = add_floats(m, points * w);
	take_layer(m, &s, &m->dec);
	m->dec.norm_kv = add_floats(m, latents * c->d_latents);
	m->dec.mean_kv = add_floats(m, latents);
	m->dec.rstd_kv = add_floats(m, latents);
	m->dec_grad = (struct layer_grad){.dy = add_floats(m, rows * w),
	                                  .dhidden = add_floats(m, rows * w),
	                                  .dnorm = add_floats(m, rows * w),
	                                  .d_o = add_floats(m, rows * d->dec_v),
	                                  .dq = add_floats(m, points * d->dec_qk),
	                                  .dk = m->enc_grad.dk,
	                                  .dv = m->enc_grad.dv};
	m->final = add_floats(m, rows * c->output_num_channels);
	m->dfinal = add_floats(m, rows * c->output_num_channels);
	m->dquery = add_floats(m, points * w);
	for (enum modality k = 0; k < MODALITIES; k++) {
		m->logits[k] = add_floats(m, (k == LABEL ? batch : rows) * widths[k]);
		m->dlogits[k] = add_floats(m, (k == LABEL ? batch : rows) * widths[k]);
	}
}

void workspace_free(struct model *m)
{
	for (size_t i = 0; i < m->blocks.n; i++)
		free(m->blocks.at[i]);
	vec_done(&m->blocks);
	if (m->cross_op.state != NULL)
		m->ops->table->cross_state_free(m->cross_op.state);
	m->cross_op.state = NULL;
	m->workspace = 0;
}

void workspace_ensure(struct model *m, size_t batch, size_t points)
{
	size_t widest = max(max(m->dims.self_qk, m->dims.enc_qk), m->dims.dec_qk);

	if (batch <= m->max_batch && points <= m->max_points)
		return;
	workspace_free(m);
	m->max_batch = max(batch, m->max_batch);
	m->max_points = max(points, m->max_points);
	m->discard = add_floats(m, widest);
	memset(m->discard, 0, widest * sizeof(float));
	take_encoder(m, m->max_batch);
	take_decoder(m, m->max_batch, m->max_points);
}

struct model_workspace_bytes workspace_measure(const struct model_config *c, size_t batch,
                                               size_t points)
{
	struct model m = {.config = *c, .dims = model_dims(c), .measuring = true};
	struct model_workspace_bytes bytes;

	m.self = mem_calloc(m.dims.n_layers, sizeof(m.self[0]));
	take_encoder(&m, batch);
	bytes.encoder = m.workspace;
	take_decoder(&m, batch, points);
	bytes.decoder = m.workspace - bytes.encoder;
	free(m.self);
	return bytes;
}

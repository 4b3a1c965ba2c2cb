#include "trainer/model/graph.h"

void encoder_token_shapes(const struct model *m, struct op_tokens groups[MODALITIES])
{
	const struct model_config *c = &m->config;
	const struct model_dims *d = &m->dims;

	groups[AUDIO] = (struct op_tokens){.n = d->n_audio,
	                                   .n_data = d->audio_data,
	                                   .ndim = 1,
	                                   .dim = {d->n_audio},
	                                   .bands = c->audio_num_bands};
	groups[IMAGE] = (struct op_tokens){.n = d->n_image,
	                                   .n_data = d->image_data,
	                                   .ndim = 3,
	                                   .dim = {c->num_frames, d->grid_h, d->grid_w},
	                                   .bands = c->image_num_bands};
	groups[LABEL] = (struct op_tokens){.n = 1, .n_data = c->num_labels};
	for (enum modality k = 0; k < MODALITIES; k++)
		groups[k].n_pad = params_token_pad(c, k);
}

/* The tokens of this batch, as the cross attention takes them. */
static void describe_tokens(struct model *m, const struct batch *b)
{
	struct op_tokens *groups = m->cross_op.groups;
	const float *masks[MODALITIES] = {b->mask_audio, b->mask_image, b->mask_label};

	encoder_token_shapes(m, groups);
	groups[AUDIO].data = b->audio;
	groups[AUDIO].position[0] = m->enc_pos[0];
	groups[IMAGE].data = m->patches;
	for (size_t d = 0; d < groups[IMAGE].ndim; d++)
		groups[IMAGE].position[d] = m->enc_pos[1 + d];
	groups[LABEL].data = m->onehot;
	for (enum modality k = 0; k < MODALITIES; k++) {
		groups[k].mask = masks[k];
		groups[k].pad = value_of(m, m->ids.pad[k]);
		groups[k].mask_token = value_of(m, m->ids.mask[k]);
	}
}

/* The latents are one of the parameters: the same for every clip, and so are their rows. */
static struct op_repeat repeated_latents(const struct model *m, size_t clips)
{
	return (struct op_repeat){.n = m->params.at[m->ids.latents].n,
	                          .times = clips,
	                          .x = value_of(m, m->ids.latents),
	                          .y = m->latents_b};
}

static void prepare_inputs(struct model *m, const struct batch *b)
{
	const struct model_config *c = &m->config;
	const struct op_table *ops = m->ops->table;
	struct op_repeat latents = repeated_latents(m, b->n);
	struct op_onehot labels = {b->n, c->num_labels, b->label, m->onehot};
	struct op_patches patches = {.frames = b->n * c->num_frames,
	                             .height = c->image_height,
	                             .width = c->image_width,
	                             .side = c->spatial_downsample,
	                             .image = b->image,
	                             .y = m->patches};

	m->ops->part = "inputs";
	ops->patches(m->ops, &patches);
	ops->onehot(m->ops, &labels);
	ops->repeat_forward(m->ops, &latents);
	describe_tokens(m, b);
}

static struct op_cross *cross_op(struct model *m, const struct batch *b)
{
	const struct layer_params *p = &m->ids.cross;
	struct op_cross *op = &m->cross_op;
	bool grads = m->grads.n > 0;

	op->batch = b->n;
	op->gain = value_of(m, p->norm_kv);
	op->shift = value_of(m, p->norm_kv + 1);
	op->q = m->cross.q;
	op->wk = value_of(m, p->key);
	op->bk = value_of(m, p->key + 1);
	op->wv = value_of(m, p->value);
	op->bv = value_of(m, p->value + 1);
	op->dropout = (struct op_dropout){m->training ? m->config.attention_probs_dropout_prob : 0,
	                                  b->dropout_seed, 0, b->dropout_sample};
	op->context = m->cross.o;
	op->dcontext = m->dcontext;
	op->dgain = grads ? grad_of(m, p->norm_kv) : NULL;
	op->dshift = grads ? grad_of(m, p->norm_kv + 1) : NULL;
	op->dwk = grads ? grad_of(m, p->key) : NULL;
	op->dbk = m->discard;
	op->dwv = grads ? grad_of(m, p->value) : NULL;
	op->dbv = grads ? grad_of(m, p->value + 1) : NULL;
	op->dq = m->dlatent_q;
	for (enum modality k = 0; grads && k < MODALITIES; k++) {
		op->groups[k].dpad = grad_of(m, m->ids.pad[k]);
		op->groups[k].dmask_token = grad_of(m, m->ids.mask[k]);
	}
	return op;
}

void encoder_forward(struct model *m, const struct batch *b)
{
	const struct op_table *ops = m->ops->table;
	const struct layer_params *p = &m->ids.cross;
	struct layer_act *a = &m->cross;
	size_t latents = m->config.num_latents, rows = b->n * latents;
	struct op_norm norm = layer_norm(m, p->norm_q, latents, value_of(m, m->ids.latents),
	                                 a->norm_q, a->mean_q, a->rstd_q);
	struct op_linear q = layer_linear(m, p->query, latents, a->norm_q, a->q);
	struct op_linear out = layer_linear(m, p->out, rows, a->o, a->attn_out);

	prepare_inputs(m, b);
	m->held = SIZE_MAX;
	m->ops->part = p->part;
	ops->norm_forward(m->ops, &norm); /* the queries are the same for every clip */
	ops->linear_forward(m->ops, &q);
	ops->cross_forward(m->ops, cross_op(m, b));
	out.residual = m->config.use_query_residual ? m->latents_b : NULL;
	ops->linear_forward(m->ops, &out);
	layer_mlp_forward(m, p, a, rows);
	for (size_t i = 0; i < m->dims.n_layers; i++)
		layer_self_forward(m, i, b);
}

static void latent_gradients(struct model *m, const struct batch *b)
{
	const struct op_table *ops = m->ops->table;
	const struct layer_params *p = &m->ids.cross;
	struct layer_act *a = &m->cross;
	size_t latents = m->config.num_latents;
	float *dlatents = grad_of(m, m->ids.latents);
	struct op_norm norm = layer_norm(m, p->norm_q, latents, value_of(m, m->ids.latents),
	                                 a->norm_q, a->mean_q, a->rstd_q);
	struct op_linear q = layer_linear(m, p->query, latents, a->norm_q, a->q);
	struct op_repeat repeated = repeated_latents(m, b->n);

	repeated.dy = m->enc_grad.dy;
	repeated.dx = dlatents;
	if (m->config.use_query_residual)
		ops->repeat_backward(m->ops, &repeated);
	q.dy = m->dlatent_q;
	q.dx = m->enc_grad.dnorm;
	ops->linear_backward(m->ops, &q);
	norm.dy = m->enc_grad.dnorm;
	norm.dx = dlatents;
	norm.add_dx = true;
	ops->norm_backward(m->ops, &norm);
}

/* Where the parameters of self attention i of a block begin in the table. */
static size_t first_of(const struct model *m, size_t i)
{
	return i < m->config.num_self_attends_per_block ? m->ids.self[i].norm_q
	                                                : m->ids.first_decoder;
}

void encoder_backward(struct model *m, const struct batch *b)
{
	const struct layer_params *p = &m->ids.cross;
	struct layer_act *a = &m->cross;
	size_t rows = b->n * m->config.num_latents;
	struct op_linear out = layer_linear(m, p->out, rows, a->o, a->attn_out);

	for (size_t i = m->dims.n_layers; i-- > 0;) {
		layer_self_backward(m, i, b);
		if (i < m->config.num_self_attends_per_block)
			tell_ready(m, first_of(m, i), first_of(m, i + 1));
	}
	if (a->keep != KEEP_ALL)
		layer_mlp_again(m, p, a, rows, a->keep == KEEP_INPUT);
	layer_mlp_backward(m, p, a, &m->enc_grad, rows);
	m->ops->part = p->part;
	out.dy = m->enc_grad.dy;
	out.dx = m->dcontext;
	m->ops->table->linear_backward(m->ops, &out);
	tell_ready(m, p->out, m->ids.first_self);
	m->ops->table->cross_backward(m->ops, cross_op(m, b));
	latent_gradients(m, b);
	tell_ready(m, 0, p->out);
}

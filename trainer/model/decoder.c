#include "trainer/model/graph.h"

/* The rows of a modality's points: positions, and what is trained. */
static struct op_query_group query_group(const struct model *m, enum modality k)
{
	bool grads = m->grads.n > 0;

	return (struct op_query_group){.n_pad = params_query_pad(&m->config, k),
	                               .pad = value_of(m, m->ids.query_pad[k]),
	                               .dpad = grads ? grad_of(m, m->ids.query_pad[k]) : NULL};
}

static struct op_queries queries_of(const struct model *m, const struct batch *b)
{
	const struct model_config *c = &m->config;
	struct op_query_group audio = query_group(m, AUDIO), image = query_group(m, IMAGE),
			      label = query_group(m, LABEL);

	audio.n = b->n_out_audio;
	audio.ndim = 1;
	audio.dim[0] = m->dims.n_audio;
	audio.bands = c->audio_num_bands;
	audio.point = b->out_audio;
	audio.position[0] = m->dec_pos[0];
	image.n = b->n_out_image;
	image.ndim = 3;
	image.dim[0] = c->num_frames;
	image.dim[1] = c->image_height;
	image.dim[2] = c->image_width;
	image.bands = c->image_num_bands;
	image.point = b->out_image;
	for (size_t d = 0; d < 3; d++)
		image.position[d] = m->dec_pos[1 + d];
	label.n = b->decode_label ? 1 : 0;
	label.n_fixed = c->label_query_channels;
	label.fixed = value_of(m, m->ids.label_query);
	label.dfixed = m->grads.n > 0 ? grad_of(m, m->ids.label_query) : NULL;
	return (struct op_queries){.width = m->dims.queries,
	                           .groups = {[AUDIO] = audio, [IMAGE] = image, [LABEL] = label},
	                           .y = m->query,
	                           .dy = m->dquery};
}

/* The latents that the decoder reads. */
static float *latents_of(const struct model *m)
{
	return m->dims.n_layers > 0 ? m->self[m->dims.n_layers - 1].y : m->cross.y;
}

static struct op_attention attention_of(const struct model *m, const struct batch *b)
{
	const struct layer_act *a = &m->dec;

	return (struct op_attention){
		.batch = b->n,
		.heads = 1,
		.nq = m->n_points,
		.nk = m->config.num_latents,
		.qk = m->dims.dec_qk,
		.v = m->dims.dec_v,
		.q = a->q,
		.k = a->k,
		.values = a->v,
		.q_shared = true,
		.dropout = {m->training ? m->config.attention_probs_dropout_prob : 0,
	                    b->dropout_seed, (uint32_t)m->dims.n_layers + 1, b->dropout_sample},
		.o = a->o,
		.lse = a->lse,
		.d_o = m->dec_grad.d_o,
		.dq = m->dec_grad.dq,
		.dk = m->dec_grad.dk,
		.dvalues = m->dec_grad.dv};
}

/* The rows of one clip and modality in [B, points, width]. */
struct span {
	size_t first, n;
};

static struct span span_of(const struct model *m, const struct batch *b, size_t clip,
                           enum modality k)
{
	size_t n[MODALITIES] = {b->n_out_audio, b->n_out_image, b->decode_label ? 1 : 0};
	struct span s = {.first = clip * m->n_points, .n = n[k]};

	for (enum modality before = 0; before < k; before++)
		s.first += n[before];
	return s;
}

static struct op_linear head_of(const struct model *m, const struct batch *b, size_t clip,
                                enum modality k)
{
	struct span s = span_of(m, b, clip, k);
	size_t width = m->config.output_num_channels;
	struct op_linear head =
		layer_linear(m, m->ids.head[k], s.n, m->final + s.first * width, NULL);

	head.y = m->logits[k] + clip * s.n * head.out;
	head.dy = m->dlogits[k] + clip * s.n * head.out;
	head.dx = m->dfinal + s.first * width;
	return head;
}

static void heads_forward(struct model *m, const struct batch *b)
{
	m->ops->part = "heads";
	for (size_t clip = 0; clip < b->n; clip++) {
		for (enum modality k = 0; k < MODALITIES; k++) {
			struct op_linear head = head_of(m, b, clip, k);

			if (head.rows > 0)
				m->ops->table->linear_forward(m->ops, &head);
		}
	}
}

void decoder_forward(struct model *m, const struct batch *b)
{
	const struct op_table *ops = m->ops->table;
	const struct layer_params *p = &m->ids.decoder;
	struct layer_act *a = &m->dec;
	size_t points = m->n_points, latents = b->n * m->config.num_latents, rows = b->n * points;
	struct op_norm norm_q =
		layer_norm(m, p->norm_q, points, m->query, a->norm_q, a->mean_q, a->rstd_q);
	struct op_norm norm_kv = layer_norm(m, p->norm_kv, latents, latents_of(m), a->norm_kv,
	                                    a->mean_kv, a->rstd_kv);
	struct op_linear q = layer_linear(m, p->query, points, a->norm_q, a->q);
	struct op_linear k = layer_linear(m, p->key, latents, a->norm_kv, a->k);
	struct op_linear v = layer_linear(m, p->value, latents, a->norm_kv, a->v);
	struct op_linear out = layer_linear(m, p->out, rows, a->o, a->attn_out);
	struct op_linear final = layer_linear(m, m->ids.final, rows, a->y, m->final);
	struct op_attention attention = attention_of(m, b);
	struct op_queries queries = queries_of(m, b);

	m->ops->part = p->part;
	ops->queries_forward(m->ops, &queries);
	ops->norm_forward(m->ops, &norm_q);
	ops->norm_forward(m->ops, &norm_kv);
	ops->linear_forward(m->ops, &q);
	ops->linear_forward(m->ops, &k);
	ops->linear_forward(m->ops, &v);
	ops->attention_forward(m->ops, &attention);
	ops->linear_forward(m->ops, &out);
	layer_mlp_forward(m, p, a, rows);
	m->ops->part = "final layer";
	ops->linear_forward(m->ops, &final);
	heads_forward(m, b);
}

static void heads_backward(struct model *m, const struct batch *b)
{
	m->ops->part = "heads";
	for (size_t clip = 0; clip < b->n; clip++) {
		for (enum modality k = 0; k < MODALITIES; k++) {
			struct op_linear head = head_of(m, b, clip, k);

			if (head.rows > 0)
				m->ops->table->linear_backward(m->ops, &head);
		}
	}
}

/* From the attention's output projection back to queries and latents. */
static void attention_backward(struct model *m, const struct batch *b)
{
	const struct op_table *ops = m->ops->table;
	const struct layer_params *p = &m->ids.decoder;
	struct layer_act *a = &m->dec;
	struct layer_grad *g = &m->dec_grad;
	size_t points = m->n_points, latents = b->n * m->config.num_latents;
	struct op_norm norm_q =
		layer_norm(m, p->norm_q, points, m->query, a->norm_q, a->mean_q, a->rstd_q);
	struct op_norm norm_kv = layer_norm(m, p->norm_kv, latents, latents_of(m), a->norm_kv,
	                                    a->mean_kv, a->rstd_kv);
	struct op_linear q = layer_linear(m, p->query, points, a->norm_q, a->q);
	struct op_linear k = layer_linear(m, p->key, latents, a->norm_kv, a->k);
	struct op_linear v = layer_linear(m, p->value, latents, a->norm_kv, a->v);
	struct op_attention attention = attention_of(m, b);
	struct op_queries queries = queries_of(m, b);

	ops->attention_backward(m->ops, &attention);
	q.dy = g->dq;
	q.dx = g->dnorm;
	ops->linear_backward(m->ops, &q);
	norm_q.dy = g->dnorm;
	norm_q.dx = m->dquery;
	ops->norm_backward(m->ops, &norm_q);
	ops->queries_backward(m->ops, &queries);
	k.dy = g->dk;
	v.dy = g->dv;
	k.dx = v.dx = m->enc_grad.dnorm;
	v.add_dx = true;
	k.dbias = m->discard; /* exactly 0: softmax ignores it */
	ops->linear_backward(m->ops, &k);
	ops->linear_backward(m->ops, &v);
	norm_kv.dy = m->enc_grad.dnorm;
	norm_kv.dx = m->enc_grad.dy;
	ops->norm_backward(m->ops, &norm_kv);
}

void decoder_backward(struct model *m, const struct batch *b)
{
	const struct op_table *ops = m->ops->table;
	struct layer_act *a = &m->dec;
	struct layer_grad *g = &m->dec_grad;
	size_t rows = b->n * m->n_points;
	struct op_linear out = layer_linear(m, m->ids.decoder.out, rows, a->o, a->attn_out);
	struct op_linear final = layer_linear(m, m->ids.final, rows, a->y, m->final);

	heads_backward(m, b);
	m->ops->part = "final layer";
	final.dy = m->dfinal;
	final.dx = g->dy;
	ops->linear_backward(m->ops, &final);
	tell_ready(m, m->ids.final, m->ids.end);
	layer_mlp_backward(m, &m->ids.decoder, a, g, rows);
	m->ops->part = m->ids.decoder.part;
	out.dy = g->dy;
	out.dx = g->d_o;
	ops->linear_backward(m->ops, &out);
	tell_ready(m, m->ids.decoder.out, m->ids.final);
	attention_backward(m, b);
	tell_ready(m, m->ids.first_decoder, m->ids.decoder.out);
}

#include "trainer/model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/model/graph.h"
#include "trainer/model/positions.h"

static void build_positions(struct model *m)
{
	const struct model_config *c = &m->config;
	size_t n_enc[4] = {m->dims.n_audio, c->num_frames, m->dims.grid_h, m->dims.grid_w};
	size_t n_dec[4] = {m->dims.n_audio, c->num_frames, c->image_height, c->image_width};
	size_t resolution[4] = {m->dims.audio_samples, c->num_frames, c->image_size, c->image_size};

	for (size_t i = 0; i < 4; i++) {
		size_t bands = i == 0 ? c->audio_num_bands : c->image_num_bands;

		m->enc_pos[i] = mem_calloc(n_enc[i] * (1 + 2 * bands), sizeof(float));
		m->dec_pos[i] = mem_calloc(n_dec[i] * (1 + 2 * bands), sizeof(float));
		positions_encoder(n_enc[i], resolution[i], bands, m->enc_pos[i]);
		positions_decoder(n_dec[i], resolution[i], bands, m->dec_pos[i]);
	}
}

struct model *model_new(const struct model_config *config, struct ops *ops)
{
	struct model *m = mem_zalloc(sizeof(*m));

	m->config = *config;
	m->dims = model_dims(config);
	m->ops = ops;
	params_build(config, &m->params, &m->ids);
	tensors_alloc(&m->params);
	m->self = mem_calloc(m->dims.n_layers, sizeof(m->self[0]));
	build_positions(m);
	return m;
}

void model_free(struct model *m)
{
	if (m == NULL)
		return;
	workspace_free(m);
	for (size_t i = 0; i < 4; i++) {
		free(m->enc_pos[i]);
		free(m->dec_pos[i]);
	}
	free(m->kept_tokens);
	free(m->kept_query);
	free(m->self);
	params_done(&m->ids);
	tensors_done(&m->grads); /* borrows the names of params */
	tensors_done(&m->params);
	free(m);
}

const struct model_config *model_get_config(const struct model *m)
{
	return &m->config;
}

const struct model_dims *model_get_dims(const struct model *m)
{
	return &m->dims;
}

struct tensors *model_params(struct model *m)
{
	return &m->params;
}

struct tensors *model_grads(struct model *m)
{
	if (m->grads.n == 0)
		tensors_like(&m->params, &m->grads);
	return &m->grads;
}

void model_init(struct model *m, uint64_t seed)
{
	params_init(&m->params, seed);
}

void model_set_training(struct model *m, bool training)
{
	m->training = training;
}

void model_set_recompute(struct model *m, struct recompute r)
{
	workspace_free(m);
	m->recompute = r;
}

void model_on_grads_ready(struct model *m, struct grads_ready hook)
{
	m->hook = hook;
}

void model_zero_grads(struct model *m)
{
	struct tensors *grads = model_grads(m);

	memset(grads->data, 0, grads->n_values * sizeof(float));
}

size_t model_workspace_bytes(const struct model *m)
{
	return m->workspace + m->ops->scratch_n * sizeof(float);
}

static size_t points_of(const struct batch *b)
{
	return b->n_out_audio + b->n_out_image + (b->decode_label ? 1 : 0);
}

static void logits_of(const struct model *m, const struct batch *b, struct logits *ret)
{
	*ret = (struct logits){.image = m->logits[IMAGE],
	                       .audio = m->logits[AUDIO],
	                       .label = b->decode_label ? m->logits[LABEL] : NULL};
}

/* What model_activation cannot point at, copied while it is there. */
static void keep_inputs(struct model *m, const struct batch *b)
{
	size_t tokens = m->dims.n_tokens * m->dims.channels, query = m->n_points * m->dims.queries;

	free(m->kept_tokens);
	free(m->kept_query);
	m->kept_tokens = mem_calloc(b->n * tokens, sizeof(float));
	m->kept_query = mem_calloc(b->n * query, sizeof(float));
	for (size_t i = 0; i < b->n; i++) {
		op_tokens_form(&m->cross_op, i, m->kept_tokens + i * tokens);
		memcpy(m->kept_query + i * query, m->query, query * sizeof(float));
	}
}

void model_reserve(struct model *m, size_t n, size_t points)
{
	workspace_ensure(m, n, points);
}

void model_forward(struct model *m, const struct batch *b, struct logits *ret)
{
	m->n_points = points_of(b);
	workspace_ensure(m, b->n, m->n_points);
	m->batch = b->n;
	encoder_forward(m, b);
	decoder_forward(m, b);
	if (m->keep)
		keep_inputs(m, b);
	logits_of(m, b, ret);
}

void model_decode(struct model *m, const struct batch *points, struct logits *ret)
{
	if (points_of(points) > m->max_points || points->n != m->batch)
		BUG("model_decode: more points or other clips than model_forward had");
	m->n_points = points_of(points);
	decoder_forward(m, points);
	logits_of(m, points, ret);
}

void model_keep_activations(struct model *m, bool keep)
{
	m->keep = keep;
}

bool model_activation(const struct model *m, const char *name, struct activation *ret)
{
	const struct model_config *c = &m->config;
	size_t n = c->num_latents, w = c->d_latents, points = m->n_points;
	const struct {
		const char *name;
		const float *data;
		size_t rows, width;
	} table[] = {
		{"act.preprocessed", m->kept_tokens, m->dims.n_tokens, m->dims.channels},
		{"act.cross_attention.context", m->cross.o, n, m->dims.enc_v},
		{"act.cross_attention.attn_out", m->cross.attn_out, n, w},
		{"act.cross_attention.out", m->cross.y, n, w},
		{"act.decoder.query", m->kept_query, points, m->dims.queries},
		{"act.decoder.attn_out", m->dec.attn_out, points, m->dims.queries},
		{"act.decoder.cross_out", m->dec.y, points, m->dims.queries},
		{"act.decoder.final", m->final, points, c->output_num_channels},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (strcmp(table[i].name, name) == 0 && table[i].data != NULL) {
			*ret = (struct activation){
				table[i].data, 3, {m->batch, table[i].rows, table[i].width}};
			return true;
		}
	}
	for (size_t i = 0; i < m->dims.n_layers; i++) {
		char layer[64];

		snprintf(layer, sizeof(layer), "act.self_attends.%zu.out", i);
		if (strcmp(layer, name) == 0) {
			*ret = (struct activation){m->self[i].y, 3, {m->batch, n, w}};
			return true;
		}
	}
	return false;
}

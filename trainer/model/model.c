#include "trainer/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "trainer/model/graph.h"
#include "trainer/model/positions.h"

typedef void position_maker(size_t n, size_t resolution, size_t n_bands, float *out);

static const float *upload_positions(struct model *m, position_maker *make, size_t n,
                                     size_t resolution, size_t bands, struct buffer *room)
{
	size_t values = n * (1 + 2 * bands);
	AUTO_FREE float *host = mem_calloc(values, sizeof(*host));

	make(n, resolution, bands, host);
	*room = buffer_new(m->ops, values * sizeof(*host), "positions");
	ops_upload(m->ops, room->at, host, values * sizeof(*host));
	return room->at;
}

static void build_positions(struct model *m)
{
	const struct model_config *c = &m->config;
	size_t n_enc[4] = {m->dims.n_audio, c->num_frames, m->dims.grid_h, m->dims.grid_w};
	size_t n_dec[4] = {m->dims.n_audio, c->num_frames, c->image_height, c->image_width};
	size_t resolution[4] = {m->dims.audio_samples, c->num_frames, c->image_size, c->image_size};

	for (size_t i = 0; i < 4; i++) {
		size_t bands = i == 0 ? c->audio_num_bands : c->image_num_bands;

		m->enc_pos[i] = upload_positions(m, positions_encoder, n_enc[i], resolution[i],
		                                 bands, &m->enc_room[i]);
		m->dec_pos[i] = upload_positions(m, positions_decoder, n_dec[i], resolution[i],
		                                 bands, &m->dec_room[i]);
	}
}

struct model *model_new(const struct model_config *config, struct ops *ops)
{
	struct model *m = mem_zalloc(sizeof(*m));

	m->config = *config;
	m->dims = model_dims(config);
	m->ops = ops;
	params_build(config, &m->params, &m->ids);
	tensors_alloc(&m->params, ops, "weights");
	m->self = mem_calloc(m->dims.n_layers, sizeof(m->self[0]));
	build_positions(m);
	return m;
}

void model_free(struct model *m)
{
	if (m == NULL)
		return;
	workspace_free(m);
	input_free(m);
	for (size_t i = 0; i < 4; i++) {
		buffer_free(m->ops, &m->enc_room[i]);
		buffer_free(m->ops, &m->dec_room[i]);
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
		tensors_like(&m->params, m->ops, "gradients", &m->grads);
	return &m->grads;
}

void model_init(struct model *m, uint64_t seed)
{
	struct tensors host;

	tensors_like(&m->params, NULL, NULL, &host);
	params_init(&host, seed);
	tensors_copy(&m->params, &host);
	tensors_done(&host);
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
	tensors_zero(model_grads(m));
}

size_t model_workspace_bytes(const struct model *m)
{
	return m->workspace + m->ops->device->held(m->ops);
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

void model_reserve(struct model *m, size_t n, size_t points)
{
	workspace_ensure(m, n, points);
}

void model_forward(struct model *m, const struct batch *b, struct logits *ret)
{
	input_stage(m, b);
	model_compute(m, ret);
}

void model_compute(struct model *m, struct logits *ret)
{
	input_convert(m);
	encoder_forward(m, &m->input);
	decoder_forward(m, &m->input);
	if (m->keep)
		activations_keep(m);
	logits_of(m, &m->input, ret);
}

void model_decode(struct model *m, const struct batch *points, struct logits *ret)
{
	if (points_of(points) > m->max_points || points->n != m->batch)
		BUG("model_decode: more points or other clips than model_forward had");
	m->n_points = points_of(points);
	input_stage_points(m, points);
	decoder_forward(m, &m->input);
	logits_of(m, points, ret);
}

/*
 * What the tests of the network share: random configurations, batches of random clips, and one pass
 * forward and backward over them.
 */
#ifndef SLIPWAY_TESTS_RANDOM_MODEL_H
#define SLIPWAY_TESTS_RANDOM_MODEL_H

#include <stdlib.h>

#include "base/mem.h"
#include "trainer/model/model.h"
#include "trainer/ops/ops.h"
#include "trainer/ops/philox.h"

static inline size_t pick(struct philox *r, size_t low, size_t high)
{
	return low + philox_below(r, (uint32_t)(high - low + 1));
}

static inline struct model_config random_config(struct philox *r)
{
	struct model_config c = model_config_tiny();
	size_t heads = pick(r, 1, 3);

	c.num_frames = pick(r, 1, 3);
	c.spatial_downsample = pick(r, 1, 4);
	c.image_height = c.spatial_downsample * pick(r, 1, 5);
	c.image_width = c.spatial_downsample * pick(r, 1, 80 / c.spatial_downsample);
	c.image_size = pick(r, 1, 20);
	c.samples_per_patch = pick(r, 1, 20);
	c.audio_samples_per_frame = c.samples_per_patch * pick(r, 1, 70);
	c.num_labels = pick(r, 1, 30);
	c.num_latents = pick(r, 1, 70);
	c.d_latents = heads * pick(r, 1, 20);
	c.num_blocks = pick(r, 1, 2);
	c.num_self_attends_per_block = pick(r, 1, 2);
	c.num_self_attention_heads = heads;
	c.self_attention_widening_factor = pick(r, 1, 3);
	c.cross_attention_widening_factor = pick(r, 1, 2);
	c.cross_attention_shape = pick(r, 0, 2) == 0 ? SHAPE_Q : SHAPE_KV;
	c.use_query_residual = pick(r, 0, 3) > 0;
	c.hidden_act = pick(r, 0, 1) == 0 ? GELU_ERF : GELU_TANH;
	c.attention_probs_dropout_prob = pick(r, 0, 2) == 0 ? 0.3 : 0;
	c.audio_num_bands = pick(r, 1, 9);
	c.image_num_bands = pick(r, 1, 5);
	c.output_num_channels = pick(r, 1, 40);
	c.label_query_channels = pick(r, 1, 40);
	c.encoder_min_padding_size = pick(r, 1, 6);
	c.decoder_min_padding_size = pick(r, 1, 6);
	if (pick(r, 0, 5) == 0) { /* several heads: this one does not fold */
		c.num_cross_attention_heads = 2;
		c.cross_attention_shape = SHAPE_Q;
		c.d_latents = 2 * heads * pick(r, 1, 10);
	}
	if (pick(r, 0, 5) == 0)
		c.qk_channels =
			c.num_self_attention_heads * c.num_cross_attention_heads * pick(r, 1, 9);
	if (c.qk_channels != 0)
		c.v_channels = c.d_latents;
	return c;
}

/* A batch of random clips; targets are far from any output, so that no residual changes its sign.
 */
struct clip_memory {
	float *image, *audio, *masks[3];
	int32_t *ints;
	struct batch b;
};

static inline float *random_floats(struct philox *r, size_t n, double low, double high)
{
	float *x = mem_calloc(n, sizeof(x[0]));

	for (size_t i = 0; i < n; i++)
		x[i] = (float)(low + (high - low) * philox_uniform(r)) *
		       (philox_below(r, 2) != 0 ? 1.0f : -1.0f);
	return x;
}

static inline float *random_mask(struct philox *r, size_t n)
{
	double p = pick(r, 0, 2) == 0 ? 0.4 : 0.05;
	float *x = mem_calloc(n, sizeof(x[0]));

	if (pick(r, 0, 1) == 0) {
		free(x);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		x[i] = philox_uniform(r) < p ? 1.0f : 0.0f;
	return x;
}

static inline struct clip_memory random_clips_of(struct philox *r, const struct model_config *c,
                                                 size_t n)
{
	struct model_dims d = model_dims(c);
	size_t image = pick(r, 1, 20), audio = pick(r, 1, 20);
	struct clip_memory m = {.image = random_floats(r, n * 3 * d.n_pixels, 2, 3),
	                        .audio = random_floats(r, n * d.audio_samples, 2, 3),
	                        .ints = mem_calloc(n + image + audio, sizeof(int32_t))};

	m.masks[0] = random_mask(r, n * d.n_audio);
	m.masks[1] = random_mask(r, n * d.n_image);
	m.masks[2] = random_mask(r, n);
	for (size_t i = 0; i < n; i++)
		m.ints[i] = (int32_t)pick(r, 0, c->num_labels - 1);
	for (size_t i = 0; i < image; i++)
		m.ints[n + i] = (int32_t)pick(r, 0, d.n_pixels - 1);
	for (size_t i = 0; i < audio; i++)
		m.ints[n + image + i] = (int32_t)pick(r, 0, d.n_audio - 1);
	m.b = (struct batch){.n = n,
	                     .image = m.image,
	                     .audio = m.audio,
	                     .label = m.ints,
	                     .mask_audio = m.masks[0],
	                     .mask_image = m.masks[1],
	                     .mask_label = m.masks[2],
	                     .out_image = m.ints + n,
	                     .out_audio = m.ints + n + image,
	                     .n_out_image = image,
	                     .n_out_audio = audio,
	                     .decode_label = pick(r, 0, 4) > 0,
	                     .dropout_seed = 77};
	return m;
}

static inline struct clip_memory random_clips(struct philox *r, const struct model_config *c)
{
	return random_clips_of(r, c, pick(r, 1, 3));
}

static inline void free_clips(struct clip_memory *m)
{
	free(m->image);
	free(m->audio);
	free(m->ints);
	for (size_t i = 0; i < 3; i++)
		free(m->masks[i]);
}

/* Parameters large enough that every path of the gradient is felt. */
static inline void random_params(struct model *m, uint64_t seed)
{
	struct tensors *p = model_params(m);

	model_init(m, seed);
	for (size_t i = 0; i < p->n; i++) {
		struct philox r = philox_start(seed, STREAM_INIT, 1000 + i);

		for (size_t k = 0; k < p->at[i].n; k++)
			p->at[i].data[k] = p->at[i].data[k] * 4 + (float)(0.05 * philox_normal(&r));
	}
}

/* A model of these parameters after one pass forward and backward. */
static inline struct model *run_recomputing(const struct model_config *c, struct recompute again,
                                            struct ops *ops, const struct batch *b,
                                            struct losses *losses)
{
	static const struct loss_weights weights = {0.5, 1, 0.3};
	struct model *m = model_new(c, ops);
	struct logits logits;

	model_set_recompute(m, again);
	random_params(m, 5);
	model_set_training(m, true);
	model_forward(m, b, &logits);
	model_loss(m, &weights, losses);
	model_zero_grads(m);
	model_backward(m, &weights, 1);
	return m;
}

static inline struct model *run_once(const struct model_config *c, struct ops *ops,
                                     const struct batch *b, struct losses *losses)
{
	return run_recomputing(c, (struct recompute){false, 0}, ops, b, losses);
}

#endif

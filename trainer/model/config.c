#include "trainer/model/config_fields.h"

struct model_config model_config_full(void)
{
	return (struct model_config){
		.num_frames = 16,
		.image_height = 224,
		.image_width = 224,
		.image_size = 56,
		.spatial_downsample = 4,
		.audio_samples_per_frame = 1920,
		.samples_per_patch = 16,
		.num_labels = 700,
		.num_latents = 784,
		.d_latents = 512,
		.num_blocks = 1,
		.num_self_attends_per_block = 8,
		.num_self_attention_heads = 8,
		.num_cross_attention_heads = 1,
		.self_attention_widening_factor = 1,
		.cross_attention_widening_factor = 1,
		.cross_attention_shape = SHAPE_KV,
		.use_query_residual = true,
		.hidden_act = GELU_ERF,
		.attention_probs_dropout_prob = 0.1,
		.audio_num_bands = 192,
		.image_num_bands = 32,
		.output_num_channels = 512,
		.label_query_channels = 1024,
		.encoder_min_padding_size = 4,
		.decoder_min_padding_size = 2,
	};
}

struct model_config model_config_mid(void)
{
	struct model_config c = model_config_full();

	c.num_frames = 4;
	c.image_height = c.image_width = 64;
	c.image_size = 16;
	c.audio_samples_per_frame = 480;
	c.num_latents = 128;
	c.d_latents = 256;
	c.num_self_attends_per_block = 4;
	c.output_num_channels = 256;
	return c;
}

struct model_config model_config_tiny(void)
{
	struct model_config c = model_config_full();

	c.num_frames = 2;
	c.image_height = c.image_width = 32;
	c.image_size = 8;
	c.audio_samples_per_frame = 1920;
	c.num_labels = 10;
	c.num_latents = 32;
	c.d_latents = 64;
	c.num_self_attends_per_block = 2;
	c.num_self_attention_heads = 4;
	c.audio_num_bands = 32;
	c.image_num_bands = 8;
	c.output_num_channels = 64;
	c.label_query_channels = 64;
	return c;
}

static int divides(const char *key, size_t part, const char *of, size_t whole, struct err *err)
{
	if (whole % part == 0)
		return 0;
	return err_set(err, ERR_SPEC, "config: %s (%zu) does not divide %s (%zu)", key, part, of,
	               whole);
}

/* Attention widths must be whole numbers of heads, and the residual must fit. */
static int check_widths(const struct model_config *c, struct err *err)
{
	struct model_dims d = model_dims(c);

	if (divides("num_cross_attention_heads", c->num_cross_attention_heads, "qk_channels",
	            d.enc_qk, err) != 0 ||
	    divides("num_cross_attention_heads", c->num_cross_attention_heads, "v_channels",
	            d.enc_v, err) != 0 ||
	    divides("num_self_attention_heads", c->num_self_attention_heads, "qk_channels",
	            d.self_qk, err) != 0 ||
	    divides("num_self_attention_heads", c->num_self_attention_heads, "v_channels", d.self_v,
	            err) != 0)
		return -1;
	if (d.self_v != c->d_latents)
		return err_set(err, ERR_SPEC, "config: v_channels (%zu) must equal d_latents (%zu)",
		               d.self_v, c->d_latents);
	if (d.n_tokens > 1u << 26 || d.n_pixels > 1u << 30)
		return err_set(err, ERR_LIMIT, "config: %zu tokens and %zu pixels are too many",
		               d.n_tokens, d.n_pixels);
	return 0;
}

int model_config_check(const struct model_config *c, struct err *err)
{
	const struct model_field *f;

	for (size_t i = 0; (f = model_field_at(i)) != NULL; i++) {
		if (f->type == FIELD_SIZE &&
		    model_field_range(f->key, *(const size_t *)((const char *)c + f->offset),
		                      f->min, f->max, err) != 0)
			return -1;
	}
	if (model_field_range("output_shape height", c->image_height, 1, 1 << 14, err) != 0 ||
	    model_field_range("output_shape width", c->image_width, 1, 1 << 14, err) != 0 ||
	    divides("spatial_downsample", c->spatial_downsample, "the height", c->image_height,
	            err) != 0 ||
	    divides("spatial_downsample", c->spatial_downsample, "the width", c->image_width,
	            err) != 0 ||
	    divides("samples_per_patch", c->samples_per_patch, "the clip's samples",
	            c->num_frames * c->audio_samples_per_frame, err) != 0)
		return -1;
	if (!(c->attention_probs_dropout_prob >= 0 && c->attention_probs_dropout_prob < 1))
		return err_set(err, ERR_SPEC,
		               "config: attention_probs_dropout_prob is %g, must be "
		               "at least 0 and below 1",
		               c->attention_probs_dropout_prob);
	return check_widths(c, err);
}

static size_t max3(size_t a, size_t b, size_t c)
{
	size_t ab = a > b ? a : b;

	return ab > c ? ab : c;
}

struct model_dims model_dims(const struct model_config *c)
{
	struct model_dims d = {0};
	size_t s = c->spatial_downsample;

	d.grid_h = c->image_height / s;
	d.grid_w = c->image_width / s;
	d.audio_samples = c->num_frames * c->audio_samples_per_frame;
	d.n_audio = d.audio_samples / c->samples_per_patch;
	d.n_image = c->num_frames * d.grid_h * d.grid_w;
	d.n_tokens = d.n_audio + d.n_image + 1;
	d.n_pixels = c->num_frames * c->image_height * c->image_width;
	d.audio_data = c->samples_per_patch;
	d.image_data = 3 * s * s;
	d.audio_pos = 1 + 2 * c->audio_num_bands;
	d.image_pos = 3 + 2 * 3 * c->image_num_bands;
	d.channels = max3(d.audio_data + d.audio_pos, d.image_data + d.image_pos, c->num_labels) +
	             c->encoder_min_padding_size;
	d.queries = max3(d.audio_pos, d.image_pos, c->label_query_channels) +
	            c->decoder_min_padding_size;
	bool kv = c->cross_attention_shape == SHAPE_KV;

	d.enc_qk = c->qk_channels != 0 ? c->qk_channels : kv ? d.channels : c->d_latents;
	d.enc_v = c->v_channels != 0 ? c->v_channels : d.enc_qk;
	d.self_qk = c->qk_channels != 0 ? c->qk_channels : c->d_latents;
	d.self_v = c->v_channels != 0 ? c->v_channels : d.self_qk;
	d.dec_qk = kv ? c->d_latents : d.queries;
	d.dec_v = d.dec_qk;
	d.n_layers = c->num_blocks * c->num_self_attends_per_block;
	return d;
}

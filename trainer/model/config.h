/*
 * The shape of a Perceiver IO multimodal autoencoder: what config.json and main.yaml say, in the
 * names of Hugging Face's PerceiverConfig, and the sizes that follow from it. Holds no training
 * option. Everything here is a plain value.
 */
#ifndef SLIPWAY_TRAINER_MODEL_CONFIG_H
#define SLIPWAY_TRAINER_MODEL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/jsonr.h"
#include "base/strbuf.h"
#include "trainer/classes/class_list.h"
#include "trainer/ops/ops.h"

enum attention_shape { SHAPE_KV = 0, SHAPE_Q = 1 }; /* cross_attention_shape_for_attention */

struct model_config {
	size_t num_frames;                /* T, frames of a clip */
	size_t image_height, image_width; /* H, W in pixels: output_shape[2], [3] */
	size_t image_size;              /* side of the PATCH GRID: sets the frequency bands only */
	size_t spatial_downsample;      /* side of a patch in pixels; divides H and W */
	size_t audio_samples_per_frame; /* samples of a clip: T times this */
	size_t samples_per_patch;
	size_t num_labels;
	size_t num_latents, d_latents;
	size_t num_blocks, num_self_attends_per_block;
	size_t num_self_attention_heads, num_cross_attention_heads;
	size_t self_attention_widening_factor, cross_attention_widening_factor;
	size_t qk_channels, v_channels; /* of the encoder's attentions; 0: follow from the shape */
	enum attention_shape cross_attention_shape;
	bool use_query_residual;
	enum gelu_form hidden_act;
	double attention_probs_dropout_prob; /* [0, 1) */
	size_t audio_num_bands, image_num_bands;
	size_t output_num_channels;  /* width of the decoder's final layer */
	size_t label_query_channels; /* trainable query of the label */
	size_t encoder_min_padding_size, decoder_min_padding_size;
};

/* What follows from a valid config. */
struct model_dims {
	size_t grid_h, grid_w;             /* patches of a frame */
	size_t n_audio, n_image, n_tokens; /* tokens: audio, image, all with the label */
	size_t audio_samples;              /* of a clip */
	size_t n_pixels;                   /* T * H * W: image output points */
	size_t audio_data, image_data;     /* data channels of a token */
	size_t audio_pos, image_pos;       /* position channels of a token */
	size_t channels;                   /* width of every token, C */
	size_t queries;                    /* width of every decoder query */
	size_t enc_qk, enc_v, self_qk, self_v, dec_qk, dec_v;
	size_t n_layers; /* self attentions run: blocks x per block */
};

/* The published model (deepmind/multimodal-perceiver): 19,858,855 parameters. */
struct model_config model_config_full(void);
/* A small one for tests and measurements: 4 frames of 64 x 64, 6,327,207 parameters. */
struct model_config model_config_mid(void);
/* A tiny one that learns something on a laptop core in seconds: 2 frames of 32 x 32. */
struct model_config model_config_tiny(void);

/* ERR_SPEC naming the key when a value is out of range or values do not fit each other. */
int model_config_check(const struct model_config *c, struct err *err) MUST_USE;

/* Sizes of a checked config. */
struct model_dims model_dims(const struct model_config *c);

/* Outcome of model_config_set. */
enum config_key { CONFIG_KEY_SET, CONFIG_KEY_UNUSED, CONFIG_KEY_UNKNOWN, CONFIG_KEY_BAD };

/*
 * Sets one key of PerceiverConfig from its text ("784", "0.1", "true", "null", "gelu"; lists as
 * "1,16,224,224"). CONFIG_KEY_UNUSED: PerceiverConfig knows it, this model does not use it
 * (d_model, initializer_range, ...). CONFIG_KEY_BAD: not a value of its type; *err says
 * so. `id2label` is not a single value and not set here, see model_config_labels.
 */
enum config_key model_config_set(struct model_config *c, const char *key, const char *text,
                                 struct err *err);

/* How many labels a document has: num_labels as it is given and id2label's entries, 0 where the key
 * is missing. */
struct label_counts {
	size_t given, named;
};

/*
 * Sets num_labels by both. id2label alone says it, as in Hugging Face's PretrainedConfig; with both
 * there may be more labels than names. ERR_SPEC naming both when there are fewer.
 */
int model_config_labels(struct model_config *c, const struct label_counts *n,
                        struct err *err) MUST_USE;

/*
 * Reads an object of PerceiverConfig keys over *c (which holds the defaults before); unknown and
 * unused keys are appended to `remarks` (may be NULL), a line each. Checks the result.
 */
int model_config_read(struct model_config *c, const struct jsonr *doc, const struct jsonr_node *obj,
                      struct strbuf *remarks, struct err *err) MUST_USE;

/* The same from a file (at most 16 MiB). */
int model_config_load(struct model_config *c, const char *path, struct strbuf *remarks,
                      struct err *err) MUST_USE;

/* config.json for a checkpoint, as HF reads it (model_type, architectures, ...). With classes (NULL
 * or empty: without), which are at most num_labels, also id2label and label2id. */
void model_config_print(const struct model_config *c, const struct class_list *classes,
                        struct strbuf *sb);

#endif

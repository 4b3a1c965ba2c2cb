#include "trainer/model/config_fields.h"

#include <string.h>

#define SIZE(key, low, high)                                                                       \
	{                                                                                          \
#key, FIELD_SIZE, offsetof(struct model_config, key), low, high                    \
	}

/* The caps keep every product of two sizes far from overflow; they are no recommendation. */
static const struct model_field fields[] = {
	SIZE(num_frames, 1, 1024),
	SIZE(image_size, 1, 4096),
	SIZE(spatial_downsample, 1, 64),
	SIZE(audio_samples_per_frame, 1, 1 << 20),
	SIZE(samples_per_patch, 1, 1 << 16),
	SIZE(num_labels, 1, 1 << 20),
	SIZE(num_latents, 1, 1 << 16),
	SIZE(d_latents, 1, 1 << 16),
	SIZE(num_blocks, 1, 256),
	SIZE(num_self_attends_per_block, 1, 1024),
	SIZE(num_self_attention_heads, 1, 1024),
	SIZE(num_cross_attention_heads, 1, 1024),
	SIZE(self_attention_widening_factor, 1, 64),
	SIZE(cross_attention_widening_factor, 1, 64),
	SIZE(qk_channels, 0, 1 << 16),
	SIZE(v_channels, 0, 1 << 16),
	SIZE(audio_num_bands, 1, 1 << 16),
	SIZE(image_num_bands, 1, 1 << 16),
	SIZE(output_num_channels, 1, 1 << 16),
	SIZE(label_query_channels, 1, 1 << 16),
	SIZE(encoder_min_padding_size, 1, 1 << 16),
	SIZE(decoder_min_padding_size, 1, 1 << 16),
	{"use_query_residual", FIELD_BOOL, offsetof(struct model_config, use_query_residual), 0, 0},
	{"attention_probs_dropout_prob", FIELD_FRACTION,
         offsetof(struct model_config, attention_probs_dropout_prob), 0, 0},
	{"cross_attention_shape_for_attention", FIELD_SHAPE,
         offsetof(struct model_config, cross_attention_shape), 0, 0},
	{"hidden_act", FIELD_GELU, offsetof(struct model_config, hidden_act), 0, 0},
	{"output_shape", FIELD_OUTPUT, 0, 0, 0},
	/* a newer name of the same thing */
	{"_label_trainable_num_channels", FIELD_SIZE,
         offsetof(struct model_config, label_query_channels), 1, 1 << 16},
};

static const char *const unused_keys[] = {
	"_name_or_path",
	"_num_labels",
	"add_cross_attention",
	"architectures",
	"audio_output_points",
	"bad_words_ids",
	"batch_size",
	"begin_suppress_tokens",
	"bos_token_id",
	"chunk_size_feed_forward",
	"cross_attention_hidden_size",
	"d_model",
	"decoder_start_token_id",
	"diversity_penalty",
	"do_sample",
	"early_stopping",
	"encoder_no_repeat_ngram_size",
	"eos_token_id",
	"exponential_decay_length_penalty",
	"finetuning_task",
	"forced_bos_token_id",
	"forced_eos_token_id",
	"image_output_points",
	"initializer_range",
	"is_decoder",
	"is_encoder_decoder",
	"label2id",
	"layer_norm_eps",
	"layer_norm_eps_effective",
	"length_penalty",
	"loss_weights",
	"max_length",
	"max_position_embeddings",
	"min_length",
	"model_type",
	"no_repeat_ngram_size",
	"num_beam_groups",
	"num_beams",
	"num_return_sequences",
	"optimizers",
	"output_attentions",
	"output_hidden_states",
	"output_scores",
	"pad_token_id",
	"prefix",
	"problem_type",
	"pruned_heads",
	"remove_invalid_values",
	"repetition_penalty",
	"return_dict",
	"return_dict_in_generate",
	"sep_token_id",
	"suppress_tokens",
	"task_specific_params",
	"temperature",
	"temporal_downsample",
	"tf_legacy_loss",
	"tie_encoder_decoder",
	"tie_word_embeddings",
	"tokenizer_class",
	"top_k",
	"top_p",
	"torch_dtype",
	"torchscript",
	"train_size",
	"transformers_version",
	"typical_p",
	"use_bfloat16",
	"use_cache",
	"vocab_size",
	"weight_scale",
};

const struct model_field *model_field_at(size_t i)
{
	return i < ARRAY_LEN(fields) ? &fields[i] : NULL;
}

const struct model_field *model_field_find(const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (strcmp(fields[i].key, key) == 0)
			return &fields[i];
	return NULL;
}

bool model_field_is_unused(const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(unused_keys); i++)
		if (strcmp(unused_keys[i], key) == 0)
			return true;
	return false;
}

int model_field_range(const char *key, size_t value, size_t min, size_t max, struct err *err)
{
	if (value >= min && value <= max)
		return 0;
	return err_set(err, ERR_SPEC, "config: %s is %zu, must be %zu to %zu", key, value, min,
	               max);
}

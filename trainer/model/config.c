#include "trainer/model/config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/slurp.h"

enum field_type { FIELD_SIZE, FIELD_BOOL, FIELD_FRACTION, FIELD_SHAPE, FIELD_GELU, FIELD_OUTPUT };

struct model_field {
	const char *key;
	enum field_type type;
	size_t offset;
	size_t min, max; /* of a FIELD_SIZE; 0 also stands for null when min is 0 */
};

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

/* Keys of PerceiverConfig, of its base class and of the golden folders that this model ignores. */
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
	"id2label",
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

static int range(const char *key, size_t value, size_t min, size_t max, struct err *err)
{
	if (value >= min && value <= max)
		return 0;
	return err_set(err, ERR_SPEC, "config: %s is %zu, must be %zu to %zu", key, value, min,
	               max);
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
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const struct model_field *f = &fields[i];

		if (f->type == FIELD_SIZE &&
		    range(f->key, *(const size_t *)((const char *)c + f->offset), f->min, f->max,
		          err) != 0)
			return -1;
	}
	if (range("output_shape height", c->image_height, 1, 1 << 14, err) != 0 ||
	    range("output_shape width", c->image_width, 1, 1 << 14, err) != 0 ||
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

static int bad_value(const char *key, const char *text, const char *wanted, struct err *err)
{
	return err_set(err, ERR_SPEC, "config: %s is '%.60s', expected %s", key, text, wanted);
}

static int set_size(const struct model_field *f, size_t *slot, const char *text, struct err *err)
{
	char *end = NULL;
	unsigned long value;

	if (f->min == 0 && (strcmp(text, "null") == 0 || text[0] == '\0')) {
		*slot = 0;
		return 0;
	}
	value = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
	if (end == NULL || *end != '\0')
		return bad_value(f->key, text, "a whole number", err);
	*slot = value;
	return range(f->key, value, f->min, f->max, err);
}

/* "1,T,H,W", spaces and brackets allowed. */
static int set_output_shape(struct model_config *c, const char *text, struct err *err)
{
	size_t value[4] = {0}, n = 0;

	for (const char *p = text; *p != '\0';) {
		char *end;

		if (strchr("[], \t\n-", *p) != NULL) {
			p++;
			continue;
		}
		if (*p < '0' || *p > '9' || n == 4)
			return bad_value("output_shape", text, "four whole numbers", err);
		value[n++] = strtoul(p, &end, 10);
		p = end;
	}
	if (n != 4)
		return bad_value("output_shape", text, "four whole numbers", err);
	if (range("output_shape frames", value[1], 1, 1024, err) != 0)
		return -1;
	c->num_frames = value[1];
	c->image_height = value[2];
	c->image_width = value[3];
	return 0;
}

static int set_word(const char *key, const char *text, const char *const words[2], int *slot,
                    struct err *err)
{
	char wanted[80];

	for (int i = 0; i < 2; i++) {
		if (strcmp(text, words[i]) == 0) {
			*slot = i;
			return 0;
		}
	}
	snprintf(wanted, sizeof(wanted), "'%s' or '%s'", words[0], words[1]);
	return bad_value(key, text, wanted, err);
}

static int set_field(struct model_config *c, const struct model_field *f, const char *text,
                     struct err *err)
{
	static const char *const bools[] = {"false", "true"}, *const shapes[] = {"kv", "q"},
				 *const gelus[] = {"gelu", "gelu_new"};
	void *slot = (char *)c + f->offset;
	int word = 0, rc;

	switch (f->type) {
	case FIELD_SIZE:
		return set_size(f, slot, text, err);
	case FIELD_OUTPUT:
		return set_output_shape(c, text, err);
	case FIELD_FRACTION: {
		char *end;

		*(double *)slot = strtod(text, &end);
		return end != text && *end == '\0' ? 0 : bad_value(f->key, text, "a number", err);
	}
	case FIELD_BOOL:
		rc = set_word(f->key, text, bools, &word, err);
		*(bool *)slot = word == 1;
		return rc;
	case FIELD_SHAPE:
		rc = set_word(f->key, text, shapes, &word, err);
		c->cross_attention_shape = (enum attention_shape)word;
		return rc;
	case FIELD_GELU:
		rc = set_word(f->key, text, gelus, &word, err);
		c->hidden_act = (enum gelu_form)word;
		return rc;
	}
	return 0;
}

enum config_key model_config_set(struct model_config *c, const char *key, const char *text,
                                 struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (strcmp(fields[i].key, key) == 0)
			return set_field(c, &fields[i], text, err) == 0 ? CONFIG_KEY_SET
			                                                : CONFIG_KEY_BAD;
	for (size_t i = 0; i < ARRAY_LEN(unused_keys); i++)
		if (strcmp(unused_keys[i], key) == 0)
			return CONFIG_KEY_UNUSED;
	return CONFIG_KEY_UNKNOWN;
}

/* The text model_config_set takes for a JSON value; lists of scalars become "1,2,3". */
static void node_text(const struct jsonr *doc, const struct jsonr_node *n, struct strbuf *sb)
{
	const struct jsonr_node *m;

	switch (n->type) {
	case JSONR_NULL:
		strbuf_adds(sb, "null");
		break;
	case JSONR_BOOL:
		strbuf_adds(sb, n->number != 0 ? "true" : "false");
		break;
	case JSONR_NUMBER:
		strbuf_addf(sb, "%.17g", n->number);
		break;
	case JSONR_STRING:
		strbuf_adds(sb, n->string);
		break;
	case JSONR_ARRAY:
		m = jsonr_first(doc, n);
		for (size_t i = 0; i < n->n; i++, m = jsonr_next(doc, m)) {
			strbuf_adds(sb, i > 0 ? "," : "");
			if (m->type == JSONR_NUMBER)
				strbuf_addf(sb, "%.17g", m->number);
		}
		break;
	case JSONR_OBJECT:
		strbuf_adds(sb, "{}");
		break;
	}
}

static int read_member(struct model_config *c, const struct jsonr *doc, const struct jsonr_node *m,
                       struct strbuf *remarks, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 16);
	enum config_key outcome;

	if (strcmp(m->key, "id2label") == 0 && m->type == JSONR_OBJECT && m->n > 0) {
		c->num_labels = m->n;
		return range("id2label", m->n, 1, 1 << 20, err);
	}
	node_text(doc, m, &text);
	outcome = model_config_set(c, m->key, strbuf_str(&text), err);
	if (outcome == CONFIG_KEY_BAD)
		return -1;
	if (remarks != NULL && outcome == CONFIG_KEY_UNKNOWN)
		strbuf_addf(remarks, "config: unknown key '%s' is ignored\n", m->key);
	if (remarks != NULL && outcome == CONFIG_KEY_UNUSED)
		strbuf_addf(remarks, "config: key '%s' has no effect on this model\n", m->key);
	return 0;
}

int model_config_read(struct model_config *c, const struct jsonr *doc, const struct jsonr_node *obj,
                      struct strbuf *remarks, struct err *err)
{
	const struct jsonr_node *m;

	if (obj->type != JSONR_OBJECT)
		return err_set(err, ERR_SPEC, "config: expected an object");
	m = jsonr_first(doc, obj);
	for (size_t i = 0; i < obj->n; i++, m = jsonr_next(doc, m))
		if (read_member(c, doc, m, remarks, err) != 0)
			return -1;
	return model_config_check(c, err);
}

int model_config_load(struct model_config *c, const char *path, struct strbuf *remarks,
                      struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	AUTO(jsonr) struct jsonr doc = {0};

	if (slurp_file(path, 16 << 20, &text, err) != 0)
		return err_wrap(err, "read config");
	if (jsonr_parse(path, strbuf_str(&text), text.len, &doc, err) != 0)
		return -1;
	if (model_config_read(c, &doc, doc.nodes, remarks, err) != 0)
		return err_wrap(err, "%s", path);
	return 0;
}

static void print_field(struct jsonw *w, const struct model_config *c, const struct model_field *f)
{
	const void *slot = (const char *)c + f->offset;

	jsonw_key(w, f->key);
	switch (f->type) {
	case FIELD_SIZE:
		if (f->min == 0 && *(const size_t *)slot == 0)
			jsonw_null(w);
		else
			jsonw_int(w, (int64_t) * (const size_t *)slot);
		break;
	case FIELD_BOOL:
		jsonw_bool(w, *(const bool *)slot);
		break;
	case FIELD_FRACTION:
		jsonw_double(w, *(const double *)slot);
		break;
	case FIELD_SHAPE:
		jsonw_string(w, c->cross_attention_shape == SHAPE_KV ? "kv" : "q");
		break;
	case FIELD_GELU:
		jsonw_string(w, c->hidden_act == GELU_ERF ? "gelu" : "gelu_new");
		break;
	case FIELD_OUTPUT:
		jsonw_begin_array(w);
		jsonw_int(w, 1);
		jsonw_int(w, (int64_t)c->num_frames);
		jsonw_int(w, (int64_t)c->image_height);
		jsonw_int(w, (int64_t)c->image_width);
		jsonw_end_array(w);
		break;
	}
}

void model_config_print(const struct model_config *c, struct strbuf *sb)
{
	struct jsonw w;

	jsonw_init(&w, sb, true);
	jsonw_begin_object(&w);
	jsonw_key(&w, "model_type");
	jsonw_string(&w, "perceiver");
	jsonw_key(&w, "architectures");
	jsonw_begin_array(&w);
	jsonw_string(&w, "PerceiverForMultimodalAutoencoding");
	jsonw_end_array(&w);
	jsonw_key(&w, "d_model");
	jsonw_int(&w, (int64_t)model_dims(c).channels);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		print_field(&w, c, &fields[i]);
	jsonw_end_object(&w);
}

#include "trainer/model/params.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/ops/philox.h"

static const char *const names[MODALITIES] = {"audio", "image", "label"};

size_t params_token_pad(const struct model_config *c, enum modality m)
{
	struct model_dims d = model_dims(c);
	size_t used[MODALITIES] = {d.audio_data + d.audio_pos, d.image_data + d.image_pos,
	                           c->num_labels};

	return d.channels - used[m];
}

size_t params_query_pad(const struct model_config *c, enum modality m)
{
	struct model_dims d = model_dims(c);
	size_t used[MODALITIES] = {d.audio_pos, d.image_pos, c->label_query_channels};

	return d.queries - used[m];
}

static size_t add(struct tensors *t, size_t rows, size_t columns, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* A tensor [rows, columns], or [columns] when rows is 0. */
static size_t add(struct tensors *t, size_t rows, size_t columns, const char *fmt, ...)
{
	char name[256];
	size_t shape[2] = {rows, columns};
	va_list args;

	va_start(args, fmt);
	vsnprintf(name, sizeof(name), fmt, args);
	va_end(args);
	return rows > 0 ? tensors_add(t, name, 2, shape) : tensors_add(t, name, 1, shape + 1);
}

static size_t add_linear(struct tensors *t, size_t out, size_t in, const char *prefix,
                         const char *name)
{
	size_t index = add(t, out, in, "%s.%s.weight", prefix, name);

	add(t, 0, out, "%s.%s.bias", prefix, name);
	return index;
}

static size_t add_norm(struct tensors *t, size_t width, const char *prefix, const char *name)
{
	size_t index = add(t, 0, width, "%s.%s.weight", prefix, name);

	add(t, 0, width, "%s.%s.bias", prefix, name);
	return index;
}

struct layer_shape {
	size_t q, kv, qk, v, widening; /* kv 0: self attention */
	const char *part, *mlp_part;
};

static void add_layer(struct tensors *t, struct layer_params *p, const struct layer_shape *s,
                      const char *prefix)
{
	size_t kv = s->kv != 0 ? s->kv : s->q;

	p->part = s->part;
	p->mlp_part = s->mlp_part;
	p->norm_q = add_norm(t, s->q, prefix, "attention.self.layernorm1");
	if (s->kv != 0)
		p->norm_kv = add_norm(t, s->kv, prefix, "attention.self.layernorm2");
	p->query = add_linear(t, s->qk, s->q, prefix, "attention.self.query");
	p->key = add_linear(t, s->qk, kv, prefix, "attention.self.key");
	p->value = add_linear(t, s->v, kv, prefix, "attention.self.value");
	p->out = add_linear(t, s->q, s->v, prefix, "attention.output.dense");
	p->norm = add_norm(t, s->q, prefix, "layernorm");
	p->dense1 = add_linear(t, s->q * s->widening, s->q, prefix, "mlp.dense1");
	p->dense2 = add_linear(t, s->q, s->q * s->widening, prefix, "mlp.dense2");
}

static void add_encoder(const struct model_config *c, struct tensors *t, struct params *p)
{
	struct model_dims d = model_dims(c);
	struct layer_shape cross = {c->d_latents,
	                            d.channels,
	                            d.enc_qk,
	                            d.enc_v,
	                            c->cross_attention_widening_factor,
	                            "cross attention",
	                            "cross attention MLP"};
	struct layer_shape self = {c->d_latents,
	                           0,
	                           d.self_qk,
	                           d.self_v,
	                           c->self_attention_widening_factor,
	                           "self attention",
	                           "self attention MLP"};

	for (enum modality m = 0; m < MODALITIES; m++)
		p->pad[m] = add(t, 1, params_token_pad(c, m),
		                "perceiver.input_preprocessor.padding.%s", names[m]);
	for (enum modality m = 0; m < MODALITIES; m++)
		p->mask[m] =
			add(t, 1, d.channels, "perceiver.input_preprocessor.mask.%s", names[m]);
	p->latents = add(t, c->num_latents, c->d_latents, "perceiver.embeddings.latents");
	add_layer(t, &p->cross, &cross, "perceiver.encoder.cross_attention");
	p->first_self = t->n;
	p->self = mem_calloc(c->num_self_attends_per_block, sizeof(p->self[0]));
	for (size_t i = 0; i < c->num_self_attends_per_block; i++) {
		char prefix[80];

		snprintf(prefix, sizeof(prefix), "perceiver.encoder.self_attends.%zu", i);
		add_layer(t, &p->self[i], &self, prefix);
	}
}

static void add_decoder(const struct model_config *c, struct tensors *t, struct params *p)
{
	struct model_dims d = model_dims(c);
	struct layer_shape cross = {d.queries, c->d_latents, d.dec_qk,     d.dec_v,
	                            1,         "decoder",    "decoder MLP"};
	size_t head[MODALITIES] = {c->samples_per_patch, 3, c->num_labels};

	p->first_decoder = t->n;
	for (enum modality m = 0; m < MODALITIES; m++)
		p->query_pad[m] =
			add(t, 1, params_query_pad(c, m), "perceiver.decoder.padding.%s", names[m]);
	p->label_query = add(t, 1, c->label_query_channels,
	                     "perceiver.decoder.modalities.label.decoder."
	                     "output_position_encodings.position_embeddings");
	add_layer(t, &p->decoder, &cross, "perceiver.decoder.decoder.decoding_cross_attention");
	p->final = add_linear(t, c->output_num_channels, d.queries, "perceiver.decoder.decoder",
	                      "final_layer");
	for (enum modality m = 0; m < MODALITIES; m++) {
		char prefix[80];

		snprintf(prefix, sizeof(prefix), "perceiver.output_postprocessor.modalities.%s",
		         names[m]);
		p->head[m] = add_linear(t, head[m], c->output_num_channels, prefix, "classifier");
	}
	p->end = t->n;
}

void params_build(const struct model_config *c, struct tensors *t, struct params *p)
{
	add_encoder(c, t, p);
	add_decoder(c, t, p);
}

void params_done(struct params *p)
{
	free(p->self);
	p->self = NULL;
}

void params_init(struct tensors *t, uint64_t seed)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct tensor *one = &t->at[i];
		struct philox random = philox_start(seed, STREAM_INIT, i);
		bool norm = one->ndim == 1 && strstr(one->name, "layernorm") != NULL;
		size_t len = strlen(one->name);
		bool bias = one->ndim == 1 && strcmp(one->name + len - 5, ".bias") == 0;

		for (size_t k = 0; k < one->n; k++)
			one->data[k] = bias   ? 0.0f
			               : norm ? 1.0f
			                      : (float)(0.02 * philox_normal(&random));
	}
}

/*
 * The parameter table: names and shapes of the Hugging Face class
 * PerceiverForMultimodalAutoencoding, in the order of the graph, and where the graph finds each.
 */
#ifndef SLIPWAY_TRAINER_MODEL_PARAMS_H
#define SLIPWAY_TRAINER_MODEL_PARAMS_H

#include "trainer/model/config.h"
#include "trainer/model/tensors.h"

enum modality { AUDIO, IMAGE, LABEL, MODALITIES };

/* Indices into the table; a weight's bias is the tensor after it. */
struct layer_params {
	size_t norm_q, norm_kv; /* self attention has no norm_kv */
	size_t query, key, value, out, norm, dense1, dense2;
	const char *part, *mlp_part; /* what a profile calls attention and MLP */
};

struct params {
	size_t pad[MODALITIES], mask[MODALITIES]; /* of the encoder's tokens */
	size_t latents;
	struct layer_params cross;
	struct layer_params *self; /* num_self_attends_per_block; owned */
	size_t query_pad[MODALITIES], label_query;
	struct layer_params decoder;
	size_t final;
	size_t head[MODALITIES];
	/* [first, end) of a part of the table, for reductions begun early */
	size_t first_self, first_decoder, end;
};

/* Channels of padding of a modality's tokens, and of its decoder queries. */
size_t params_token_pad(const struct model_config *c, enum modality m);
size_t params_query_pad(const struct model_config *c, enum modality m);

/* Fills the table and the indices, without memory for values. */
void params_build(const struct model_config *c, struct tensors *t, struct params *p);
void params_done(struct params *p);

/* Of a set in ordinary memory: N(0, 0.02) for matrices, latents, padding, masks and queries; 0 for
 * biases; 1 for norm gains. */
void params_init(struct tensors *t, uint64_t seed);

#endif

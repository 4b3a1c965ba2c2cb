/*
 * The network of trainer/model as an HLO graph: the same parameters under the same names, the same
 * inputs, the same results within rounding. Points, targets, patches and positions are gathered by
 * the host (trainer/neuron/feed.h), so that there are neither indices nor shapes that change.
 *
 * Two things are other than in trainer/model, exactly in real arithmetic: the encoder's keys and
 * values are never formed (q k^T = (q Wk) t^T, P v = (P t) Wv^T + rowsum(P) bv), and keys have no
 * bias, by which softmax does not change; its derivative is 0.
 */
#ifndef SLIPWAY_TRAINER_NEURON_NET_H
#define SLIPWAY_TRAINER_NEURON_NET_H

#include "trainer/hlo/graph.h"
#include "trainer/model/params.h"

/* What a graph is built for. */
struct neuron_shape {
	size_t batch;                    /* clips, at least one */
	size_t n_out_image, n_out_audio; /* points of a clip that are decoded; 0: none */
	bool decode_label;
	bool masked;       /* tokens can be hidden; else there are no masks */
	bool training;     /* with dropout, where the config has it, and derivatives */
	bool rounds;       /* products of bfloat16 */
	unsigned replicas; /* ranks that sum their gradients in the graph, or 1 */
};

/* What a value of the graph is given or gives; [..] its shape. The image's positions are three: of
 * frames, rows and columns. */
enum neuron_kind {
	NEURON_WEIGHT,   /* a tensor, by its index in the table */
	NEURON_GRADIENT, /* the sums so far, or with this batch */
	NEURON_MOMENT1,
	NEURON_MOMENT2,
	NEURON_AVERAGE,      /* of the weights, where it is kept */
	NEURON_AUDIO,        /* [batch, n_audio, samples of a patch] */
	NEURON_PATCHES,      /* [batch, n_image, 3 * side * side] */
	NEURON_LABELS,       /* [batch, num_labels]: one-hot */
	NEURON_MASK,         /* [batch, tokens], by modality */
	NEURON_POSITION,     /* [n, 1 + 2 * bands]: audio's, image's */
	NEURON_QUERY,        /* [points, position channels], by modality */
	NEURON_TARGET,       /* [batch, points, channels], by modality */
	NEURON_LOSS_WEIGHTS, /* [3], by modality, times what the gradients are scaled by */
	NEURON_SEED,         /* u32 [2]: of the dropout */
	NEURON_SAMPLE,       /* u32 [batch, 2] */
	NEURON_COUNTER,      /* u32 [n]: 0, 1, ... */
	NEURON_RATES,        /* [6], see enum neuron_rate */
	NEURON_LOSSES,       /* [6, batch], see enum neuron_losses */
	NEURON_SQUARES,      /* []: the sum of the gradients' squares */
	NEURON_LOGITS,       /* [batch, points, channels], by modality */
	NEURON_LATENTS, /* [batch, latents, channels]: what is encoded, and decoded elsewhere */
	NEURON_KINDS
};

enum { NEURON_POSITIONS = 4 };

/* Of an update: average = keep * average + share * weights. */
enum neuron_rate {
	NEURON_RATE_LR,
	NEURON_RATE_SCALE, /* of the gradients */
	NEURON_RATE_CORRECT1,
	NEURON_RATE_CORRECT2,
	NEURON_RATE_KEEP,
	NEURON_RATE_SHARE,
	NEURON_RATES_N
};

/* Of each clip, the mean over its points: absolute errors, cross-entropy, squared errors,
 * squared targets. */
enum neuron_losses {
	NEURON_LOSS_IMAGE,
	NEURON_LOSS_AUDIO,
	NEURON_LOSS_LABEL,
	NEURON_MSE_IMAGE,
	NEURON_MSE_AUDIO,
	NEURON_POWER_AUDIO,
	NEURON_LOSSES_N
};

/* One that a module takes or gives, in the order of its parameters or of its result. */
struct neuron_value {
	enum neuron_kind kind;
	size_t index;   /* tensor, modality or position; 0 */
	unsigned value; /* in the graph */
};

struct neuron_net {
	struct hlo_graph graph;
	struct model_config config;
	struct model_dims dims;
	struct neuron_shape shape;
	struct tensors table; /* names and shapes only */
	struct params ids;
	VEC(struct neuron_value) inputs, results;
	unsigned *weight; /* by tensor; owned */
	unsigned seed, sample, counter;
};

/* An empty graph with its weights as its first inputs. The config is a checked one. */
void neuron_net_begin(struct neuron_net *n, const struct model_config *config,
                      const struct neuron_shape *shape);
void neuron_net_done(struct neuron_net *n);

/* The next input; all of a tensor's kinds have the tensor's shape. */
unsigned neuron_input(struct neuron_net *n, enum neuron_kind kind, size_t index,
                      const struct hlo_shape *shape);
void neuron_result(struct neuron_net *n, enum neuron_kind kind, size_t index, unsigned value);

struct hlo_shape neuron_tensor_shape(const struct neuron_net *n, size_t tensor);

/* ---- the pieces, in their order ---- */

/* [batch, latents, d_latents] */
unsigned neuron_encoder(struct neuron_net *n);

/* ret[modality]: [batch, points, channels], where any are decoded */
void neuron_decoder(struct neuron_net *n, unsigned latents, unsigned ret[MODALITIES]);

/* Their losses as a result. Returns the weighted total of their means, a scalar, when training. */
unsigned neuron_losses(struct neuron_net *n, const unsigned logits[MODALITIES]);

/* ---- within ---- */

/* q [batch, heads, rows, qk] and k [batch, heads, columns, qk] to probabilities [batch, heads,
 * rows, columns] after dropout; or, where all heads have one k, [batch, heads * rows, qk] and
 * [batch, columns, qk] to [batch, heads * rows, columns]. */
unsigned neuron_probabilities(struct neuron_net *n, unsigned q, unsigned k, size_t width,
                              uint32_t layer);
/* A tensor [1, width] as a vector. */
unsigned neuron_vector(struct neuron_net *n, size_t id);
/* x w^T + bias */
unsigned neuron_linear(struct neuron_net *n, unsigned x, size_t id);
unsigned neuron_layer_norm(struct neuron_net *n, unsigned x, size_t id);
/* x + MLP(norm(x)) */
unsigned neuron_mlp(struct neuron_net *n, const struct layer_params *p, unsigned x);
/* Points decoded of a modality. */
size_t neuron_points(const struct neuron_net *n, enum modality m);

#endif

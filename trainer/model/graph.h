/*
 * The inside of struct model, shared by the files of this folder: the graph's activations and the
 * pieces that model.c runs in order.
 */
#ifndef SLIPWAY_TRAINER_MODEL_GRAPH_H
#define SLIPWAY_TRAINER_MODEL_GRAPH_H

#include "base/mem.h"
#include "trainer/model/model.h"
#include "trainer/model/params.h"
#include "trainer/ops/ops.h"

/* Which activations of a forward pass are a layer's own; the others lie in buffers that several
 * layers share, and are computed again in backward. */
enum layer_keep {
	KEEP_ALL,
	KEEP_PRODUCTS, /* not the outputs of LayerNorm and GELU */
	KEEP_INPUT     /* x and y only; of the cross attention, its attention */
};

/* Activations of one attention layer; rows = clips x queries. */
struct layer_act {
	enum layer_keep keep;
	float *x; /* input of a self attention; not owned */
	float *norm_q, *mean_q, *rstd_q;
	float *norm_kv, *mean_kv, *rstd_kv; /* cross only */
	float *q, *k, *v, *o, *lse;
	float *attn_out; /* after projection and residual */
	float *norm, *mean, *rstd, *hidden, *gelu, *y;
};

/* Derivatives, shared by all layers of a stage. */
struct layer_grad {
	float *dy; /* of the layer's output, then of its input */
	float *dhidden, *dnorm, *d_o, *dq, *dk, *dv;
};

/* Where a batch lies that ops cannot read as the host has it. */
struct batch_room {
	struct buffer block, points; /* of all, and of points that are decoded besides */
	struct buffer image, audio;  /* numbers that bytes became, on any device */
};

struct model {
	struct model_config config;
	struct model_dims dims;
	struct ops *ops;
	struct params ids;
	struct tensors params, grads;
	bool training, keep;
	bool measuring; /* the workspace is only summed up */
	struct grads_ready hook;
	struct recompute recompute;

	/* constants of the config: position features of audio; image t, y, x */
	struct buffer enc_room[4], dec_room[4];
	const float *enc_pos[4], *dec_pos[4];
	/* the last forward's batch, where ops can read it */
	struct batch input;
	struct batch_room rooms;
	/* capacity of the workspace, and its blocks */
	size_t max_batch, max_points;
	VEC(struct buffer) blocks;
	float *block_at; /* what is left of the last one */
	size_t block_left;
	size_t workspace;
	float nowhere; /* the address of what is only summed up */
	/* encoder */
	struct op_cross cross_op;
	float *patches, *onehot, *latents_b;
	struct layer_act cross;
	struct layer_act *self; /* dims.n_layers; owned */
	size_t held;            /* the layer of KEEP_INPUT whose products the shared buffers hold */
	struct layer_grad enc_grad;
	float *dcontext, *dlatent_q;
	/* decoder */
	size_t n_points;
	float *query;
	struct layer_act dec;
	struct layer_grad dec_grad;
	float *final, *dfinal;
	float *logits[MODALITIES], *dlogits[MODALITIES];
	float *dquery, *discard; /* discard: where a derivative goes that is exactly 0 */
	/* copies for model_activation, in the host's memory */
	float *kept_tokens, *kept_query;
	size_t batch; /* clips of the last forward */
};

/* A parameter's values and derivative. */
static inline float *value_of(const struct model *m, size_t id)
{
	return m->params.at[id].data;
}
static inline float *grad_of(const struct model *m, size_t id)
{
	return m->grads.at[id].data;
}

/* The gradients of tensors [first, end) are final. */
static inline void tell_ready(const struct model *m, size_t first, size_t end)
{
	if (m->hook.ready != NULL)
		m->hook.ready(m->hook.ctx, first, end - first);
}

/* input.c: *b as m->input; only its points and its dropout, for another decoding. */
void input_stage(struct model *m, const struct batch *b);
void input_stage_points(struct model *m, const struct batch *b);
/* The clips' bytes to numbers, where they are bytes. */
void input_convert(struct model *m);
void input_free(struct model *m);

/* activation.c: copies what the rest of the forward pass would lose. */
void activations_keep(struct model *m);

/* workspace.c: memory for `batch` clips and `points` decoded points per clip. */
void workspace_ensure(struct model *m, size_t batch, size_t points);
void workspace_free(struct model *m);
/* What it would take, without the cross attention's state. */
struct model_workspace_bytes {
	size_t encoder, decoder;
};
struct model_workspace_bytes workspace_measure(const struct model_config *c, struct recompute r,
                                               size_t batch, size_t points);

/* layer.c: the parts that every attention layer has. */
struct op_linear layer_linear(const struct model *m, size_t id, size_t rows, const float *x,
                              float *y);
struct op_norm layer_norm(const struct model *m, size_t id, size_t rows, const float *x, float *y,
                          float *mean, float *rstd);
/* y = attn_out + MLP(norm(attn_out)) */
void layer_mlp_forward(struct model *m, const struct layer_params *p, struct layer_act *a,
                       size_t rows);
/* g->dy: from d(y) to d(attn_out) */
void layer_mlp_backward(struct model *m, const struct layer_params *p, const struct layer_act *a,
                        struct layer_grad *g, size_t rows);
/* Before that, unless all is kept: norm and GELU again; with `products` what is between them. */
void layer_mlp_again(struct model *m, const struct layer_params *p, const struct layer_act *a,
                     size_t rows, bool products);
void layer_self_forward(struct model *m, size_t index, const struct batch *b);
void layer_self_backward(struct model *m, size_t index, const struct batch *b);

/* encoder.c, decoder.c */
/* The shapes of the encoder's tokens; their arrays are NULL. */
void encoder_token_shapes(const struct model *m, struct op_tokens groups[MODALITIES]);
void encoder_forward(struct model *m, const struct batch *b);
void encoder_backward(struct model *m, const struct batch *b);
void decoder_forward(struct model *m, const struct batch *b);
void decoder_backward(struct model *m, const struct batch *b);

#endif

/*
 * The network: parameters, forward, loss, backward. The graph is written once, over the op contract
 * of trainer/ops/ops.h; which implementation runs (the plain reference or the fast one) is chosen
 * when the model is made.
 *
 * Memory: parameters, gradients, activations and logits lie in the device's memory of the ops
 * (trainer/ops/device.h); a batch is the caller's, in the host's, and stays as it is until the
 * model's calls for it are over and ops_sync has returned. Activations belong to the model and are
 * allocated for the largest batch seen. Errors of the device stick to the ops: whoever drives a
 * model (trainer/train/learner.h) asks for them by ops_sync.
 * Thread rule: one call at a time; a call uses the threads of its ops.
 */
#ifndef SLIPWAY_TRAINER_MODEL_MODEL_H
#define SLIPWAY_TRAINER_MODEL_MODEL_H

#include "trainer/model/batch.h"
#include "trainer/model/config.h"
#include "trainer/model/recompute.h"
#include "trainer/model/tensors.h"

struct ops;   /* trainer/ops/ops.h */
struct model; /* opaque */

struct loss_weights {
	double image, audio, label; /* the paper's: 0.03, 1, 0.0001 */
};

struct losses {
	double total;                /* weighted */
	double image, audio;         /* mean absolute error over all sampled outputs */
	double label;                /* mean cross-entropy */
	double mse_image, mse_audio; /* mean squared errors, for PSNR = -10 log10(mse) */
	size_t label_hits;           /* rows whose largest logit is the label */
	size_t label_hits5;          /* rows in which it is among the five largest */
	double power_audio;          /* mean square of the sampled targets */
};

struct logits {             /* where the ops' device has them */
	const float *image; /* [B, n_out_image, 3] */
	const float *audio; /* [B, n_out_audio * samples_per_patch] */
	const float *label; /* [B, num_labels]; NULL when not decoded */
};

/* The config must have passed model_config_check; ops is borrowed and outlives the model.
 * Parameters are zero until loaded or model_init. */
struct model *model_new(const struct model_config *config, struct ops *ops);
void model_free(struct model *m);

const struct model_config *model_get_config(const struct model *m);
const struct model_dims *model_get_dims(const struct model *m);
struct tensors *model_params(struct model *m); /* the 183 tensors, HF names and shapes */
struct tensors *model_grads(struct model *m);  /* the same table; allocated at the first call */

/* Hugging Face's initialisation, N(0, 0.02) / 0 / 1, from counter-based random
 * numbers of `seed`. */
void model_init(struct model *m, uint64_t seed);

/* Whether attention dropout is active in the next forward (training) or not. */
void model_set_training(struct model *m, bool training);

/* Token encoding + latents, then logits of the batch's points; *ret is valid
 * until the next call. */
void model_forward(struct model *m, const struct batch *b, struct logits *ret);

/* The same for the batch that model_input_set (trainer/model/input.h) has made the model's. */
void model_compute(struct model *m, struct logits *ret);

/* Makes room for batches of up to n clips with `points` decoded points (the
 * label is one of them). */
void model_reserve(struct model *m, size_t n, size_t points);

/* Decodes other points of the clips of the last model_forward: at most as many as the largest batch
 * had. The last forward's own derivatives are lost. */
void model_decode(struct model *m, const struct batch *points, struct logits *ret);

/* Losses of the last model_forward against its batch's own image, audio and label. Waits for the
 * device; NaN when it has failed. */
void model_loss(struct model *m, const struct loss_weights *w, struct losses *ret);

/* The same in two parts, the first of which does not wait: the losses' sums go to the first
 * MODEL_FIGURES of ops_figures, which are then read and given to the second. */
enum { MODEL_FIGURES = 9 };
void model_sum_losses(struct model *m);
struct losses model_losses(const struct model *m, const struct loss_weights *w,
                           const double figures[]);

/*
 * Adds scale * d(total loss)/d(parameter) to the gradients, for the last model_forward; zero them
 * first (model_zero_grads) unless accumulating.
 */
void model_backward(struct model *m, const struct loss_weights *w, double scale);
void model_zero_grads(struct model *m);

/*
 * Called in model_backward when the gradients of tensors [first, first + n) of the table are final
 * (added to for the last time in this pass): a reduction over ranks may start. NULL: none.
 */
struct grads_ready {
	void (*ready)(void *ctx, size_t first, size_t n);
	void *ctx;
};
void model_on_grads_ready(struct model *m, struct grads_ready hook);

/* A named activation of the last forward, as the golden folder names them ("act.decoder.final"),
 * copied to the host's memory, which the caller frees; false when there is none of that name on
 * this path. Only after model_keep_activations(m, true). */
struct activation {
	float *data; /* owned */
	int ndim;
	size_t shape[4];
};
void model_keep_activations(struct model *m, bool keep);
bool model_activation(struct model *m, const char *name, struct activation *ret);

/* What the next forward keeps for its backward (none at first). Same bits, another workspace. */
void model_set_recompute(struct model *m, struct recompute r);

/* Bytes of activations and scratch now held. */
size_t model_workspace_bytes(const struct model *m);

#endif

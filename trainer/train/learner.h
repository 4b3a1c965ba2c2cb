/*
 * A model that learns, wherever its ops compute: weights, gradients, optimizer, averaged weights
 * and the last good state, all in the memory of the ops' device. Everything above (the loop,
 * checkpoints, evaluation, classification, samples) goes through here and sees the host's memory
 * only; what it is given it may change when the call has returned.
 *
 * Errors: those of the device, which stick (trainer/ops/device.h); every call after the first
 * returns it again, and nothing that the learner holds can be trusted then. A CPU has none.
 * Thread rule: one call at a time.
 */
#ifndef SLIPWAY_TRAINER_TRAIN_LEARNER_H
#define SLIPWAY_TRAINER_TRAIN_LEARNER_H

#include "trainer/train/options.h"

struct ops;
struct reducer; /* trainer/train/loop.h */
struct learner; /* opaque */

/*
 * A learner whose graph is computed op by op; trainer/neuron/learner.h has one of whole modules.
 * The config must have passed model_config_check; ops is borrowed and outlives the learner.
 * Weights are zero until learner_init or learner_set.
 */
struct learner *learner_new(const struct model_config *config, struct ops *ops,
                            struct recompute recompute);
void learner_free(struct learner *l); /* NULL is fine */

const struct model_config *learner_config(const struct learner *l);
const struct model_dims *learner_dims(const struct learner *l);

/* Of its products: in f16 gradients are to be those of a scaled loss. */
enum op_precision learner_precision(const struct learner *l);

/* Who computes its matrix products, as far as it is known (ops_products). */
void learner_products(const struct learner *l, struct strbuf *sb);

/* What computes it, for the log. */
void learner_describe(const struct learner *l, struct strbuf *sb);

/* Its gradients are summed over the ranks by what computes them: no reducer's sums are needed for
 * that, and learner_sum_next and learner_finish_sums have nothing to do. */
bool learner_sums(const struct learner *l);

/* The model inside, for goldens, benches and tests, which look at its graph: of learner_new only.
 */
struct model *learner_model(struct learner *l);

/* Random weights (model_init). */
void learner_init(struct learner *l, uint64_t seed);

/* ---- sets of tensors ---- */

enum learner_set {
	LEARNER_WEIGHTS,
	LEARNER_GRADIENTS,
	LEARNER_MOMENT1, /* SGD's momentum_buffer, AdamW's exp_avg */
	LEARNER_MOMENT2, /* AdamW's exp_avg_sq */
	LEARNER_AVERAGE, /* of the weights */
	LEARNER_SETS
};

/* Names and shapes, the same in every set; its values are not to be looked at. */
const struct tensors *learner_table(const struct learner *l);

bool learner_has(struct learner *l, enum learner_set which);

/* The set's values to or from a set of the same table in ordinary memory; the learner has it. */
int learner_get(struct learner *l, enum learner_set which, struct tensors *ret,
                struct err *err) MUST_USE;
int learner_set(struct learner *l, enum learner_set which, const struct tensors *values,
                struct err *err) MUST_USE;

/* What belongs to the sets but is no tensor. */
struct learner_counts {
	uint64_t updates;  /* of the weights */
	uint64_t averaged; /* of them, those that the average has seen; 0: it holds nothing */
};
struct learner_counts learner_counts(const struct learner *l);
void learner_set_counts(struct learner *l, struct learner_counts counts);

/* *ret: no NaN and no infinity among the weights. */
int learner_is_finite(struct learner *l, bool *ret, struct err *err) MUST_USE;

/* Changes weights and averaged weights with each other; false where there is no average yet. */
bool learner_exchange_average(struct learner *l);

/* ---- training ---- */

/* Gradients and the optimizer's state, zeroed: once, before anything below. */
void learner_prepare(struct learner *l, const struct optimizer_options *options);
const struct optimizer_options *learner_optimizer(const struct learner *l);

/* A step begins: gradients to zero. */
void learner_begin(struct learner *l);

/* The next learner_accumulate is the step's last: gradients are summed over the ranks as soon as
 * they are final, or `after` it. */
void learner_sum_next(struct learner *l, const struct reducer *reducer, bool after);

/*
 * What learner_accumulate does, in parts, so that the next batch is on its way while the device
 * computes with this one: hand over a batch, begin with the oldest that was handed over, wait for
 * the losses. Where learner_copies, a batch may be changed after learner_stage, and one more may be
 * handed over than was begun with; elsewhere it stays as it is until the losses are there.
 */
bool learner_copies(const struct learner *l);
void learner_stage(struct learner *l, const struct batch *b);
void learner_start(struct learner *l, const struct loss_weights *w, double scale);
int learner_finish(struct learner *l, const struct loss_weights *w, struct losses *ret,
                   struct err *err) MUST_USE;

/* Forward and backward with dropout: adds scale * d(total loss)/d(parameter) to the gradients. */
int learner_accumulate(struct learner *l, const struct batch *b, const struct loss_weights *w,
                       double scale, struct losses *ret, struct err *err) MUST_USE;

/* Returns when the gradients are the sums over all ranks, which learner_sum_next began. */
int learner_finish_sums(struct learner *l, struct err *err) MUST_USE;

/*
 * A step's end: whether its update is made, and how large it is, are the ops' to judge, so that the
 * host need not look in between. Where the device records, all of it is part of the last
 * micro-step (but in a step that keeps), and one launch makes the step.
 */
struct learner_update {
	double lr;
	double unscale; /* gradients times it are those of one rank's loss: 1 / ranks / its scale */
	double max_norm;  /* the gradient's norm is clipped to it; 0: it is not */
	double limit;     /* a norm above it is a spike, which changes nothing; infinite: none is */
	bool barred;      /* nothing is changed, whatever the figures are */
	bool keep;        /* learner_keep comes before the update, if it is made */
	double norm_mean; /* for learner_keep */
};

struct learner_verdict {
	double norm; /* of the gradients times `unscale`; not finite when one of them is not */
	bool updated;
};

/* The next learner_start is the step's last micro-step, and this is to follow it. */
void learner_plan(struct learner *l, const struct learner_update *u);

/* After it, its losses and the sums over the ranks: makes the update, unless that is done. `u`
 * as given to learner_plan; it may be barred only now. */
int learner_conclude(struct learner *l, const struct learner_update *u, struct learner_verdict *ret,
                     struct err *err) MUST_USE;

/* The gradients' Euclidean norm; not finite when one of them is not. */
int learner_norm(struct learner *l, double *ret, struct err *err) MUST_USE;

/* For whoever judges by himself (goldens, tests): changes the weights by scale * gradients at this
 * rate, and their average after them. */
int learner_apply(struct learner *l, double lr, double scale, struct err *err) MUST_USE;

/* Weights and optimizer as they are become the last good state, with a number of the caller's. */
void learner_keep(struct learner *l, double norm_mean);
/* Back to them; false, and nothing is changed, where none were kept. */
bool learner_go_back(struct learner *l, double *ret_norm_mean);

/* Takes all memory that training on batches of this shape takes, as learner_start and the steps
 * around it do, on ops that compute nothing (trainer/ops/tally.h); nothing is read of *b. For a
 * learner of learner_new. */
void learner_rehearse(struct learner *l, const struct batch *b);

/* ---- use, without dropout ---- */

/* Decodes the batch's points. *ret lies in the host's memory, until the next call. */
int learner_forward(struct learner *l, const struct batch *b, struct logits *ret,
                    struct err *err) MUST_USE;

/* Other points of the clips of the last learner_forward: at most as many as the largest batch had.
 */
int learner_decode(struct learner *l, const struct batch *points, struct logits *ret,
                   struct err *err) MUST_USE;

/* The losses of a batch. */
int learner_measure(struct learner *l, const struct batch *b, const struct loss_weights *w,
                    struct losses *ret, struct err *err) MUST_USE;

#endif

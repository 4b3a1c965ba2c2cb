/*
 * SGD with momentum and AdamW over a tensor set, and the global gradient norm. The gradient is
 * scaled (clipping, averaging) while it is read. Same bits for any number of threads. The averaged
 * weights, where they are asked for, follow every update.
 */
#ifndef SLIPWAY_TRAINER_TRAIN_OPTIMIZER_H
#define SLIPWAY_TRAINER_TRAIN_OPTIMIZER_H

#include "trainer/train/options.h"

struct ops;
struct op_terms;

struct optimizer {
	struct optimizer_options options;
	struct tensors m, v;    /* SGD: m is momentum_buffer, v empty; AdamW: exp_avg, exp_avg_sq */
	uint64_t steps;         /* updates done, for bias correction */
	struct tensors average; /* of the weights (trainer/train/average.h); empty: not kept */
	uint64_t averaged;      /* updates that it has seen; 0: it holds nothing yet */
	struct buffer terms;    /* struct op_terms, of the update that is to come */
};

/* State zeroed, in the ops' memory, for the parameters' table, whose names it borrows. */
void optimizer_init(struct optimizer *o, const struct optimizer_options *options,
                    const struct tensors *params, struct ops *ops);
void optimizer_done(struct optimizer *o);

/*
 * SGD: v = momentum * v + g, p -= lr * v (weight decay added to g). AdamW: p *= 1 - lr * decay,
 * then p -= lr * m_hat / (sqrt(v_hat) + eps). g is scale * grads.
 */
void optimizer_step(struct optimizer *o, struct tensors *params, const struct tensors *grads,
                    double lr, double scale, struct ops *ops);

/*
 * The same in parts, so that whether and how much is changed may be the device's to judge:
 * optimizer_send sends the next update's terms, of which the caller has set all but lr, correct1,
 * correct2 and average; optimizer_update asks for it, by the terms as the device has them then;
 * optimizer_count says that it was made.
 */
void optimizer_send(struct optimizer *o, double lr, struct op_terms *terms, struct ops *ops);
void optimizer_update(struct optimizer *o, struct tensors *params, const struct tensors *grads,
                      struct ops *ops);
void optimizer_count(struct optimizer *o);

/* Where the device has the terms. */
struct op_terms *optimizer_terms(const struct optimizer *o);

/* The Euclidean norm of all values; infinite or NaN when one of them is, or the device has failed,
 * for which it waits. */
double grads_norm(const struct tensors *grads, struct ops *ops);

/* min(1, max_norm / (norm + 1e-6)), 1 when max_norm is 0. */
double clip_scale(double norm, double max_norm);

#endif

/*
 * The sum of the gradients over the ranks, in buckets: neighbours in the table of tensors whose
 * gradients the backward pass finishes one after the other, together at least BUCKET_VALUES large.
 * A bucket's sum begins as soon as its gradients are final, while the backward pass goes on.
 *
 * On a device with a memory of its own sums are made there, where the reducer can; otherwise all
 * gradients are fetched when the backward pass is over, and the host's sums brought back.
 *
 * Where buckets begin and end follows from the table alone, so it does not matter for the bits when
 * their sums begin.
 */
#ifndef SLIPWAY_TRAINER_TRAIN_REDUCE_H
#define SLIPWAY_TRAINER_TRAIN_REDUCE_H

#include "base/mem.h"
#include "trainer/train/loop.h"

enum { BUCKET_VALUES = 1 << 18 };

/* Values [first, first + n) of the gradients. */
struct grad_bucket {
	size_t first, n;
};

/* Borrows all that it is given. */
struct grad_sum {
	const struct reducer *reducer;
	struct model *model;
	bool last;                       /* begin no sum before the backward pass is over */
	bool cut;                        /* the buckets are known, from a step before */
	bool listens;                    /* to what the backward pass finishes */
	size_t open, done;               /* values [open, done) are final and in no bucket yet */
	VEC(struct grad_bucket) buckets; /* in the order of the backward pass */
	size_t begun;                    /* of them */
	struct buffer room;              /* of the host, where the device's memory is its own */
	float *values;                   /* where the sums are made */
	int rc;                          /* of a sum that could not begin */
	struct err err;
};

/* All zero at first. Before the backward pass of a step's last micro-step. */
void grad_sum_start(struct grad_sum *s, const struct reducer *reducer, struct model *model,
                    bool last);

/* The backward pass tells of each gradient that is final: where sums begin meanwhile, and the first
 * time, when the buckets are cut. */
bool grad_sum_listens(const struct grad_sum *s);

/* After it: returns when the model's gradients are the sums over all ranks. */
int grad_sum_finish(struct grad_sum *s, struct err *err) MUST_USE;

void grad_sum_done(struct grad_sum *s);

#endif

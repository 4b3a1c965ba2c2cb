/*
 * The inside of the learner of ops, shared by learner_ops.c (sets of tensors, use) and
 * learner_step.c (training). For this folder only.
 */
#ifndef SLIPWAY_TRAINER_TRAIN_LEARNER_INTERNAL_H
#define SLIPWAY_TRAINER_TRAIN_LEARNER_INTERNAL_H

#include "trainer/ops/feed.h"
#include "trainer/ops/ops.h"
#include "trainer/train/last_good.h"
#include "trainer/train/learner_backend.h"
#include "trainer/train/reduce.h"

/* What is asked of a device at once, and recorded where it records. */
enum learner_part {
	PART_MICRO,  /* a micro-step: forward, backward, losses */
	PART_WHOLE,  /* the same, and the step's end */
	PART_UPDATE, /* a step's end: norm, verdict, update */
	PARTS
};

/* What a device has recorded, for micro-steps alike. */
struct recorded {
	void *parts[PARTS]; /* NULL: not yet */
	bool warm;          /* one alike was computed: what it needs is there */
	struct batch batch; /* the model's */
	struct loss_weights weights;
	double scale;
};

struct ops_learner {
	struct learner base;
	struct ops *ops;
	struct model *model;
	struct optimizer optimizer;
	bool prepared;
	struct last_good good;
	struct grad_sum sum;
	struct buffer seen[3]; /* logits, where the device's memory is its own */
	struct ops_feed feed;  /* batches on their way, there */
	struct batch staged[FEED_LANES];
	uint64_t n_staged, n_started;
	struct recorded recorded;
	struct loss_weights weights; /* of the micro-step, and its scale */
	double scale;
	bool summing; /* the ranks' sums begin in the next backward pass, or after it */
	bool planned; /* the next micro-step is the step's last, with this behind it */
	struct learner_update plan;
	bool concluded;              /* the last micro-step was the whole step */
	bool updates_are_warm;       /* an update was made: what it needs is there */
	double figures[OPS_FIGURES]; /* of the last micro-step, and of its update */
};

/* Of a learner whose backend is this one. */
static inline struct ops_learner *ops_learner_of(struct learner *base)
{
	return (struct ops_learner *)base;
}

/* learner_step.c: functions of the backend's table, and what it leaves to others */
void ops_learner_prepare(struct learner *base, const struct optimizer_options *options);
void ops_learner_begin(struct learner *base);
void ops_learner_sum_next(struct learner *base, const struct reducer *reducer, bool after);
void ops_learner_stage(struct learner *base, const struct batch *b);
void ops_learner_plan(struct learner *base, const struct learner_update *u);
void ops_learner_start(struct learner *base, const struct loss_weights *w, double scale);
int ops_learner_finish(struct learner *base, const struct loss_weights *w, struct losses *ret,
                       struct err *err);
int ops_learner_finish_sums(struct learner *base, struct err *err);
int ops_learner_conclude(struct learner *base, const struct learner_update *u,
                         struct learner_verdict *ret, struct err *err);
int ops_learner_norm(struct learner *base, double *ret, struct err *err);
int ops_learner_apply(struct learner *base, double lr, double scale, struct err *err);
void ops_learner_forget_recordings(struct ops_learner *l);

#endif

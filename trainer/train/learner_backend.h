/*
 * What is behind trainer/train/learner.h: a table of functions, each what the function of learner.h
 * of its name says. There are two: ops on a device (learner_ops.c,
 * learner_step.c), and whole modules that a
 * compiler made ahead (trainer/neuron/learner.c). For those who implement one, and for learner.c.
 */
#ifndef SLIPWAY_TRAINER_TRAIN_LEARNER_BACKEND_H
#define SLIPWAY_TRAINER_TRAIN_LEARNER_BACKEND_H

#include "trainer/train/learner.h"

struct learner_backend {
	void (*done)(struct learner *l); /* frees it */
	enum op_precision (*precision)(const struct learner *l);
	void (*products)(const struct learner *l, struct strbuf *sb);
	void (*describe)(const struct learner *l, struct strbuf *sb);
	void (*init)(struct learner *l, uint64_t seed);
	bool (*has)(struct learner *l, enum learner_set which);
	int (*get)(struct learner *l, enum learner_set which, struct tensors *ret, struct err *err);
	int (*set)(struct learner *l, enum learner_set which, const struct tensors *values,
	           struct err *err);
	struct learner_counts (*counts)(const struct learner *l);
	void (*set_counts)(struct learner *l, struct learner_counts to);
	int (*is_finite)(struct learner *l, bool *ret, struct err *err);
	bool (*exchange_average)(struct learner *l);
	void (*prepare)(struct learner *l, const struct optimizer_options *options);
	void (*begin)(struct learner *l);
	void (*sum_next)(struct learner *l, const struct reducer *reducer, bool after);
	void (*stage)(struct learner *l, const struct batch *b);
	void (*plan)(struct learner *l, const struct learner_update *u);
	void (*start)(struct learner *l, const struct loss_weights *w, double scale);
	int (*finish)(struct learner *l, const struct loss_weights *w, struct losses *ret,
	              struct err *err);
	int (*finish_sums)(struct learner *l, struct err *err);
	int (*conclude)(struct learner *l, const struct learner_update *u,
	                struct learner_verdict *ret, struct err *err);
	int (*norm)(struct learner *l, double *ret, struct err *err);
	int (*apply)(struct learner *l, double lr, double scale, struct err *err);
	void (*keep)(struct learner *l, double norm_mean);
	bool (*go_back)(struct learner *l, double *ret_norm_mean);
	int (*forward)(struct learner *l, const struct batch *b, struct logits *ret,
	               struct err *err);
	int (*decode)(struct learner *l, const struct batch *points, struct logits *ret,
	              struct err *err);
	int (*measure)(struct learner *l, const struct batch *b, const struct loss_weights *w,
	               struct losses *ret, struct err *err);
};

/* The first member of what a backend keeps. All is borrowed from that, and set once. */
struct learner {
	const struct learner_backend *backend;
	const struct model_config *config;
	const struct model_dims *dims;
	const struct tensors *table;
	bool copies;                      /* learner_copies */
	bool sums_by_itself;              /* learner_sums */
	struct optimizer_options options; /* once prepared */
};

#endif

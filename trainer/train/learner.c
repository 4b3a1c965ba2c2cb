#include "trainer/train/learner_backend.h"

void learner_free(struct learner *l)
{
	if (l != NULL)
		l->backend->done(l);
}

const struct model_config *learner_config(const struct learner *l)
{
	return l->config;
}

const struct model_dims *learner_dims(const struct learner *l)
{
	return l->dims;
}

const struct tensors *learner_table(const struct learner *l)
{
	return l->table;
}

enum op_precision learner_precision(const struct learner *l)
{
	return l->backend->precision(l);
}

bool learner_copies(const struct learner *l)
{
	return l->copies;
}

bool learner_sums(const struct learner *l)
{
	return l->sums_by_itself;
}

void learner_products(const struct learner *l, struct strbuf *sb)
{
	l->backend->products(l, sb);
}

void learner_describe(const struct learner *l, struct strbuf *sb)
{
	l->backend->describe(l, sb);
}

void learner_init(struct learner *l, uint64_t seed)
{
	l->backend->init(l, seed);
}

/* ---- sets of tensors ---- */

bool learner_has(struct learner *l, enum learner_set which)
{
	return l->backend->has(l, which);
}

int learner_get(struct learner *l, enum learner_set which, struct tensors *ret, struct err *err)
{
	return l->backend->get(l, which, ret, err);
}

int learner_set(struct learner *l, enum learner_set which, const struct tensors *values,
                struct err *err)
{
	return l->backend->set(l, which, values, err);
}

struct learner_counts learner_counts(const struct learner *l)
{
	return l->backend->counts(l);
}

void learner_set_counts(struct learner *l, struct learner_counts counts)
{
	l->backend->set_counts(l, counts);
}

int learner_is_finite(struct learner *l, bool *ret, struct err *err)
{
	return l->backend->is_finite(l, ret, err);
}

bool learner_exchange_average(struct learner *l)
{
	return l->backend->exchange_average(l);
}

/* ---- training ---- */

void learner_prepare(struct learner *l, const struct optimizer_options *options)
{
	l->options = *options;
	l->backend->prepare(l, options);
}

const struct optimizer_options *learner_optimizer(const struct learner *l)
{
	return &l->options;
}

void learner_begin(struct learner *l)
{
	l->backend->begin(l);
}

void learner_sum_next(struct learner *l, const struct reducer *reducer, bool after)
{
	l->backend->sum_next(l, reducer, after);
}

void learner_stage(struct learner *l, const struct batch *b)
{
	l->backend->stage(l, b);
}

void learner_plan(struct learner *l, const struct learner_update *u)
{
	l->backend->plan(l, u);
}

void learner_start(struct learner *l, const struct loss_weights *w, double scale)
{
	l->backend->start(l, w, scale);
}

int learner_finish(struct learner *l, const struct loss_weights *w, struct losses *ret,
                   struct err *err)
{
	return l->backend->finish(l, w, ret, err);
}

int learner_accumulate(struct learner *l, const struct batch *b, const struct loss_weights *w,
                       double scale, struct losses *ret, struct err *err)
{
	learner_stage(l, b);
	learner_start(l, w, scale);
	return learner_finish(l, w, ret, err);
}

int learner_finish_sums(struct learner *l, struct err *err)
{
	return l->backend->finish_sums(l, err);
}

int learner_conclude(struct learner *l, const struct learner_update *u, struct learner_verdict *ret,
                     struct err *err)
{
	return l->backend->conclude(l, u, ret, err);
}

int learner_norm(struct learner *l, double *ret, struct err *err)
{
	return l->backend->norm(l, ret, err);
}

int learner_apply(struct learner *l, double lr, double scale, struct err *err)
{
	return l->backend->apply(l, lr, scale, err);
}

void learner_keep(struct learner *l, double norm_mean)
{
	l->backend->keep(l, norm_mean);
}

bool learner_go_back(struct learner *l, double *ret_norm_mean)
{
	return l->backend->go_back(l, ret_norm_mean);
}

/* ---- use ---- */

int learner_forward(struct learner *l, const struct batch *b, struct logits *ret, struct err *err)
{
	return l->backend->forward(l, b, ret, err);
}

int learner_decode(struct learner *l, const struct batch *points, struct logits *ret,
                   struct err *err)
{
	return l->backend->decode(l, points, ret, err);
}

int learner_measure(struct learner *l, const struct batch *b, const struct loss_weights *w,
                    struct losses *ret, struct err *err)
{
	return l->backend->measure(l, b, w, ret, err);
}

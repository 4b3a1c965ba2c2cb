#include "trainer/train/learner.h"

#include "base/mem.h"
#include "trainer/ops/ops.h"
#include "trainer/train/average.h"
#include "trainer/train/last_good.h"
#include "trainer/train/reduce.h"

struct learner {
	struct ops *ops;
	struct model *model;
	struct optimizer optimizer;
	bool prepared;
	struct last_good good;
	struct grad_sum sum;
	struct buffer seen[3]; /* logits, where the device's memory is its own */
};

struct learner *learner_new(const struct model_config *config, struct ops *ops,
                            struct recompute recompute)
{
	struct learner *l = mem_zalloc(sizeof(*l));

	l->ops = ops;
	l->model = model_new(config, ops);
	model_set_recompute(l->model, recompute);
	return l;
}

void learner_free(struct learner *l)
{
	if (l == NULL)
		return;
	for (size_t i = 0; i < ARRAY_LEN(l->seen); i++)
		buffer_free(l->ops, &l->seen[i]);
	grad_sum_done(&l->sum);
	last_good_done(&l->good);
	if (l->prepared)
		optimizer_done(&l->optimizer);
	model_free(l->model);
	free(l);
}

const struct model_config *learner_config(const struct learner *l)
{
	return model_get_config(l->model);
}

const struct model_dims *learner_dims(const struct learner *l)
{
	return model_get_dims(l->model);
}

struct model *learner_model(struct learner *l)
{
	return l->model;
}

void learner_init(struct learner *l, uint64_t seed)
{
	model_init(l->model, seed);
}

/* ---- sets of tensors ---- */

/* NULL where the learner has no such set. */
static struct tensors *set_of(struct learner *l, enum learner_set which)
{
	struct optimizer *o = &l->optimizer;
	struct tensors *sets[LEARNER_SETS] = {
		[LEARNER_WEIGHTS] = model_params(l->model),
		[LEARNER_GRADIENTS] = l->prepared ? model_grads(l->model) : NULL,
		[LEARNER_MOMENT1] = l->prepared ? &o->m : NULL,
		[LEARNER_MOMENT2] = l->prepared && o->v.n > 0 ? &o->v : NULL,
		[LEARNER_AVERAGE] = l->prepared && o->average.n > 0 ? &o->average : NULL};

	return sets[which];
}

const struct tensors *learner_table(const struct learner *l)
{
	return model_params(l->model);
}

bool learner_has(struct learner *l, enum learner_set which)
{
	return set_of(l, which) != NULL;
}

int learner_get(struct learner *l, enum learner_set which, struct tensors *ret, struct err *err)
{
	tensors_copy(ret, set_of(l, which));
	return ops_sync(l->ops, err);
}

int learner_set(struct learner *l, enum learner_set which, const struct tensors *values,
                struct err *err)
{
	tensors_copy(set_of(l, which), values);
	return ops_sync(l->ops, err);
}

struct learner_counts learner_counts(const struct learner *l)
{
	return (struct learner_counts){l->optimizer.steps, l->optimizer.averaged};
}

void learner_set_counts(struct learner *l, struct learner_counts counts)
{
	l->optimizer.steps = counts.updates;
	l->optimizer.averaged = counts.averaged;
}

int learner_is_finite(struct learner *l, bool *ret, struct err *err)
{
	bool finite = tensors_are_finite(model_params(l->model), l->ops);

	if (ops_sync(l->ops, err) != 0)
		return -1;
	*ret = finite;
	return 0;
}

bool learner_exchange_average(struct learner *l)
{
	if (l->optimizer.averaged == 0)
		return false;
	average_exchange(model_params(l->model), &l->optimizer.average, l->ops);
	return true;
}

/* ---- training ---- */

void learner_prepare(struct learner *l, const struct optimizer_options *options)
{
	optimizer_init(&l->optimizer, options, model_params(l->model), l->ops);
	l->prepared = true;
	(void)model_grads(l->model);
}

const struct optimizer_options *learner_optimizer(const struct learner *l)
{
	return &l->optimizer.options;
}

void learner_begin(struct learner *l)
{
	model_zero_grads(l->model);
}

void learner_sum_next(struct learner *l, const struct reducer *reducer, bool after)
{
	grad_sum_start(&l->sum, reducer, l->model, after);
}

int learner_accumulate(struct learner *l, const struct batch *b, const struct loss_weights *w,
                       double scale, struct losses *ret, struct err *err)
{
	struct logits logits;

	model_set_training(l->model, true);
	model_forward(l->model, b, &logits);
	model_backward(l->model, w, scale);
	model_loss(l->model, w, ret); /* last, since it waits */
	return ops_sync(l->ops, err);
}

int learner_finish_sums(struct learner *l, struct err *err)
{
	return grad_sum_finish(&l->sum, err);
}

int learner_norm(struct learner *l, double *ret, struct err *err)
{
	double norm = grads_norm(model_grads(l->model), l->ops);

	if (ops_sync(l->ops, err) != 0)
		return -1;
	*ret = norm;
	return 0;
}

int learner_apply(struct learner *l, double lr, double scale, struct err *err)
{
	optimizer_step(&l->optimizer, model_params(l->model), model_grads(l->model), lr, scale,
	               l->ops);
	return ops_failed(l->ops) ? ops_sync(l->ops, err) : 0;
}

void learner_keep(struct learner *l, double norm_mean)
{
	last_good_take(&l->good, model_params(l->model), &l->optimizer, norm_mean);
}

bool learner_go_back(struct learner *l, double *ret_norm_mean)
{
	if (!l->good.taken)
		return false;
	last_good_restore(&l->good, model_params(l->model), &l->optimizer, ret_norm_mean);
	return true;
}

/* ---- use ---- */

static int see(struct learner *l, const struct batch *b, const struct logits *there,
               struct logits *ret, struct err *err)
{
	const struct model_config *c = learner_config(l);
	size_t image = b->n * b->n_out_image * 3, label = b->n * c->num_labels;
	size_t audio = b->n * b->n_out_audio * c->samples_per_patch;
	struct logits here = {
		.image = ops_fetch(l->ops, &l->seen[0], there->image, image * sizeof(float),
	                           "logits"),
		.audio = ops_fetch(l->ops, &l->seen[1], there->audio, audio * sizeof(float),
	                           "logits"),
		.label = ops_fetch(l->ops, &l->seen[2], there->label, label * sizeof(float),
	                           "logits"),
	};

	if (ops_sync(l->ops, err) != 0)
		return -1;
	*ret = here;
	return 0;
}

int learner_forward(struct learner *l, const struct batch *b, struct logits *ret, struct err *err)
{
	struct logits there;

	model_set_training(l->model, false);
	model_forward(l->model, b, &there);
	return see(l, b, &there, ret, err);
}

int learner_decode(struct learner *l, const struct batch *points, struct logits *ret,
                   struct err *err)
{
	struct logits there;

	model_decode(l->model, points, &there);
	return see(l, points, &there, ret, err);
}

int learner_measure(struct learner *l, const struct batch *b, const struct loss_weights *w,
                    struct losses *ret, struct err *err)
{
	struct logits logits;

	model_set_training(l->model, false);
	model_forward(l->model, b, &logits);
	model_loss(l->model, w, ret);
	return ops_sync(l->ops, err);
}

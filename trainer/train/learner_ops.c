#include "base/mem.h"
#include "trainer/train/average.h"
#include "trainer/train/learner_internal.h"

static void done(struct learner *base)
{
	struct ops_learner *l = ops_learner_of(base);

	for (size_t i = 0; i < ARRAY_LEN(l->seen); i++)
		buffer_free(l->ops, &l->seen[i]);
	ops_learner_forget_recordings(l);
	feed_done(l->ops, &l->feed);
	grad_sum_done(&l->sum);
	last_good_done(&l->good);
	if (l->prepared)
		optimizer_done(&l->optimizer);
	model_free(l->model);
	free(l);
}

static void init(struct learner *base, uint64_t seed)
{
	struct ops_learner *l = ops_learner_of(base);

	model_init(l->model, seed);
}

/* ---- sets of tensors ---- */

/* NULL where the learner has no such set. */
static struct tensors *set_of(struct ops_learner *l, enum learner_set which)
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

static bool has(struct learner *base, enum learner_set which)
{
	struct ops_learner *l = ops_learner_of(base);

	return set_of(l, which) != NULL;
}

static int get(struct learner *base, enum learner_set which, struct tensors *ret, struct err *err)
{
	struct ops_learner *l = ops_learner_of(base);

	tensors_copy(ret, set_of(l, which));
	return ops_sync(l->ops, err);
}

static int set(struct learner *base, enum learner_set which, const struct tensors *values,
               struct err *err)
{
	struct ops_learner *l = ops_learner_of(base);

	tensors_copy(set_of(l, which), values);
	return ops_sync(l->ops, err);
}

static struct learner_counts get_counts(const struct learner *base)
{
	const struct ops_learner *l = (const struct ops_learner *)base;

	return (struct learner_counts){l->optimizer.steps, l->optimizer.averaged};
}

static void set_counts(struct learner *base, struct learner_counts to)
{
	struct ops_learner *l = ops_learner_of(base);

	l->optimizer.steps = to.updates;
	l->optimizer.averaged = to.averaged;
}

static int is_finite(struct learner *base, bool *ret, struct err *err)
{
	struct ops_learner *l = ops_learner_of(base);
	bool finite = tensors_are_finite(model_params(l->model), l->ops);

	if (ops_sync(l->ops, err) != 0)
		return -1;
	*ret = finite;
	return 0;
}

static bool exchange_average(struct learner *base)
{
	struct ops_learner *l = ops_learner_of(base);

	if (l->optimizer.averaged == 0)
		return false;
	average_exchange(model_params(l->model), &l->optimizer.average, l->ops);
	return true;
}

/* ---- the last good state ---- */

static void keep(struct learner *base, double norm_mean)
{
	struct ops_learner *l = ops_learner_of(base);

	last_good_take(&l->good, model_params(l->model), &l->optimizer, norm_mean);
}

static bool go_back(struct learner *base, double *ret_norm_mean)
{
	struct ops_learner *l = ops_learner_of(base);

	if (!l->good.taken)
		return false;
	last_good_restore(&l->good, model_params(l->model), &l->optimizer, ret_norm_mean);
	return true;
}

/* ---- use ---- */

static int see(struct ops_learner *l, const struct batch *b, const struct logits *there,
               struct logits *ret, struct err *err)
{
	const struct model_config *c = l->base.config;
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

static int forward(struct learner *base, const struct batch *b, struct logits *ret, struct err *err)
{
	struct ops_learner *l = ops_learner_of(base);
	struct logits there;

	model_set_training(l->model, false);
	model_forward(l->model, b, &there);
	return see(l, b, &there, ret, err);
}

static int decode(struct learner *base, const struct batch *points, struct logits *ret,
                  struct err *err)
{
	struct ops_learner *l = ops_learner_of(base);
	struct logits there;

	model_decode(l->model, points, &there);
	return see(l, points, &there, ret, err);
}

static int measure(struct learner *base, const struct batch *b, const struct loss_weights *w,
                   struct losses *ret, struct err *err)
{
	struct ops_learner *l = ops_learner_of(base);
	struct logits logits;

	model_set_training(l->model, false);
	model_forward(l->model, b, &logits);
	model_loss(l->model, w, ret);
	return ops_sync(l->ops, err);
}

static enum op_precision precision(const struct learner *base)
{
	return ops_rounds(((const struct ops_learner *)base)->ops);
}

static void products(const struct learner *base, struct strbuf *sb)
{
	ops_products(((const struct ops_learner *)base)->ops, sb);
}

static void describe(const struct learner *base, struct strbuf *sb)
{
	ops_describe(((const struct ops_learner *)base)->ops, sb);
}

static const struct learner_backend backend = {
	.done = done,
	.precision = precision,
	.products = products,
	.describe = describe,
	.init = init,
	.has = has,
	.get = get,
	.set = set,
	.counts = get_counts,
	.set_counts = set_counts,
	.is_finite = is_finite,
	.exchange_average = exchange_average,
	.prepare = ops_learner_prepare,
	.begin = ops_learner_begin,
	.sum_next = ops_learner_sum_next,
	.stage = ops_learner_stage,
	.plan = ops_learner_plan,
	.start = ops_learner_start,
	.finish = ops_learner_finish,
	.finish_sums = ops_learner_finish_sums,
	.conclude = ops_learner_conclude,
	.norm = ops_learner_norm,
	.apply = ops_learner_apply,
	.keep = keep,
	.go_back = go_back,
	.forward = forward,
	.decode = decode,
	.measure = measure,
};

struct learner *learner_new(const struct model_config *config, struct ops *ops,
                            struct recompute recompute)
{
	struct ops_learner *l = mem_zalloc(sizeof(*l));

	l->ops = ops;
	l->model = model_new(config, ops);
	model_set_recompute(l->model, recompute);
	l->base = (struct learner){.backend = &backend,
	                           .config = model_get_config(l->model),
	                           .dims = model_get_dims(l->model),
	                           .table = model_params(l->model),
	                           .copies = !ops->device->shared};
	return &l->base;
}

struct model *learner_model(struct learner *l)
{
	if (l->backend != &backend)
		BUG("a learner of modules has no graph to look at");
	return ops_learner_of(l)->model;
}

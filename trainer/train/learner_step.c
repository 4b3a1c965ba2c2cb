/* How a learner of ops trains: what a step asks of its device, and what of that is recorded. */
#include <math.h>

#include "base/mem.h"
#include "trainer/model/input.h"
#include "trainer/ops/recording.h"
#include "trainer/train/learner_internal.h"

/* Of ops_figures, beyond the losses' own. */
enum { AT_GOES = OPS_FIGURES - 3, AT_NORM, AT_SQUARES };
_Static_assert((int)MODEL_FIGURES <= (int)AT_GOES, "there is room for fewer figures");

void ops_learner_prepare(struct learner *base, const struct optimizer_options *options)
{
	struct ops_learner *l = ops_learner_of(base);

	optimizer_init(&l->optimizer, options, model_params(l->model), l->ops);
	l->prepared = true;
	(void)model_grads(l->model);
}

void ops_learner_begin(struct learner *base)
{
	struct ops_learner *l = ops_learner_of(base);

	model_zero_grads(l->model);
}

void ops_learner_sum_next(struct learner *base, const struct reducer *reducer, bool after)
{
	struct ops_learner *l = ops_learner_of(base);

	l->summing = true;
	grad_sum_start(&l->sum, reducer, l->model, after);
}

void ops_learner_stage(struct learner *base, const struct batch *b)
{
	struct ops_learner *l = ops_learner_of(base);
	void *room;

	l->staged[l->n_staged++ % FEED_LANES] = *b;
	if (!l->base.copies)
		return;
	room = feed_room(l->ops, &l->feed, model_input_bytes(l->model, b));
	if (room != NULL)
		model_input_pack(l->model, b, room);
	feed_send(l->ops, &l->feed);
}

/* The oldest batch that was handed over becomes the model's. */
static void take_staged(struct ops_learner *l)
{
	const struct batch *b = &l->staged[l->n_started++ % FEED_LANES];

	if (l->base.copies) {
		feed_take(l->ops, &l->feed, model_input_room(l->model, b), 0,
		          model_input_bytes(l->model, b));
		feed_taken(&l->feed);
	}
	model_input_set(l->model, b);
}

/* ---- what is asked for ---- */

static void sum_squares(struct ops_learner *l)
{
	const struct tensors *g = model_grads(l->model);
	struct op_sum_squares p = {g->n_values, g->data, ops_figures(l->ops) + AT_SQUARES};

	l->ops->table->sum_squares(l->ops, &p);
}

/* Is the step fit for an update, and of what scale? */
static void judge(struct ops_learner *l)
{
	double *figures = ops_figures(l->ops);
	struct op_vote vote = {MODEL_FIGURES, figures, optimizer_terms(&l->optimizer)};
	struct op_judge p = {figures + AT_SQUARES, vote.terms, figures + AT_NORM,
	                     figures + AT_GOES};

	sum_squares(l);
	l->ops->table->vote(l->ops, &vote);
	l->ops->table->judge(l->ops, &p);
}

static void update(struct ops_learner *l)
{
	optimizer_update(&l->optimizer, model_params(l->model), model_grads(l->model), l->ops);
}

static void micro_step(struct ops_learner *l)
{
	struct logits logits;

	model_compute(l->model, &logits);
	model_backward(l->model, &l->weights, l->scale);
	model_sum_losses(l->model);
}

static void ask(struct ops_learner *l, enum learner_part part)
{
	if (part != PART_UPDATE)
		micro_step(l);
	if (part == PART_MICRO)
		return;
	judge(l);
	update(l);
}

/* ---- recordings ---- */

void ops_learner_forget_recordings(struct ops_learner *l)
{
	for (size_t i = 0; i < PARTS; i++)
		ops_forget(l->ops, l->recorded.parts[i]);
	l->recorded = (struct recorded){0};
}

static bool is_alike(const struct ops_learner *l)
{
	const struct recorded *k = &l->recorded;

	return k->warm && k->scale == l->scale && k->weights.image == l->weights.image &&
	       k->weights.audio == l->weights.audio && k->weights.label == l->weights.label &&
	       model_input_alike(l->model, &k->batch);
}

/* Computes it as it is asked for, which takes the memory that one alike needs. */
static void ask_first(struct ops_learner *l, enum learner_part part)
{
	ops_learner_forget_recordings(l);
	ask(l, part);
	l->recorded = (struct recorded){.warm = true,
	                                .batch = *model_input(l->model),
	                                .weights = l->weights,
	                                .scale = l->scale};
}

static void ask_again(struct ops_learner *l, enum learner_part part)
{
	void **recording = &l->recorded.parts[part];

	if (*recording == NULL && ops_record(l->ops)) {
		ask(l, part);
		*recording = ops_record_end(l->ops);
	}
	if (*recording == NULL || !ops_replay(l->ops, *recording))
		ask_first(l, part);
}

/* The graph's hooks, by which the ranks' sums begin, are the host's: nothing records them. */
static void ask_micro_step(struct ops_learner *l, enum learner_part part)
{
	if (!l->base.copies)
		ask(l, part);
	else if ((l->summing && grad_sum_listens(&l->sum)) || !is_alike(l))
		ask_first(l, part);
	else
		ask_again(l, part);
}

/* ---- a step ---- */

/* What a step keeps is copied when its verdict is known, and before its update. */
static bool is_whole(const struct ops_learner *l)
{
	return l->planned && l->base.copies && !l->summing && !l->plan.keep;
}

void ops_learner_plan(struct learner *base, const struct learner_update *u)
{
	struct ops_learner *l = ops_learner_of(base);

	l->planned = true;
	l->plan = *u;
}

static void send_terms(struct ops_learner *l, const struct learner_update *u)
{
	struct op_terms terms = {.unscale = u->unscale,
	                         .max_norm = u->max_norm,
	                         .limit = u->limit,
	                         .barred = u->barred};

	optimizer_send(&l->optimizer, u->lr, &terms, l->ops);
}

void ops_learner_start(struct learner *base, const struct loss_weights *w, double scale)
{
	struct ops_learner *l = ops_learner_of(base);

	take_staged(l);
	(void)model_grads(l->model);
	(void)ops_figures(l->ops);
	model_set_training(l->model, true);
	l->weights = *w;
	l->scale = scale;
	l->concluded = is_whole(l);
	l->planned = false;
	if (l->concluded)
		send_terms(l, &l->plan);
	ask_micro_step(l, l->concluded ? PART_WHOLE : PART_MICRO);
}

int ops_learner_finish(struct learner *base, const struct loss_weights *w, struct losses *ret,
                       struct err *err)
{
	struct ops_learner *l = ops_learner_of(base);

	ops_read_figures(l->ops, l->figures, OPS_FIGURES);
	*ret = model_losses(l->model, w, l->figures);
	return ops_sync(l->ops, err);
}

int ops_learner_finish_sums(struct learner *base, struct err *err)
{
	struct ops_learner *l = ops_learner_of(base);

	l->summing = false;
	return grad_sum_finish(&l->sum, err);
}

/* The device is asked twice where something is to be kept: it is the old weights that are. */
static void keep_and_update(struct ops_learner *l, double norm_mean)
{
	judge(l);
	ops_read_figures(l->ops, l->figures, OPS_FIGURES);
	if (!(l->figures[AT_GOES] > 0))
		return;
	last_good_take(&l->good, model_params(l->model), &l->optimizer, norm_mean);
	update(l);
	l->updates_are_warm = true;
}

static void judge_and_update(struct ops_learner *l, const struct learner_update *u)
{
	send_terms(l, u);
	if (u->keep) {
		keep_and_update(l, u->norm_mean);
		return;
	}
	if (l->base.copies && l->updates_are_warm && l->recorded.warm)
		ask_again(l, PART_UPDATE);
	else
		ask(l, PART_UPDATE);
	ops_read_figures(l->ops, l->figures, OPS_FIGURES);
}

int ops_learner_conclude(struct learner *base, const struct learner_update *u,
                         struct learner_verdict *ret, struct err *err)
{
	struct ops_learner *l = ops_learner_of(base);

	if (!l->concluded)
		judge_and_update(l, u);
	if (ops_failed(l->ops))
		return ops_sync(l->ops, err);
	*ret = (struct learner_verdict){l->figures[AT_NORM], l->figures[AT_GOES] > 0};
	if (ret->updated)
		optimizer_count(&l->optimizer);
	return 0;
}

int ops_learner_norm(struct learner *base, double *ret, struct err *err)
{
	struct ops_learner *l = ops_learner_of(base);
	double norm = grads_norm(model_grads(l->model), l->ops);

	if (ops_sync(l->ops, err) != 0)
		return -1;
	*ret = norm;
	return 0;
}

int ops_learner_apply(struct learner *base, double lr, double scale, struct err *err)
{
	struct ops_learner *l = ops_learner_of(base);

	optimizer_step(&l->optimizer, model_params(l->model), model_grads(l->model), lr, scale,
	               l->ops);
	return ops_failed(l->ops) ? ops_sync(l->ops, err) : 0;
}

void learner_rehearse(struct learner *base, const struct batch *b)
{
	struct ops_learner *l = ops_learner_of(base);

	for (size_t i = 0; i < FEED_LANES; i++)
		buffer_reserve(l->ops, &l->feed.there[i], model_input_bytes(l->model, b),
		               "clips on their way");
	model_input_set(l->model, b);
	(void)model_grads(l->model);
	model_set_training(l->model, true);
	l->weights = (struct loss_weights){1, 1, 1};
	l->scale = 1;
	ask(l, PART_WHOLE);
	last_good_take(&l->good, model_params(l->model), &l->optimizer, 0);
}

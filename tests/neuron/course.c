#include "tests/neuron/course.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/neuron/course_run.h"
#include "tests/unit/random_model.h"
#include "trainer/neuron/feed.h"
#include "trainer/train/average.h"
#include "trainer/train/learner.h"

#define RATE         1e-2
#define HALF         0.5 /* what the gradients of a step of two micro-steps are scaled by */
#define UPDATES      3   /* the optimizer has made, and the average has seen */
#define OPTIMIZERS_N 2

static const struct loss_weights weights = {0.5, 1, 0.3};

/* What a course is drawn as, and the CPU that computes beside it. */
struct beside {
	struct neuron_run run;
	struct clip_memory clips;
	struct batch second;  /* other clips, of the same shape */
	float *image, *audio; /* of them */
	struct recompute recompute;
	struct ops ops;
	struct learner *learner; /* NULL: the CPU computes nothing */
};

static struct neuron_shape shape_of(const struct batch *b, bool training, bool rounds)
{
	return (struct neuron_shape){.batch = b->n,
	                             .n_out_image = b->n_out_image,
	                             .n_out_audio = b->n_out_audio,
	                             .decode_label = b->decode_label,
	                             .masked = b->mask_audio != NULL || b->mask_image != NULL ||
	                                       b->mask_label != NULL,
	                             .training = training,
	                             .rounds = rounds,
	                             .replicas = 1};
}

/* ---- drawing ---------------------------------------------------------------------------------- */

static struct optimizer_options random_optimizer(struct philox *r)
{
	static const struct optimizer_options kinds[OPTIMIZERS_N] = {
		{.kind = OPTIMIZER_SGD, .momentum = 0.9, .weight_decay = 0.01},
		{.kind = OPTIMIZER_ADAMW,
	         .beta1 = 0.9,
	         .beta2 = 0.999,
	         .eps = 1e-8,
	         .weight_decay = 0.1},
	};
	struct optimizer_options o = kinds[pick(r, 0, OPTIMIZERS_N - 1)];

	o.ema_decay = pick(r, 0, 2) > 0 ? 0.8 : 0;
	return o;
}

static void draw(struct beside *b, uint64_t number, bool rounds)
{
	struct philox r = philox_start(2027, STREAM_SYNTHETIC, number);
	struct model_dims d;

	b->run.config = random_config(&r);
	d = model_dims(&b->run.config);
	b->clips = random_clips(&r, &b->run.config);
	b->run.step = shape_of(&b->clips.b, true, rounds);
	b->run.measure = shape_of(&b->clips.b, false, rounds);
	b->run.optimizer = random_optimizer(&r);
	b->recompute.selective = pick(&r, 0, 1) > 0;
	b->recompute.every = b->recompute.selective ? pick(&r, 0, 2) : 0;
	b->second = b->clips.b;
	b->second.image = b->image = random_floats(&r, b->second.n * 3 * d.n_pixels, 2, 3);
	b->second.audio = b->audio = random_floats(&r, b->second.n * d.audio_samples, 2, 3);
	b->second.dropout_seed++;
}

static void describe(const struct beside *b, uint64_t number, char ret[160])
{
	char again[RECOMPUTE_TEXT_MAX];
	const struct optimizer_options *o = &b->run.optimizer;

	snprintf(ret, 160, "course %llu (%s%s, dropout %g, %s, %s, recompute %s)",
	         (unsigned long long)number, o->kind == OPTIMIZER_SGD ? "SGD" : "AdamW",
	         o->ema_decay > 0 ? " and an average" : "",
	         b->run.config.attention_probs_dropout_prob,
	         b->run.step.masked ? "masks" : "no masks", b->run.step.rounds ? "bf16" : "f32",
	         recompute_text(b->recompute, again));
}

/* Of any sign, or not. */
static void random_set(struct tensors *set, uint64_t seed, double size, bool positive)
{
	struct philox r = philox_start(seed, STREAM_INIT, 1);

	for (size_t i = 0; i < set->n; i++)
		for (size_t k = 0; k < set->at[i].n; k++) {
			double value = size * philox_normal(&r);

			set->at[i].data[k] = (float)(positive ? fabs(value) : value);
		}
}

/* ---- the CPU's learner ------------------------------------------------------------------------ */

static struct learner *open_learner(struct beside *b)
{
	struct learner *l;

	if (!ops_open(&(struct ops_options){.n_threads = 2}, &b->ops))
		BUG("no ops");
	l = learner_new(&b->run.config, &b->ops, b->recompute);
	random_params(learner_model(l), 5);
	learner_prepare(l, &b->run.optimizer);
	learner_begin(l);
	return l;
}

static void must(int rc, const struct err *err)
{
	if (rc != 0)
		BUG("%s", err->msg);
}

static float *copy_of(const float *from, size_t n)
{
	float *to = mem_calloc(n, sizeof(*to));

	memcpy(to, from, n * sizeof(*to));
	return to;
}

static void expect(struct execution *e, enum neuron_kind kind, size_t index, const float *values)
{
	for (size_t i = 0; i < e->net.results.n; i++)
		if (e->net.results.at[i].kind == kind && e->net.results.at[i].index == index)
			e->expected[i] = copy_of(values, execution_values(e, i));
}

static void expect_losses(struct execution *e, const struct losses *l)
{
	const float of[NEURON_LOSSES_N] = {[NEURON_LOSS_IMAGE] = (float)l->image,
	                                   [NEURON_LOSS_AUDIO] = (float)l->audio,
	                                   [NEURON_LOSS_LABEL] = (float)l->label,
	                                   [NEURON_MSE_IMAGE] = (float)l->mse_image,
	                                   [NEURON_MSE_AUDIO] = (float)l->mse_audio,
	                                   [NEURON_POWER_AUDIO] = (float)l->power_audio};

	expect(e, NEURON_LOSSES, 0, of);
}

static void expect_set(struct execution *e, struct learner *l, enum learner_set which,
                       enum neuron_kind kind)
{
	struct tensors set;
	struct err err = {0};

	if (!learner_has(l, which))
		return;
	tensors_like(learner_table(l), NULL, NULL, &set);
	must(learner_get(l, which, &set, &err), &err);
	for (size_t i = 0; i < set.n; i++)
		expect(e, kind, i, set.at[i].data);
	tensors_done(&set);
}

/* The learner takes what an execution is given, or what it gave. */
static void set_from(struct learner *l, enum learner_set which, const struct execution *e,
                     bool given, enum neuron_kind kind)
{
	const struct neuron_value *at = given ? e->net.inputs.at : e->net.results.at;
	size_t n = given ? e->net.inputs.n : e->net.results.n;
	void *const *values = given ? e->inputs[0] : e->results[0];
	struct tensors set;
	struct err err = {0};

	tensors_like(learner_table(l), NULL, NULL, &set);
	for (size_t i = 0; i < n; i++)
		if (at[i].kind == kind)
			memcpy(set.at[at[i].index].data, values[i],
			       set.at[at[i].index].n * sizeof(float));
	must(learner_set(l, which, &set, &err), &err);
	tensors_done(&set);
}

static void expect_step(struct execution *e, struct learner *l, const struct batch *b, double scale)
{
	struct losses losses;
	struct err err = {0};
	double norm;
	float squares;

	must(learner_accumulate(l, b, &weights, scale, &losses, &err), &err);
	must(learner_norm(l, &norm, &err), &err);
	squares = (float)(norm * norm);
	expect_losses(e, &losses);
	expect_set(e, l, LEARNER_GRADIENTS, NEURON_GRADIENT);
	expect(e, NEURON_SQUARES, 0, &squares);
}

static void expect_update(struct execution *e, struct learner *l)
{
	struct err err = {0};
	bool adamw = learner_optimizer(l)->kind == OPTIMIZER_ADAMW;

	set_from(l, LEARNER_GRADIENTS, e, true, NEURON_GRADIENT);
	set_from(l, LEARNER_MOMENT1, e, true, NEURON_MOMENT1);
	if (adamw)
		set_from(l, LEARNER_MOMENT2, e, true, NEURON_MOMENT2);
	if (learner_optimizer(l)->ema_decay > 0)
		set_from(l, LEARNER_AVERAGE, e, true, NEURON_AVERAGE);
	learner_set_counts(l, (struct learner_counts){UPDATES, UPDATES});
	must(learner_apply(l, RATE, HALF, &err), &err);
	expect_set(e, l, LEARNER_WEIGHTS, NEURON_WEIGHT);
	expect_set(e, l, LEARNER_MOMENT1, NEURON_MOMENT1);
	if (adamw)
		expect_set(e, l, LEARNER_MOMENT2, NEURON_MOMENT2);
	if (learner_optimizer(l)->ema_decay > 0)
		expect_set(e, l, LEARNER_AVERAGE, NEURON_AVERAGE);
}

static void expect_measure(struct execution *e, struct learner *l, const struct batch *b)
{
	struct losses losses;
	struct logits logits;
	struct err err = {0};

	set_from(l, LEARNER_WEIGHTS, e, true, NEURON_WEIGHT);
	must(learner_measure(l, b, &weights, &losses, &err), &err);
	expect_losses(e, &losses);
	must(learner_forward(l, b, &logits, &err), &err);
	expect(e, NEURON_LOGITS, IMAGE, logits.image);
	expect(e, NEURON_LOGITS, AUDIO, logits.audio);
	if (b->decode_label)
		expect(e, NEURON_LOGITS, LABEL, logits.label);
}

/* ---- the modules' inputs ---------------------------------------------------------------------- */

/* Input i of a replica is that tensor's values. */
static void give_set(struct execution *e, unsigned replica, enum neuron_kind kind,
                     const struct tensors *set)
{
	for (size_t i = 0; i < e->net.inputs.n; i++) {
		const struct neuron_value *v = &e->net.inputs.at[i];

		if (v->kind == kind)
			memcpy(e->inputs[replica][i], set->at[v->index].data,
			       set->at[v->index].n * sizeof(float));
	}
}

/* Of one kind, from the results of an earlier execution. */
static void give_results(struct execution *e, enum neuron_kind kind, const struct execution *from)
{
	for (size_t i = 0; i < e->net.inputs.n; i++) {
		const struct neuron_value *v = &e->net.inputs.at[i];

		for (size_t k = 0; v->kind == kind && k < from->net.results.n; k++)
			if (from->net.results.at[k].kind == kind &&
			    from->net.results.at[k].index == v->index)
				memcpy(e->inputs[0][i], from->results[0][k],
				       execution_values(from, k) * sizeof(float));
	}
}

static void give_batch(struct execution *e, unsigned replica, const struct batch *b, double scale)
{
	for (size_t i = 0; i < e->net.inputs.n; i++)
		neuron_feed(&e->net, &e->net.inputs.at[i], b, &weights, scale,
		            e->inputs[replica][i]);
}

static void give_random(struct execution *e, enum neuron_kind kind, const struct tensors *table,
                        double size, bool positive)
{
	struct tensors set;

	tensors_like(table, NULL, NULL, &set);
	random_set(&set, (uint64_t)kind + 9, size, positive);
	give_set(e, 0, kind, &set);
	tensors_done(&set);
}

static void give_rates(struct execution *e, const struct optimizer_options *o)
{
	double t = UPDATES + 1, keep = average_decay(o->ema_decay, UPDATES);
	const float rates[NEURON_RATES_N] = {
		[NEURON_RATE_LR] = (float)RATE,
		[NEURON_RATE_SCALE] = (float)HALF,
		[NEURON_RATE_CORRECT1] = (float)(1 / (1 - pow(o->beta1, t))),
		[NEURON_RATE_CORRECT2] = (float)(1 / (1 - pow(o->beta2, t))),
		[NEURON_RATE_KEEP] = (float)keep,
		[NEURON_RATE_SHARE] = (float)(1 - keep),
	};

	for (size_t i = 0; i < e->net.inputs.n; i++)
		if (e->net.inputs.at[i].kind == NEURON_RATES)
			memcpy(e->inputs[0][i], rates, sizeof(rates));
}

/* ---- the executions --------------------------------------------------------------------------- */

static struct execution *next(struct course *c, const struct beside *b, enum neuron_module which)
{
	struct execution *e = &c->of[c->n++];

	e->name = neuron_module_name(which);
	e->replicas = 1;
	neuron_module_build(&b->run, which, &e->net);
	execution_open(e);
	return e;
}

static bool micro_step(struct course *c, struct beside *b, struct learner *l,
                       const struct batch *batch)
{
	struct execution *e = next(c, b, NEURON_STEP);

	give_set(e, 0, NEURON_WEIGHT, model_params(learner_model(l)));
	if (c->n > 1)
		give_results(e, NEURON_GRADIENT, &c->of[c->n - 2]);
	give_batch(e, 0, batch, HALF);
	if (!b->run.step.rounds)
		expect_step(e, l, batch, HALF);
	return execution_run(e);
}

static bool update(struct course *c, struct beside *b, struct learner *l)
{
	const struct execution *before = &c->of[c->n - 1];
	struct execution *e = next(c, b, NEURON_UPDATE);

	give_set(e, 0, NEURON_WEIGHT, model_params(learner_model(l)));
	give_results(e, NEURON_GRADIENT, before);
	give_random(e, NEURON_MOMENT1, learner_table(l), 1e-2, false);
	give_random(e, NEURON_MOMENT2, learner_table(l), 1e-3, true);
	give_random(e, NEURON_AVERAGE, learner_table(l), 1e-1, false);
	give_rates(e, &b->run.optimizer);
	expect_update(e, l);
	return execution_run(e);
}

static bool measure(struct course *c, struct beside *b, struct learner *l)
{
	const struct execution *before = &c->of[c->n - 1];
	struct execution *e = next(c, b, NEURON_MEASURE);

	give_results(e, NEURON_WEIGHT, before);
	give_batch(e, 0, &b->clips.b, 1);
	if (!b->run.step.rounds)
		expect_measure(e, l, &b->clips.b);
	return execution_run(e);
}

static void beside_done(struct beside *b)
{
	learner_free(b->learner);
	ops_done(&b->ops);
	free_clips(&b->clips);
	free(b->image);
	free(b->audio);
}

bool course_run(uint64_t number, bool rounds, struct course *ret)
{
	struct beside b = {0};
	bool ok;

	*ret = (struct course){0};
	draw(&b, number, rounds);
	describe(&b, number, ret->what);
	b.learner = open_learner(&b);
	ok = micro_step(ret, &b, b.learner, &b.clips.b) &&
	     micro_step(ret, &b, b.learner, &b.second) && update(ret, &b, b.learner) &&
	     measure(ret, &b, b.learner);
	beside_done(&b);
	return ok;
}

/* ---- replicas --------------------------------------------------------------------------------- */

static struct batch clip_of(const struct batch *b, const struct model_config *c, size_t i,
                            const uint64_t *sample)
{
	struct model_dims d = model_dims(c);
	struct batch one = *b;

	one.n = 1;
	one.image += i * 3 * d.n_pixels;
	one.audio += i * d.audio_samples;
	one.label += i;
	one.mask_audio += one.mask_audio != NULL ? i * d.n_audio : 0;
	one.mask_image += one.mask_image != NULL ? i * d.n_image : 0;
	one.mask_label += one.mask_label != NULL ? i : 0;
	one.dropout_sample = sample;
	return one;
}

bool course_of_replicas(uint64_t number, unsigned replicas, struct course *ret)
{
	struct philox r = philox_start(4, STREAM_SYNTHETIC, number);
	struct beside b = {.run.config = random_config(&r)};
	struct execution *e;
	bool ok;

	*ret = (struct course){0};
	b.clips = random_clips_of(&r, &b.run.config, replicas);
	b.run.step = shape_of(&b.clips.b, true, false);
	b.run.step.batch = 1;
	b.run.step.replicas = replicas;
	describe(&b, number, ret->what);
	b.learner = open_learner(&b);
	e = next(ret, &b, NEURON_STEP);
	e->replicas = replicas;
	execution_more_replicas(e);
	for (unsigned i = 0; i < replicas; i++) {
		uint64_t sample = i;
		struct batch one = clip_of(&b.clips.b, &b.run.config, i, &sample);

		give_set(e, i, NEURON_WEIGHT, model_params(learner_model(b.learner)));
		give_batch(e, i, &one, 1.0 / replicas);
	}
	expect_step(e, b.learner, &b.clips.b, 1);
	ok = execution_run(e);
	beside_done(&b);
	return ok;
}

void course_done(struct course *c)
{
	for (size_t i = 0; i < c->n; i++)
		execution_done(&c->of[i]);
}

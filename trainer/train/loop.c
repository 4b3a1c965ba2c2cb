#include "trainer/train/loop.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "trainer/train/loop_internal.h"
#include "trainer/train/optimizer.h"
#include "trainer/train/schedule.h"

enum { BACKOFFS_MAX = 1000 };

static double scale_of(const struct train_run *r)
{
	return loss_scale_of(&r->state->scale, learner_precision(r->t->learner));
}

static void add_losses(struct train_run *r, const struct losses *l)
{
	double share = 1.0 / ((double)r->t->options->accumulate * r->n_ranks);

	r->sums[SUM_TOTAL] += share * l->total;
	r->sums[SUM_IMAGE] += share * l->image;
	r->sums[SUM_AUDIO] += share * l->audio;
	r->sums[SUM_LABEL] += share * l->label;
	r->sums[SUM_MSE_IMAGE] += share * l->mse_image;
	r->sums[SUM_MSE_AUDIO] += share * l->mse_audio;
	r->sums[SUM_HITS] += (double)l->label_hits;
}

static double rate_of(const struct train_run *r)
{
	const struct train_options *o = r->t->options;
	uint64_t halved = r->state->backoffs < BACKOFFS_MAX ? r->state->backoffs : BACKOFFS_MAX;

	return ldexp(schedule_lr(&o->schedule, o->optimizer.lr, r->state->step), -(int)halved);
}

/* Of this step, as far as its losses are known. */
static struct learner_update plan_of(const struct train_run *r)
{
	return (struct learner_update){
		.lr = rate_of(r),
		.unscale = 1.0 / r->n_ranks / scale_of(r),
		.max_norm = r->t->options->optimizer.max_grad_norm,
		.limit = loop_norm_limit(r),
		.barred = !isfinite(r->sums[SUM_TOTAL]),
		.keep = !r->kept || r->state->step % LAST_GOOD_EVERY == 0,
		.norm_mean = r->state->norm_mean,
	};
}

static int micro_step(struct train_run *r, size_t micro, struct err *err)
{
	const struct train_options *o = r->t->options;
	struct learner *l = r->t->learner;
	struct losses losses;
	bool last = micro + 1 == o->accumulate;
	struct learner_update plan = plan_of(r);

	if (loop_next_batch(r, micro, err) != 0)
		return -1;
	if (last && r->n_ranks > 1)
		learner_sum_next(l, r->t->reducer, o->reduce_last);
	if (last)
		learner_plan(l, &plan);
	learner_start(l, &o->weights, scale_of(r) / (double)o->accumulate);
	loop_read_ahead(r, micro);
	if (learner_finish(l, &o->weights, &losses, err) != 0)
		return -1;
	add_losses(r, &losses);
	return 0;
}

/* After this every rank has the same gradient sums and the same figures. */
static int reduce(struct train_run *r, struct err *err)
{
	const struct reducer *q = r->t->reducer;
	double begin = clock_seconds();
	int rc;

	if (r->n_ranks == 1)
		return 0;
	rc = learner_finish_sums(r->t->learner, err);
	if (rc == 0)
		rc = q->sum_f64(q->ctx, r->sums, SUMS, err);
	r->reduce_seconds += clock_seconds() - begin;
	return rc;
}

static bool is_damage(const struct err *err)
{
	return err->code == ERR_FORMAT || err->code == ERR_DIGEST;
}

/* Forward and backward of all micro-steps, summed over the ranks. */
static int all_gradients(struct train_run *r, struct err *err)
{
	const struct train *t = r->t;

	memset(r->sums, 0, sizeof(r->sums));
	r->wait_seconds = r->reduce_seconds = 0;
	r->no_clips = false;
	learner_begin(t->learner);
	for (size_t micro = 0; micro < t->options->accumulate; micro++)
		if (micro_step(r, micro, err) != 0)
			return -1;
	r->sums[SUM_STOP] = t->hooks->stop != NULL && t->hooks->stop(t->hooks->ctx) ? 1 : 0;
	r->sums[SUM_NO_CLIPS] = r->no_clips ? 1 : 0;
	r->sums[SUM_DAMAGED] = r->no_clips && is_damage(&r->clips_err) ? 1 : 0;
	if (reduce(r, err) != 0)
		return err_wrap(err, "reduce the gradient of step %llu",
		                (unsigned long long)r->state->step + 1);
	if (r->sums[SUM_NO_CLIPS] == 0)
		return 0;
	if (!r->no_clips)
		err_set(&r->clips_err, r->sums[SUM_DAMAGED] > 0 ? ERR_FORMAT : ERR_NETWORK,
		        "another rank could not read its clips: its log names them");
	r->no_clips = true;
	*err = r->clips_err;
	return -1;
}

/* Steps of f16 are done again, at a lower scale, where the loss is finite and its gradient not. */
static int learn(struct train_run *r, struct learner_verdict *ret, struct err *err)
{
	enum op_precision precision = learner_precision(r->t->learner);
	struct learner_update plan;

	do {
		if (all_gradients(r, err) != 0)
			return -1;
		plan = plan_of(r);
		if (learner_conclude(r->t->learner, &plan, ret, err) != 0)
			return -1;
	} while (!isfinite(ret->norm) && isfinite(r->sums[SUM_TOTAL]) &&
	         loss_scale_lower(&r->state->scale, precision));
	r->kept |= plan.keep && ret->updated;
	return 0;
}

static struct losses losses_of(const struct train_run *r)
{
	return (struct losses){.total = r->sums[SUM_TOTAL],
	                       .image = r->sums[SUM_IMAGE],
	                       .audio = r->sums[SUM_AUDIO],
	                       .label = r->sums[SUM_LABEL],
	                       .mse_image = r->sums[SUM_MSE_IMAGE],
	                       .mse_audio = r->sums[SUM_MSE_AUDIO],
	                       .label_hits = (size_t)r->sums[SUM_HITS]};
}

static int one_step(struct train_run *r, struct step_stats *ret, struct err *err)
{
	const struct train *t = r->t;
	const struct train_options *o = t->options;
	double begin = clock_seconds(), lr = rate_of(r);
	uint64_t clips = (uint64_t)o->batch_size * o->accumulate * r->n_ranks;
	uint64_t epoch_clips = t->source->epoch_clips;
	struct learner_verdict verdict;

	if (learn(r, &verdict, err) != 0)
		return -1;
	loop_count_bad(r, &verdict);
	*ret = (struct step_stats){.step = ++r->state->step,
	                           .epoch = epoch_clips > 0 ? r->state->sample / epoch_clips : 0,
	                           .first_clip = r->state->sample,
	                           .lr = lr,
	                           .losses = losses_of(r),
	                           .grad_norm = verdict.norm,
	                           .loss_scale = scale_of(r),
	                           .skipped = !verdict.updated,
	                           .clips = clips,
	                           .wait_seconds = r->wait_seconds,
	                           .reduce_seconds = r->reduce_seconds};
	if (verdict.updated)
		loss_scale_update(&r->state->scale, learner_precision(t->learner));
	r->state->sample += clips;
	r->steps_here++;
	ret->seconds = clock_seconds() - begin;
	return 0;
}

static int step_and_report(struct train_run *r, struct err *err)
{
	const struct train_hooks *hooks = r->t->hooks;
	struct step_stats stats;

	if (one_step(r, &stats, err) != 0)
		return r->no_clips ? loop_save_and_fail(r, err) : -1;
	if (hooks->on_step != NULL && hooks->on_step(hooks->ctx, &stats, err) != 0)
		return loop_save_and_fail(r, err);
	return loop_check_bad(r, &stats, err);
}

/* A run that was resumed and has nothing left to do is what its checkpoint says. */
static int save_last(struct train_run *r, struct err *err)
{
	return r->steps_here > 0 || r->judged ? loop_save(r, true, err) : 0;
}

static int run_steps(struct train_run *r, enum train_end *ret_end, struct err *err)
{
	bool on;

	for (;;) {
		if (loop_between(r, &on, ret_end, err) != 0)
			return -1;
		if (!on)
			return save_last(r, err);
		if (step_and_report(r, err) != 0)
			return -1;
	}
}

int train_run(const struct train *t, struct train_state *state, enum train_end *ret_end,
              struct err *err)
{
	struct train_run r = loop_start(t, state);
	int rc;

	rc = run_steps(&r, ret_end, err);
	loop_finish(&r);
	return rc;
}

#include "trainer/train/loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "trainer/train/draw.h"
#include "trainer/train/last_good.h"
#include "trainer/train/schedule.h"

enum { MASKS = 3, SPIKE_AFTER = 20, NAMED_CLIPS_MAX = 8, BACKOFFS_MAX = 1000 };

/* What is summed over ranks besides the gradient. */
enum {
	SUM_TOTAL,
	SUM_IMAGE,
	SUM_AUDIO,
	SUM_LABEL,
	SUM_MSE_IMAGE,
	SUM_MSE_AUDIO,
	SUM_HITS,
	SUM_STOP,
	SUM_NO_CLIPS,
	SUM_DAMAGED, /* of these, those whose input is damaged: it will be the next time, too */
	SUMS
};

struct train_run {
	const struct train *t;
	struct train_state *state;
	struct batch batch;
	int32_t *points;     /* image, then audio */
	float *masks[MASKS]; /* audio, image, label; NULL when none is drawn */
	uint64_t *samples;   /* global numbers of the batch's clips */
	double sums[SUMS];
	double wait_seconds, reduce_seconds;
	int reduce_rc; /* of the reductions begun in backward */
	struct err reduce_err;
	unsigned n_ranks, rank;
	uint64_t steps_here; /* of this process */
	struct last_good good;
	bool no_clips; /* a rank could not read its clips in this step */
	struct err clips_err;
	struct clips blank; /* what such a rank computes with; owned */
};

static struct train_run start_run(const struct train *t, struct train_state *state)
{
	const struct train_options *o = t->options;
	const struct model_dims *d = model_get_dims(t->model);
	double probability[MASKS] = {o->audio_mask_prob, o->image_mask_prob, o->label_mask_prob};
	size_t tokens[MASKS] = {d->n_audio, d->n_image, 1};
	struct train_run r = {.t = t, .state = state, .n_ranks = 1};

	if (t->reducer != NULL && t->reducer->n_ranks > 0) {
		r.n_ranks = t->reducer->n_ranks;
		r.rank = t->reducer->rank;
	}
	r.points = mem_calloc(o->image_points + o->audio_points, sizeof(r.points[0]));
	r.samples = mem_calloc(o->batch_size, sizeof(r.samples[0]));
	for (size_t i = 0; i < MASKS; i++)
		if (probability[i] > 0)
			r.masks[i] = mem_calloc(o->batch_size * tokens[i], sizeof(float));
	return r;
}

static void finish(struct train_run *r)
{
	free(r->points);
	free(r->samples);
	for (size_t i = 0; i < MASKS; i++)
		free(r->masks[i]);
	last_good_done(&r->good);
	free((void *)(uintptr_t)r->blank.image);
	free((void *)(uintptr_t)r->blank.audio);
	free((void *)(uintptr_t)r->blank.label);
}

/* Points are the same on all ranks, masks and dropout belong to the sample: so R ranks of B clips
 * see what one rank of R * B clips would. */
static void draw(struct train_run *r, uint64_t first, uint64_t micro_step)
{
	const struct train_options *o = r->t->options;
	const struct model_dims *d = model_get_dims(r->t->model);
	double probability[MASKS] = {o->audio_mask_prob, o->image_mask_prob, o->label_mask_prob};
	size_t tokens[MASKS] = {d->n_audio, d->n_image, 1};

	draw_points(o->seed, 2 * micro_step, d->n_pixels, r->points, o->image_points);
	draw_points(o->seed, 2 * micro_step + 1, d->n_audio, r->points + o->image_points,
	            o->audio_points);
	for (size_t b = 0; b < o->batch_size; b++) {
		r->samples[b] = first + b;
		for (unsigned k = 0; k < MASKS; k++)
			if (r->masks[k] != NULL)
				draw_mask(o->seed, first + b, k, probability[k],
				          r->masks[k] + b * tokens[k], tokens[k]);
	}
}

/* A rank without clips goes through the step all the same, with zeros: the others wait for it in
 * every sum of the backward pass. The step is then thrown away by all. */
static struct clips blank_clips(struct train_run *r)
{
	const struct model_dims *d = model_get_dims(r->t->model);
	size_t n = r->t->options->batch_size;

	if (r->blank.image == NULL)
		r->blank = (struct clips){mem_calloc(n * 3 * d->n_pixels, sizeof(float)),
		                          mem_calloc(n * d->audio_samples, sizeof(float)),
		                          mem_calloc(n, sizeof(int32_t))};
	return r->blank;
}

static int next_clips(struct train_run *r, uint64_t first, struct clips *ret, struct err *err)
{
	const struct clip_source *source = r->t->source;
	uint64_t wait = 0;
	struct err why = {0};

	if (source->next(source->ctx, first, r->t->options->batch_size, ret, &wait, &why) == 0) {
		r->wait_seconds += 1e-9 * (double)wait;
		return 0;
	}
	err_wrap(&why, "read clips %llu and following", (unsigned long long)first);
	r->no_clips = true;
	r->clips_err = why;
	if (r->n_ranks == 1) {
		*err = why;
		return -1;
	}
	*ret = blank_clips(r);
	return 0;
}

static int next_batch(struct train_run *r, size_t micro, struct err *err)
{
	const struct train_options *o = r->t->options;
	uint64_t micro_step = r->state->step * o->accumulate + micro;
	uint64_t first = r->state->sample + (micro * r->n_ranks + r->rank) * o->batch_size;
	struct clips clips = {0};

	if (next_clips(r, first, &clips, err) != 0)
		return -1;
	draw(r, first, micro_step);
	r->batch = (struct batch){.n = o->batch_size,
	                          .image = clips.image,
	                          .audio = clips.audio,
	                          .label = clips.label,
	                          .mask_audio = r->masks[0],
	                          .mask_image = r->masks[1],
	                          .mask_label = r->masks[2],
	                          .out_image = r->points,
	                          .out_audio = r->points + o->image_points,
	                          .n_out_image = o->image_points,
	                          .n_out_audio = o->audio_points,
	                          .decode_label = true,
	                          .dropout_seed = o->seed,
	                          .dropout_sample = r->samples};
	return 0;
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

/* Tensors [first, first + n) are final: their sum over the ranks may begin. */
static void grads_ready(void *ctx, size_t first, size_t n)
{
	struct train_run *r = ctx;
	struct tensors *g = model_grads(r->t->model);
	const struct tensor *last = &g->at[first + n - 1];
	size_t end = last->offset + last->n;

	if (r->reduce_rc == 0)
		r->reduce_rc = r->t->reducer->begin_f32(r->t->reducer->ctx, g->at[first].data,
		                                        end - g->at[first].offset, &r->reduce_err);
}

static bool overlaps(const struct train_run *r)
{
	return r->n_ranks > 1 && r->t->reducer->begin_f32 != NULL;
}

static int micro_step(struct train_run *r, size_t micro, struct err *err)
{
	const struct train_options *o = r->t->options;
	struct model *m = r->t->model;
	struct logits logits;
	struct losses losses;
	bool last = micro + 1 == o->accumulate;

	if (next_batch(r, micro, err) != 0)
		return -1;
	model_forward(m, &r->batch, &logits);
	model_loss(m, &r->batch, &o->weights, &losses);
	add_losses(r, &losses);
	if (last && overlaps(r))
		model_on_grads_ready(m, (struct grads_ready){grads_ready, r});
	model_backward(m, &r->batch, &o->weights, 1.0 / (double)o->accumulate);
	model_on_grads_ready(m, (struct grads_ready){0});
	return 0;
}

/* After this every rank has the same gradient sums and the same figures. */
static int reduce(struct train_run *r, struct err *err)
{
	const struct reducer *q = r->t->reducer;
	struct tensors *g = model_grads(r->t->model);
	double begin = clock_seconds();
	int rc;

	if (r->n_ranks == 1)
		return 0;
	if (r->reduce_rc != 0) {
		*err = r->reduce_err;
		return -1;
	}
	rc = overlaps(r) ? q->wait(q->ctx, err) : q->sum_f32(q->ctx, g->data, g->n_values, err);
	if (rc == 0)
		rc = q->sum_f64(q->ctx, r->sums, SUMS, err);
	r->reduce_seconds += clock_seconds() - begin;
	return rc;
}

/* Whether this gradient is to be thrown away; keeps count. */
static bool is_bad(struct train_run *r, double norm)
{
	struct train_state *s = r->state;
	double factor = r->t->options->spike_factor;
	bool bad = !isfinite(norm) || !isfinite(r->sums[SUM_TOTAL]);

	if (factor > 0 && s->step >= SPIKE_AFTER && s->norm_mean > 0)
		bad |= norm > factor * s->norm_mean;
	s->bad_steps = bad ? s->bad_steps + 1 : 0;
	if (!bad)
		s->norm_mean = s->norm_mean > 0 ? 0.98 * s->norm_mean + 0.02 * norm : norm;
	return bad;
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
	model_zero_grads(t->model);
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

/* Keeps the weights that this step's figures speak for, then changes them. */
static void update(struct train_run *r, double lr, double scale)
{
	const struct train *t = r->t;
	const struct tensors *params = model_params(t->model);

	if (!r->good.taken || r->state->step % LAST_GOOD_EVERY == 0)
		last_good_take(&r->good, params, t->optimizer, r->state->norm_mean);
	optimizer_step(t->optimizer, model_params(t->model), model_grads(t->model), lr, scale,
	               t->threads);
}

static int one_step(struct train_run *r, struct step_stats *ret, struct err *err)
{
	const struct train *t = r->t;
	const struct train_options *o = t->options;
	double begin = clock_seconds(),
	       lr = ldexp(schedule_lr(&o->schedule, o->optimizer.lr, r->state->step),
	                  -(int)(r->state->backoffs < BACKOFFS_MAX ? r->state->backoffs
	                                                           : BACKOFFS_MAX));
	double share = 1.0 / r->n_ranks, norm;
	uint64_t clips = (uint64_t)o->batch_size * o->accumulate * r->n_ranks;
	uint64_t epoch_clips = t->source->epoch_clips;
	bool skip;

	if (all_gradients(r, err) != 0)
		return -1;
	norm = share * grads_norm(model_grads(t->model), t->threads);
	skip = is_bad(r, norm);
	if (!skip)
		update(r, lr, share * clip_scale(norm, o->optimizer.max_grad_norm));
	*ret = (struct step_stats){.step = ++r->state->step,
	                           .epoch = epoch_clips > 0 ? r->state->sample / epoch_clips : 0,
	                           .first_clip = r->state->sample,
	                           .lr = lr,
	                           .losses = {r->sums[SUM_TOTAL], r->sums[SUM_IMAGE],
	                                      r->sums[SUM_AUDIO], r->sums[SUM_LABEL],
	                                      r->sums[SUM_MSE_IMAGE], r->sums[SUM_MSE_AUDIO],
	                                      (size_t)r->sums[SUM_HITS]},
	                           .grad_norm = norm,
	                           .skipped = skip,
	                           .clips = clips,
	                           .wait_seconds = r->wait_seconds,
	                           .reduce_seconds = r->reduce_seconds};
	r->state->sample += clips;
	r->steps_here++;
	ret->seconds = clock_seconds() - begin;
	return 0;
}

static void restore(struct train_run *r)
{
	if (r->good.taken)
		last_good_restore(&r->good, model_params(r->t->model), r->t->optimizer,
		                  &r->state->norm_mean);
}

/* Weights that are not numbers are of no use to a later run: the last good ones are. */
static int save(struct train_run *r, bool last, struct err *err)
{
	const struct train *t = r->t;

	if (t->hooks->save == NULL)
		return 0;
	if (!tensors_are_finite(model_params(t->model)))
		restore(r);
	if (t->hooks->save(t->hooks->ctx, t->model, t->optimizer, r->state, last, err) != 0)
		return err_wrap(err, "save step %llu", (unsigned long long)r->state->step);
	return 0;
}

/* Saves what the steps before have come to and returns the error that ends the run. */
static int save_and_fail(struct train_run *r, struct err *err)
{
	const struct reducer *q = r->t->reducer;
	struct err late = {0};
	double met = 0;

	if (r->steps_here > 0 && save(r, true, &late) != 0)
		err_wrap(err, "%s; then", late.msg);
	else if (r->steps_here > 0)
		err_hint(err, "What %llu steps have come to is saved.",
		         (unsigned long long)r->state->step);
	/* The first rank to leave ends the others: not before the checkpoint is there. */
	if (r->n_ranks > 1 && r->no_clips && q->sum_f64(q->ctx, &met, 1, &late) != 0)
		err_wrap(err, "%s; then", late.msg);
	return -1;
}

static void add_names(const struct train_run *r, const struct step_stats *s, struct strbuf *sb)
{
	const struct clip_source *source = r->t->source;
	uint64_t first = r->state->sample - s->clips;
	size_t n = s->clips < NAMED_CLIPS_MAX ? s->clips : NAMED_CLIPS_MAX;

	for (size_t i = 0; i < n; i++) {
		strbuf_adds(sb, i > 0 ? ", " : "");
		if (source->name != NULL)
			source->name(source->ctx, first + i, sb);
		else
			strbuf_addf(sb, "clip %llu", (unsigned long long)(first + i));
	}
	if (s->clips > n)
		strbuf_addf(sb, " and %zu more", s->clips - n);
}

static int give_up(struct train_run *r, const struct step_stats *s, struct err *err)
{
	AUTO(strbuf) struct strbuf names = STRBUF_INIT(ERR_MSG_MAX);
	struct err late = {0};

	add_names(r, s, &names);
	err_set(err, ERR_LIMIT,
	        "step %llu: the gradient was not finite or a spike %u times in a row, after %llu "
	        "back-offs; the last such step read %.700s",
	        (unsigned long long)s->step, r->t->options->max_bad_steps,
	        (unsigned long long)r->state->backoffs, strbuf_str(&names));
	if (save(r, true, &late) != 0)
		return err_wrap(err, "%s; then", late.msg);
	return err_hint(err, "The last good weights are saved. Lower --lr and resume, or look at "
	                     "these clips.");
}

static int check_bad(struct train_run *r, const struct step_stats *s, struct err *err)
{
	const struct train_options *o = r->t->options;
	const struct train_hooks *hooks = r->t->hooks;

	if (o->max_bad_steps == 0 || r->state->bad_steps < o->max_bad_steps)
		return 0;
	restore(r);
	r->state->bad_steps = 0;
	if (r->state->backoffs >= o->max_backoffs)
		return give_up(r, s, err);
	r->state->backoffs++;
	if (hooks->on_backoff != NULL)
		hooks->on_backoff(hooks->ctx, r->state);
	return 0;
}

static int run_steps(struct train_run *r, enum train_end *ret_end, struct err *err)
{
	const struct train_options *o = r->t->options;

	*ret_end = TRAIN_COMPLETE;
	while (r->state->step < o->max_steps) {
		struct step_stats stats;
		uint64_t done;

		if (one_step(r, &stats, err) != 0)
			return r->no_clips ? save_and_fail(r, err) : -1;
		done = r->state->step;
		if (r->t->hooks->on_step != NULL &&
		    r->t->hooks->on_step(r->t->hooks->ctx, &stats, err) != 0)
			return save_and_fail(r, err);
		if (check_bad(r, &stats, err) != 0)
			return -1;
		if (r->sums[SUM_STOP] > 0 ||
		    (o->stop_after > 0 && r->steps_here >= o->stop_after)) {
			*ret_end = done < o->max_steps ? TRAIN_STOPPED : TRAIN_COMPLETE;
			break;
		}
		if (o->checkpoint_steps > 0 && done % o->checkpoint_steps == 0 &&
		    done < o->max_steps && r->state->bad_steps == 0 && save(r, false, err) != 0)
			return -1;
	}
	return save(r, true, err);
}

int train_run(const struct train *t, struct train_state *state, enum train_end *ret_end,
              struct err *err)
{
	struct train_run r = start_run(t, state);
	int rc;

	model_set_training(t->model, true);
	rc = run_steps(&r, ret_end, err);
	finish(&r);
	return rc;
}

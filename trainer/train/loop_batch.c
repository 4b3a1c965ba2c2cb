#include <stdlib.h>

#include "base/mem.h"
#include "trainer/train/draw.h"
#include "trainer/train/loop_internal.h"

struct train_run loop_start(const struct train *t, struct train_state *state)
{
	const struct train_options *o = t->options;
	const struct model_dims *d = learner_dims(t->learner);
	double probability[LOOP_MASKS] = {o->audio_mask_prob, o->image_mask_prob,
	                                  o->label_mask_prob};
	size_t tokens[LOOP_MASKS] = {d->n_audio, d->n_image, 1};
	struct train_run r = {.t = t, .state = state, .n_ranks = 1};

	if (t->reducer != NULL && t->reducer->n_ranks > 0) {
		r.n_ranks = t->reducer->n_ranks;
		r.rank = t->reducer->rank;
	}
	r.points = mem_calloc(o->image_points + o->audio_points, sizeof(r.points[0]));
	r.samples = mem_calloc(o->batch_size, sizeof(r.samples[0]));
	for (size_t i = 0; i < LOOP_MASKS; i++)
		if (probability[i] > 0)
			r.masks[i] = mem_calloc(o->batch_size * tokens[i], sizeof(float));
	return r;
}

void loop_finish(struct train_run *r)
{
	free(r->points);
	free(r->samples);
	for (size_t i = 0; i < LOOP_MASKS; i++)
		free(r->masks[i]);
	free((void *)(uintptr_t)r->blank.image);
	free((void *)(uintptr_t)r->blank.audio);
	free((void *)(uintptr_t)r->blank.label);
}

/* Points belong to the step, masks and dropout to the sample: so R ranks with A micro-steps of B
 * clips see what one batch of R * A * B clips would. */
static void draw(struct train_run *r, uint64_t step, uint64_t first)
{
	const struct train_options *o = r->t->options;
	const struct model_dims *d = learner_dims(r->t->learner);
	double probability[LOOP_MASKS] = {o->audio_mask_prob, o->image_mask_prob,
	                                  o->label_mask_prob};
	size_t tokens[LOOP_MASKS] = {d->n_audio, d->n_image, 1};

	draw_points(o->seed, 2 * step, d->n_pixels, r->points, o->image_points);
	draw_points(o->seed, 2 * step + 1, d->n_audio, r->points + o->image_points,
	            o->audio_points);
	for (size_t b = 0; b < o->batch_size; b++) {
		r->samples[b] = first + b;
		for (unsigned k = 0; k < LOOP_MASKS; k++)
			if (r->masks[k] != NULL)
				draw_mask(o->seed, first + b, k, probability[k],
				          r->masks[k] + b * tokens[k], tokens[k]);
	}
}

/* A rank without clips goes through the step all the same, with zeros: the others wait for it in
 * every sum of the backward pass. The step is then thrown away by all. */
static struct clips blank_clips(struct train_run *r)
{
	const struct model_dims *d = learner_dims(r->t->learner);
	size_t n = r->t->options->batch_size;

	if (r->blank.image == NULL)
		r->blank = (struct clips){.image = mem_calloc(n * 3 * d->n_pixels, sizeof(float)),
		                          .audio = mem_calloc(n * d->audio_samples, sizeof(float)),
		                          .label = mem_calloc(n, sizeof(int32_t))};
	return r->blank;
}

static void hand_over(struct train_run *r, const struct clips *clips, uint64_t step, uint64_t first)
{
	const struct train_options *o = r->t->options;

	draw(r, step, first);
	r->batch = (struct batch){.n = o->batch_size,
	                          .image = clips->image,
	                          .audio = clips->audio,
	                          .video = clips->video,
	                          .sound = clips->sound,
	                          .label = clips->label,
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
	learner_stage(r->t->learner, &r->batch);
}

static int read_batch(struct train_run *r, uint64_t step, uint64_t first, struct err *err)
{
	const struct clip_source *source = r->t->source;
	struct clips clips = {0};
	uint64_t wait = 0;

	if (source->next(source->ctx, first, r->t->options->batch_size, &clips, &wait, err) != 0)
		return err_wrap(err, "read clips %llu and following", (unsigned long long)first);
	r->wait_seconds += 1e-9 * (double)wait;
	hand_over(r, &clips, step, first);
	return 0;
}

/* The first clip of a micro-step of a step that begins with clip `sample`. */
static uint64_t first_of(const struct train_run *r, uint64_t sample, size_t micro)
{
	return sample + (micro * r->n_ranks + r->rank) * r->t->options->batch_size;
}

int loop_next_batch(struct train_run *r, size_t micro, struct err *err)
{
	uint64_t step = r->state->step, first = first_of(r, r->state->sample, micro);
	struct batch_ahead now = r->ahead;
	struct clips blank;

	r->ahead.ready = false;
	if (now.ready && (now.step != step || now.first != first))
		BUG("clip %llu was read ahead, %llu is wanted", (unsigned long long)now.first,
		    (unsigned long long)first);
	if (!now.ready)
		now.rc = read_batch(r, step, first, &now.err);
	if (now.rc == 0)
		return 0;
	r->no_clips = true;
	r->clips_err = now.err;
	if (r->n_ranks == 1) {
		*err = now.err;
		return -1;
	}
	blank = blank_clips(r);
	hand_over(r, &blank, step, first);
	return 0;
}

void loop_read_ahead(struct train_run *r, size_t micro)
{
	const struct train_options *o = r->t->options;
	bool same = micro + 1 < o->accumulate;
	uint64_t step = r->state->step + (same ? 0 : 1);
	uint64_t clips = (uint64_t)o->batch_size * o->accumulate * r->n_ranks;
	struct batch_ahead *a = &r->ahead;

	if (!learner_copies(r->t->learner) || step >= o->max_steps ||
	    (!same && o->stop_after > 0 && r->steps_here + 1 >= o->stop_after))
		return;
	*a = (struct batch_ahead){.ready = true, .step = step};
	a->first = first_of(r, r->state->sample + (same ? 0 : clips), same ? micro + 1 : 0);
	a->rc = read_batch(r, a->step, a->first, &a->err);
}

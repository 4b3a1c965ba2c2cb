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
static void draw(struct train_run *r, uint64_t first)
{
	const struct train_options *o = r->t->options;
	const struct model_dims *d = learner_dims(r->t->learner);
	double probability[LOOP_MASKS] = {o->audio_mask_prob, o->image_mask_prob,
	                                  o->label_mask_prob};
	size_t tokens[LOOP_MASKS] = {d->n_audio, d->n_image, 1};
	uint64_t step = r->state->step;

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

int loop_next_batch(struct train_run *r, size_t micro, struct err *err)
{
	const struct train_options *o = r->t->options;
	uint64_t first = r->state->sample + (micro * r->n_ranks + r->rank) * o->batch_size;
	struct clips clips = {0};

	if (next_clips(r, first, &clips, err) != 0)
		return -1;
	draw(r, first);
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

#include "trainer/session/evaluate.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "trainer/ops/philox.h"

/* Draws of an evaluation are apart from those of training steps. */
#define EVALUATION_STEP ((uint64_t)1 << 62)

/* What one rank says of its batch; doubles only. */
struct eval_slot {
	struct metric_sums sums;
	double stop, failed;
};

struct eval_run {
	struct learner *l;
	const struct clip_source *source;
	const struct evaluate_options *o;
	unsigned n_ranks, rank;
	int32_t *image, *audio; /* points */
	float *mask_label;
	struct eval_slot
		*slots; /* a rank's in its place, the others' zero: their sum is all of them */
	struct metric_sums sums;
	struct err why; /* of this rank's failure */
};

static void draw(struct eval_run *r, uint64_t batch)
{
	const struct evaluate_options *o = r->o;
	const struct model_dims *d = learner_dims(r->l);
	struct philox rng = philox_start(o->seed, STREAM_POINTS, EVALUATION_STEP + batch);

	for (size_t i = 0; i < o->image_points; i++)
		r->image[i] = (int32_t)philox_below(&rng, (uint32_t)d->n_pixels);
	for (size_t i = 0; i < o->audio_points; i++)
		r->audio[i] = (int32_t)philox_below(&rng, (uint32_t)d->n_audio);
}

static int one_batch(struct eval_run *r, uint64_t number, size_t n, struct metric_sums *ret,
                     struct err *err)
{
	const struct evaluate_options *o = r->o;
	uint64_t wait = 0;
	struct clips clips;
	struct losses losses;
	struct batch b;

	if (r->source->next(r->source->ctx, number * o->batch_size, o->batch_size, &clips, &wait,
	                    err) != 0)
		return -1;
	draw(r, number);
	/* Beyond the last clip the source begins again; what it gives there is not looked at. */
	b = (struct batch){.n = n,
	                   .image = clips.image,
	                   .audio = clips.audio,
	                   .label = clips.label,
	                   .mask_label = r->mask_label,
	                   .out_image = r->image,
	                   .out_audio = r->audio,
	                   .n_out_image = o->image_points,
	                   .n_out_audio = o->audio_points,
	                   .decode_label = true};
	if (learner_measure(r->l, &b, &o->weights, &losses, err) != 0)
		return -1;
	metric_sums_add(ret, &losses, n);
	return 0;
}

/* This rank's part of a round: a batch, unless there is none left for it. */
static void own_batch(struct eval_run *r, uint64_t round, struct eval_slot *slot)
{
	const struct evaluate_options *o = r->o;
	uint64_t number = round * r->n_ranks + r->rank, first = number * o->batch_size;
	double since = clock_seconds();
	size_t n;

	if (o->stop != NULL && o->stop(o->ctx)) {
		slot->stop = 1;
		return;
	}
	if (first >= o->clips)
		return;
	n = o->clips - first < o->batch_size ? (size_t)(o->clips - first) : o->batch_size;
	if (one_batch(r, number, n, &slot->sums, &r->why) != 0)
		slot->failed = 1;
	else if (o->progress != NULL)
		o->progress(o->ctx, round, n, clock_seconds() - since);
}

/* Adds the round's batches in their order, so that the sums do not depend on who had which. */
static int add_slots(struct eval_run *r, struct err *err)
{
	bool stop = false, failed = false;

	for (unsigned i = 0; i < r->n_ranks; i++) {
		stop |= r->slots[i].stop != 0;
		failed |= r->slots[i].failed != 0;
		if (r->slots[i].sums.clips > 0)
			metric_sums_merge(&r->sums, &r->slots[i].sums);
	}
	if (failed && r->slots[r->rank].failed == 0)
		return err_set(err, ERR_FORMAT, "another rank could not read its clips");
	if (failed) {
		*err = r->why;
		return -1;
	}
	return stop ? err_set(err, ERR_INTERRUPTED, "interrupted") : 0;
}

static int one_round(struct eval_run *r, uint64_t round, struct err *err)
{
	const struct reducer *q = r->o->reducer;

	memset(r->slots, 0, r->n_ranks * sizeof(*r->slots));
	own_batch(r, round, &r->slots[r->rank]);
	if (r->n_ranks > 1 && q->sum_f64(q->ctx, (double *)r->slots,
	                                 r->n_ranks * sizeof(*r->slots) / sizeof(double), err) != 0)
		return err_wrap(err, "evaluate");
	return add_slots(r, err);
}

static struct eval_run start(struct learner *l, const struct clip_source *source,
                             const struct evaluate_options *o)
{
	struct eval_run r = {.l = l, .source = source, .o = o, .n_ranks = 1};

	if (o->reducer != NULL && o->reducer->n_ranks > 0) {
		r.n_ranks = o->reducer->n_ranks;
		r.rank = o->reducer->rank;
	}
	r.image = mem_calloc(o->image_points, sizeof(*r.image));
	r.audio = mem_calloc(o->audio_points, sizeof(*r.audio));
	r.mask_label = mem_calloc(o->batch_size, sizeof(*r.mask_label));
	r.slots = mem_calloc(r.n_ranks, sizeof(*r.slots));
	for (size_t i = 0; i < o->batch_size; i++)
		r.mask_label[i] = 1;
	return r;
}

int evaluate(struct learner *l, const struct clip_source *source, const struct evaluate_options *o,
             struct metric_sums *ret, struct err *err)
{
	struct eval_run r = start(l, source, o);
	uint64_t batches = o->clips / o->batch_size + (o->clips % o->batch_size != 0);
	uint64_t rounds = batches / r.n_ranks + (batches % r.n_ranks != 0);
	int rc = 0;

	for (uint64_t k = 0; rc == 0 && k < rounds; k++)
		rc = one_round(&r, k, err);
	free(r.image);
	free(r.audio);
	free(r.mask_label);
	free(r.slots);
	if (rc == 0)
		*ret = r.sums;
	return rc;
}

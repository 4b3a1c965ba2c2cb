#include "trainer/session/evaluate.h"

#include "base/clock.h"
#include "base/mem.h"
#include "trainer/ops/philox.h"

/* Draws of an evaluation are apart from those of training steps. */
#define EVALUATION_STEP ((uint64_t)1 << 62)

struct points {
	int32_t *image, *audio;
	float *mask_label;
};

static void draw(const struct evaluate_options *o, const struct model_dims *d, uint64_t batch,
                 struct points *p)
{
	struct philox rng = philox_start(o->seed, STREAM_POINTS, EVALUATION_STEP + batch);

	for (size_t i = 0; i < o->image_points; i++)
		p->image[i] = (int32_t)philox_below(&rng, (uint32_t)d->n_pixels);
	for (size_t i = 0; i < o->audio_points; i++)
		p->audio[i] = (int32_t)philox_below(&rng, (uint32_t)d->n_audio);
}

static void add(struct evaluation *e, const struct losses *l, double n)
{
	e->total += l->total * n;
	e->image += l->image * n;
	e->audio += l->audio * n;
	e->label += l->label * n;
	e->mse_image += l->mse_image * n;
	e->mse_audio += l->mse_audio * n;
	e->hits += (double)l->label_hits;
	e->clips += n;
}

static int one_batch(struct model *m, const struct clip_source *source,
                     const struct evaluate_options *o, uint64_t number, size_t n, struct points *p,
                     struct evaluation *e, struct err *err)
{
	uint64_t wait = 0;
	struct clips clips;
	struct logits logits;
	struct losses losses;
	struct batch b;

	if (source->next(source->ctx, number * o->batch_size, o->batch_size, &clips, &wait, err) !=
	    0)
		return -1;
	draw(o, model_get_dims(m), number, p);
	/* Beyond the last clip the source begins again; what it gives there is not looked at. */
	b = (struct batch){.n = n,
	                   .image = clips.image,
	                   .audio = clips.audio,
	                   .label = clips.label,
	                   .mask_label = p->mask_label,
	                   .out_image = p->image,
	                   .out_audio = p->audio,
	                   .n_out_image = o->image_points,
	                   .n_out_audio = o->audio_points,
	                   .decode_label = true};
	model_forward(m, &b, &logits);
	model_loss(m, &b, &o->weights, &losses);
	add(e, &losses, (double)n);
	return 0;
}

int evaluate(struct model *m, const struct clip_source *source, const struct evaluate_options *o,
             struct evaluation *ret, struct err *err)
{
	struct points p = {mem_calloc(o->image_points, sizeof(*p.image)),
	                   mem_calloc(o->audio_points, sizeof(*p.audio)),
	                   mem_calloc(o->batch_size, sizeof(*p.mask_label))};
	struct evaluation e = {0};
	int rc = 0;

	for (size_t i = 0; i < o->batch_size; i++)
		p.mask_label[i] = 1;
	model_set_training(m, false);
	for (uint64_t k = 0; rc == 0; k++) {
		uint64_t number = o->first_batch + k * o->batch_stride;
		uint64_t first = number * o->batch_size;
		double since = clock_seconds();
		size_t n;

		if (first >= o->clips)
			break;
		n = o->clips - first < o->batch_size ? (size_t)(o->clips - first) : o->batch_size;
		rc = one_batch(m, source, o, number, n, &p, &e, err);
		if (rc == 0 && o->progress != NULL)
			rc = o->progress(o->ctx, k, n, clock_seconds() - since, err);
	}
	model_set_training(m, true);
	free(p.image);
	free(p.audio);
	free(p.mask_label);
	if (rc == 0)
		*ret = e;
	return rc;
}

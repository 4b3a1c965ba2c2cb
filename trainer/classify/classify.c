#include "trainer/classify/classify.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

/* Clips on their way through the model. */
struct clip_room_batch {
	float *image, *audio, *hidden;
	int32_t *label;
	size_t image_values, audio_values;
};

static void take_place(struct classified *r, size_t label, double logit)
{
	size_t at = r->n < CLASSIFY_TOP ? r->n++ : CLASSIFY_TOP - 1;

	while (at > 0 && r->probability[at - 1] < logit) {
		r->probability[at] = r->probability[at - 1];
		r->label[at] = r->label[at - 1];
		at--;
	}
	r->probability[at] = logit;
	r->label[at] = label;
}

void classify_rank(const double *logits, size_t n, struct classified *ret)
{
	struct classified r = {0};
	double sum = 0, largest;

	for (size_t i = 0; i < n; i++)
		if (r.n < CLASSIFY_TOP || logits[i] > r.probability[r.n - 1])
			take_place(&r, i, logits[i]);
	largest = r.probability[0];
	for (size_t i = 0; i < n; i++)
		sum += exp(logits[i] - largest);
	for (size_t i = 0; i < r.n; i++)
		r.probability[i] = exp(r.probability[i] - largest) / sum;
	*ret = r;
}

/* n clips from `first` on: adds their logits to sums[0 .. o->n_labels). */
static int add_logits(struct learner *l, struct dataset *d, const struct classify_options *o,
                      struct clip_room_batch *room, uint64_t first, size_t n, double *sums,
                      struct err *err)
{
	size_t n_labels = learner_config(l)->num_labels;
	struct logits logits;
	struct batch b = {.n = n,
	                  .image = room->image,
	                  .audio = room->audio,
	                  .label = room->label,
	                  .mask_label = room->hidden,
	                  .decode_label = true};

	for (size_t i = 0; i < n; i++) {
		struct clip_room clip = {.image = room->image + i * room->image_values,
		                         .audio = room->audio + i * room->audio_values,
		                         .label = &room->label[i]};

		if (dataset_clip(d, first + i, &clip, err) != 0)
			return -1;
		room->label[i] = 0;
	}
	if (learner_forward(l, &b, &logits, err) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < o->n_labels; k++)
			sums[k] += (double)logits.label[i * n_labels + k];
	return 0;
}

static int classify_one(struct learner *l, struct dataset *d, const struct classify_options *o,
                        const struct dataset_entry *e, struct clip_room_batch *room,
                        struct classified *ret, struct err *err)
{
	AUTO_FREE double *sums = mem_calloc(o->n_labels, sizeof(*sums));

	for (uint32_t at = 0; at < e->n_clips;) {
		size_t left = e->n_clips - at, n = left < o->batch_size ? left : o->batch_size;

		if (add_logits(l, d, o, room, e->first + at, n, sums, err) != 0)
			return -1;
		at += (uint32_t)n;
	}
	for (size_t k = 0; k < o->n_labels; k++)
		sums[k] /= e->n_clips;
	classify_rank(sums, o->n_labels, ret);
	return 0;
}

static int classify_all(struct learner *l, struct dataset *d, const struct classify_options *o,
                        struct clip_room_batch *room, struct classified *ret, struct err *err)
{
	const struct dataset_list *list = dataset_contents(d);

	for (size_t i = 0; i < list->n; i++) {
		if (classify_one(l, d, o, &list->at[i], room, &ret[i], err) != 0)
			return -1;
		if (o->progress != NULL && o->progress(o->ctx, i + 1, list->n, err) != 0)
			return -1;
	}
	return 0;
}

int classify_dataset(struct learner *l, struct dataset *d, const struct classify_options *o,
                     struct classified *ret, struct err *err)
{
	const struct model_dims *dims = learner_dims(l);
	size_t n = o->batch_size, pixels = dims->n_pixels * 3;
	struct clip_room_batch room = {mem_calloc(n, pixels * sizeof(float)),
	                               mem_calloc(n, dims->audio_samples * sizeof(float)),
	                               mem_calloc(n, sizeof(float)),
	                               mem_calloc(n, sizeof(int32_t)),
	                               pixels,
	                               dims->audio_samples};
	int rc;

	for (size_t i = 0; i < n; i++)
		room.hidden[i] = 1;
	rc = classify_all(l, d, o, &room, ret, err);
	free(room.image);
	free(room.audio);
	free(room.hidden);
	free(room.label);
	return rc;
}

#include "trainer/neuron/engine_internal.h"

#include <stdlib.h>
#include <string.h>

enum { WIDER_ARRAYS = 8 };

/* A part of a batch, as wide as the module: clips that it lacks are zero, points the first one. */
struct wider {
	struct batch b;
	void *owned[WIDER_ARRAYS];
};

/* Clips and points [first, first + n) of a batch. */
struct engine_piece {
	size_t clip, clips, image, images, audio, audios;
};

/* Values of 4 bytes: [first, first + n) of `from`, the rest of `all` is zero. NULL stays NULL. */
static void *widen(const void *from, size_t first, size_t n, size_t all)
{
	char *to = from != NULL ? mem_calloc(all > 0 ? all : 1, 4) : NULL;

	if (to != NULL)
		memcpy(to, (const char *)from + first * 4, n * 4);
	return to;
}

static struct wider widen_batch(const struct engine_part *p, const struct batch *b,
                                const struct engine_piece *q)
{
	const struct model_dims *d = &p->net.dims;
	size_t all = p->net.shape.batch;
	const struct {
		const void *from;
		size_t values, first, n, all;
	} rows[WIDER_ARRAYS] = {
		{b->image, 3 * d->n_pixels, q->clip, q->clips, all},
		{b->audio, d->audio_samples, q->clip, q->clips, all},
		{b->label, 1, q->clip, q->clips, all},
		{b->mask_audio, d->n_audio, q->clip, q->clips, all},
		{b->mask_image, d->n_image, q->clip, q->clips, all},
		{b->mask_label, 1, q->clip, q->clips, all},
		{b->out_image, 1, q->image, q->images, p->net.shape.n_out_image},
		{b->out_audio, 1, q->audio, q->audios, p->net.shape.n_out_audio},
	};
	struct wider w = {.b = *b};

	for (size_t i = 0; i < WIDER_ARRAYS; i++)
		w.owned[i] = widen(rows[i].from, rows[i].first * rows[i].values,
		                   rows[i].n * rows[i].values, rows[i].all * rows[i].values);
	w.b.n = all;
	w.b.image = w.owned[0];
	w.b.audio = w.owned[1];
	w.b.label = w.owned[2];
	w.b.mask_audio = w.owned[3];
	w.b.mask_image = w.owned[4];
	w.b.mask_label = w.owned[5];
	w.b.out_image = w.owned[6];
	w.b.out_audio = w.owned[7];
	w.b.n_out_image = p->net.shape.n_out_image;
	w.b.n_out_audio = p->net.shape.n_out_audio;
	return w;
}

/* Runs the module on a piece of a batch, and waits. */
static int run_piece(struct neuron_engine *e, struct engine_part *p, const struct batch *b,
                     const struct engine_piece *q, struct err *err)
{
	const struct loss_weights none = {0};
	struct wider wide = widen_batch(p, b, q);
	int rc = engine_feed(e, p, &wide.b, &none, 0, err);

	for (size_t i = 0; i < WIDER_ARRAYS; i++)
		free(wide.owned[i]);
	if (rc != 0 || engine_launch(e, p, err) != 0)
		return -1;
	return neuron_job_wait(&e->job, err);
}

int neuron_engine_measure(struct neuron_engine *e, const struct batch *b,
                          const struct loss_weights *w, struct losses *ret, struct err *err)
{
	struct engine_part *p = &e->parts[NEURON_MEASURE];
	const struct neuron_shape *s = &p->net.shape;
	struct engine_piece q = {.clips = b->n, .images = b->n_out_image, .audios = b->n_out_audio};
	struct engine_batch kept = {.n = b->n, .label = (int32_t *)(uintptr_t)b->label};

	if (b->n > s->batch || b->n_out_image != s->n_out_image || b->n_out_audio != s->n_out_audio)
		return err_set(err, ERR_UNSUPPORTED,
		               "the compiled module measures %zu clips, %zu pixels and %zu audio "
		               "patches, not %zu, %zu and %zu",
		               s->batch, s->n_out_image, s->n_out_audio, b->n, b->n_out_image,
		               b->n_out_audio);
	if (run_piece(e, p, b, &q, err) != 0)
		return -1;
	return engine_losses(e, p, &kept, w, ret, err);
}

/* ---- logits ---- */

/* Rows of a modality in a batch's logits: `points` of `all` from `first` on, of each clip. */
struct logit_rows {
	size_t first, points, all, width;
};

static struct logit_rows rows_of(const struct neuron_net *n, const struct batch *b, enum modality m,
                                 const struct engine_piece *q)
{
	const struct logit_rows of[MODALITIES] = {
		[AUDIO] = {q->audio, q->audios, b->n_out_audio, n->config.samples_per_patch},
		[IMAGE] = {q->image, q->images, b->n_out_image, 3},
		[LABEL] = {0, q->image == 0 && q->audio == 0, 1, n->config.num_labels}};

	return of[m];
}

static int take_logits(const struct neuron_engine *e, const struct engine_part *p,
                       const struct batch *b, enum modality m, const struct engine_piece *q,
                       float *to, struct err *err)
{
	struct logit_rows r = rows_of(&p->net, b, m, q);
	size_t there = neuron_points(&p->net, m);
	AUTO_FREE float *logits = NULL;

	if (to == NULL || r.points == 0)
		return 0;
	if (engine_fetch(e, p, NEURON_LOGITS, m, &logits, err) != 0)
		return -1;
	for (size_t i = 0; i < q->clips; i++)
		memcpy(to + ((q->clip + i) * r.all + r.first) * r.width,
		       logits + i * there * r.width, r.points * r.width * sizeof(*to));
	return 0;
}

static size_t at_most(size_t n, size_t most)
{
	return n < most ? n : most;
}

/* All points of the clips from q->clip on. */
static int decode_clips(struct neuron_engine *e, struct engine_part *p, const struct batch *b,
                        struct engine_piece *q, const struct neuron_logits *to, struct err *err)
{
	const struct neuron_shape *s = &p->net.shape;

	q->image = q->audio = 0;
	do {
		q->images = at_most(b->n_out_image - q->image, s->n_out_image);
		q->audios = at_most(b->n_out_audio - q->audio, s->n_out_audio);
		if (run_piece(e, p, b, q, err) != 0)
			return -1;
		for (enum modality m = 0; m < MODALITIES; m++)
			if (take_logits(e, p, b, m, q, to->of[m], err) != 0)
				return -1;
		q->image += q->images;
		q->audio += q->audios;
	} while (q->image < b->n_out_image || q->audio < b->n_out_audio);
	return 0;
}

int neuron_engine_encode(struct neuron_engine *e, const struct batch *b, struct err *err)
{
	struct engine_part *p = &e->parts[NEURON_ENCODE];
	const struct engine_piece q = {.clips = b->n};

	if (!p->loaded)
		return 0;
	if (b->n > p->net.shape.batch)
		return err_set(err, ERR_UNSUPPORTED,
		               "the compiled module encodes %zu clips, not %zu", p->net.shape.batch,
		               b->n);
	return run_piece(e, p, b, &q, err);
}

/* The one that gives logits: of the label alone, of what was encoded, or of all at once. */
static struct engine_part *decoding_part(struct neuron_engine *e)
{
	static const enum neuron_module order[] = {NEURON_CLASSIFY, NEURON_DECODE};

	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		if (e->parts[order[i]].loaded)
			return &e->parts[order[i]];
	return &e->parts[NEURON_MEASURE];
}

int neuron_engine_decode(struct neuron_engine *e, const struct batch *b,
                         const struct neuron_logits *to, struct err *err)
{
	struct engine_part *p = decoding_part(e);
	const struct neuron_shape *s = &p->net.shape;
	struct batch points = *b;
	struct engine_piece q = {0};

	/* what was encoded is not looked at again */
	if (p == &e->parts[NEURON_DECODE])
		points.image = points.audio = NULL;
	if ((b->n_out_image > 0 && s->n_out_image == 0) ||
	    (b->n_out_audio > 0 && s->n_out_audio == 0))
		return err_set(err, ERR_UNSUPPORTED,
		               "the compiled module decodes %zu pixels and %zu audio patches at a "
		               "time, not %zu and %zu",
		               s->n_out_image, s->n_out_audio, b->n_out_image, b->n_out_audio);
	for (; q.clip < b->n; q.clip += q.clips) {
		q.clips = at_most(b->n - q.clip, s->batch);
		if (decode_clips(e, p, &points, &q, to, err) != 0)
			return -1;
	}
	return 0;
}

/* A batch, which the caller has, brought to where ops can read it. */
#include "trainer/model/graph.h"

static const void *stage(struct model *m, struct buffer *room, const void *from, size_t values,
                         size_t each)
{
	return ops_stage(m->ops, room, from, values * each, "a batch");
}

void input_stage_points(struct model *m, const struct batch *b)
{
	struct batch_room *r = &m->rooms;
	struct batch *in = &m->input;

	in->out_image =
		stage(m, &r->points[IMAGE], b->out_image, b->n_out_image, sizeof(*b->out_image));
	in->out_audio =
		stage(m, &r->points[AUDIO], b->out_audio, b->n_out_audio, sizeof(*b->out_audio));
	in->n_out_image = b->n_out_image;
	in->n_out_audio = b->n_out_audio;
	in->decode_label = b->decode_label;
	in->dropout_seed = b->dropout_seed;
	in->dropout_sample =
		stage(m, &r->sample, b->dropout_sample, b->n, sizeof(*b->dropout_sample));
}

void input_stage(struct model *m, const struct batch *b)
{
	const struct model_dims *d = &m->dims;
	struct batch_room *r = &m->rooms;
	struct batch *in = &m->input;

	in->n = b->n;
	in->image = stage(m, &r->image, b->image, b->n * 3 * d->n_pixels, sizeof(float));
	in->audio = stage(m, &r->audio, b->audio, b->n * d->audio_samples, sizeof(float));
	in->label = stage(m, &r->label, b->label, b->n, sizeof(*b->label));
	in->mask_audio =
		stage(m, &r->masks[AUDIO], b->mask_audio, b->n * d->n_audio, sizeof(float));
	in->mask_image =
		stage(m, &r->masks[IMAGE], b->mask_image, b->n * d->n_image, sizeof(float));
	in->mask_label = stage(m, &r->masks[LABEL], b->mask_label, b->n, sizeof(float));
	input_stage_points(m, b);
}

void input_free(struct model *m)
{
	struct batch_room *r = &m->rooms;
	struct buffer *rooms[] = {&r->image, &r->audio, &r->label, &r->sample};

	for (size_t i = 0; i < ARRAY_LEN(rooms); i++)
		buffer_free(m->ops, rooms[i]);
	for (enum modality k = 0; k < MODALITIES; k++) {
		buffer_free(m->ops, &r->masks[k]);
		buffer_free(m->ops, &r->points[k]);
	}
}

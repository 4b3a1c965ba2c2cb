#include "trainer/data/samples.h"

#include "base/mem.h"
#include "trainer/data/order.h"
#include "trainer/data/order_classes.h"

struct samples {
	struct dataset *data;
	struct sample_options o;
	struct order_classes *classes; /* NULL: not balanced */
};

static uint32_t label_of(const void *ctx, uint64_t clip)
{
	return dataset_label(ctx, clip);
}

struct samples *samples_new(struct dataset *d, const struct sample_options *o)
{
	struct samples *s = mem_zalloc(sizeof(*s));

	s->data = d;
	s->o = *o;
	if (o->balanced)
		s->classes = order_classes_new(dataset_n_clips(d), label_of, d);
	return s;
}

void samples_free(struct samples *s)
{
	if (s == NULL)
		return;
	order_classes_free(s->classes);
	free(s);
}

bool samples_are_bytes(const struct dataset *d, const struct sample_options *o)
{
	const struct augment_options *a = &o->augment;
	bool crops = a->crop > 0 && a->crop < 1;

	return dataset_has_bytes(d) && !crops && a->flip <= 0 && a->gain <= 0;
}

static uint64_t clip_of(const struct samples *s, uint64_t sample)
{
	if (s->classes != NULL)
		return order_classes_clip(s->classes, s->o.seed, sample);
	return order_clip(s->o.seed, dataset_n_clips(s->data), sample, s->o.shuffle);
}

int samples_read(void *samples, uint64_t sample, const struct clip_room *room, struct err *err)
{
	const struct samples *s = samples;
	struct augment a = augment_draw(&s->o.augment, &s->o.shape, s->o.seed, sample);

	if (dataset_clip_later(s->data, clip_of(s, sample), a.later, room, err) != 0)
		return -1;
	if (room->video == NULL)
		augment_apply(&a, &s->o.shape, room->image, room->audio);
	return 0;
}

void samples_name(void *samples, uint64_t sample, struct strbuf *sb)
{
	const struct samples *s = samples;

	dataset_clip_name(s->data, clip_of(s, sample), sb);
}

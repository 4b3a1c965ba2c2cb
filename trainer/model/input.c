/* A batch, which the caller has, brought to where ops can read it: one block of bytes, in which
 * every part of it has its place. */
#include "trainer/model/input.h"

#include <string.h>

#include "trainer/model/graph.h"

/* What belongs to the clips comes first; to the points that are decoded, after PART_POINTS. */
enum {
	PART_IMAGE,
	PART_AUDIO,
	PART_VIDEO,
	PART_SOUND,
	PART_LABEL,
	PART_MASK_AUDIO,
	PART_MASK_IMAGE,
	PART_MASK_LABEL,
	PART_POINTS,
	PART_OUT_IMAGE = PART_POINTS,
	PART_OUT_AUDIO,
	PART_SAMPLE,
	PARTS
};

/* Places begin at whole lines. */
enum { LINE = 64 };

static const size_t fields[PARTS] = {
	[PART_IMAGE] = offsetof(struct batch, image),
	[PART_AUDIO] = offsetof(struct batch, audio),
	[PART_VIDEO] = offsetof(struct batch, video),
	[PART_SOUND] = offsetof(struct batch, sound),
	[PART_LABEL] = offsetof(struct batch, label),
	[PART_MASK_AUDIO] = offsetof(struct batch, mask_audio),
	[PART_MASK_IMAGE] = offsetof(struct batch, mask_image),
	[PART_MASK_LABEL] = offsetof(struct batch, mask_label),
	[PART_OUT_IMAGE] = offsetof(struct batch, out_image),
	[PART_OUT_AUDIO] = offsetof(struct batch, out_audio),
	[PART_SAMPLE] = offsetof(struct batch, dropout_sample),
};

static const void *part_of(const struct batch *b, size_t part)
{
	const void *at;

	memcpy(&at, (const char *)b + fields[part], sizeof(at));
	return at;
}

static void set_part(struct batch *b, size_t part, const void *at)
{
	memcpy((char *)b + fields[part], &at, sizeof(at));
}

/* Where the parts from `first` on lie in a block, and how large they are. */
struct input_layout {
	size_t at[PARTS], n[PARTS], bytes;
};

static struct input_layout layout_of(const struct model *m, const struct batch *b, size_t first)
{
	const struct model_dims *d = &m->dims;
	const size_t bytes[PARTS] = {
		[PART_IMAGE] = b->n * 3 * d->n_pixels * sizeof(*b->image),
		[PART_AUDIO] = b->n * d->audio_samples * sizeof(*b->audio),
		[PART_VIDEO] = b->n * 3 * d->n_pixels * sizeof(*b->video),
		[PART_SOUND] = b->n * d->audio_samples * sizeof(*b->sound),
		[PART_LABEL] = b->n * sizeof(*b->label),
		[PART_MASK_AUDIO] = b->n * d->n_audio * sizeof(*b->mask_audio),
		[PART_MASK_IMAGE] = b->n * d->n_image * sizeof(*b->mask_image),
		[PART_MASK_LABEL] = b->n * sizeof(*b->mask_label),
		[PART_OUT_IMAGE] = b->n_out_image * sizeof(*b->out_image),
		[PART_OUT_AUDIO] = b->n_out_audio * sizeof(*b->out_audio),
		[PART_SAMPLE] = b->n * sizeof(*b->dropout_sample),
	};
	struct input_layout l = {.bytes = 0};

	for (size_t i = first; i < PARTS; i++) {
		l.at[i] = l.bytes;
		l.n[i] = part_of(b, i) != NULL ? bytes[i] : 0;
		l.bytes += (l.n[i] + LINE - 1) / LINE * LINE;
	}
	return l;
}

size_t model_input_bytes(const struct model *m, const struct batch *b)
{
	return layout_of(m, b, 0).bytes;
}

void model_input_pack(const struct model *m, const struct batch *b, void *block)
{
	struct input_layout l = layout_of(m, b, 0);

	for (size_t i = 0; i < PARTS; i++)
		if (l.n[i] > 0)
			memcpy((char *)block + l.at[i], part_of(b, i), l.n[i]);
}

void *model_input_room(struct model *m, const struct batch *b)
{
	buffer_reserve(m->ops, &m->rooms.block, model_input_bytes(m, b), "a batch");
	return m->rooms.block.at;
}

/* The parts from `first` on, in a block of the device. */
static void point_into(struct model *m, const struct batch *b, size_t first, const char *block)
{
	struct input_layout l = layout_of(m, b, first);

	for (size_t i = first; i < PARTS; i++)
		set_part(&m->input, i, part_of(b, i) != NULL ? block + l.at[i] : NULL);
}

static void upload(struct model *m, const struct batch *b, size_t first, char *block)
{
	struct input_layout l = layout_of(m, b, first);

	for (size_t i = first; i < PARTS; i++)
		ops_upload(m->ops, block + l.at[i], part_of(b, i), l.n[i]);
}

/* Room for the numbers that the clips' bytes become. */
static void make_numbers(struct model *m)
{
	struct batch *in = &m->input;

	if (in->video == NULL)
		return;
	buffer_reserve(m->ops, &m->rooms.image, in->n * 3 * m->dims.n_pixels * sizeof(float),
	               "clips");
	buffer_reserve(m->ops, &m->rooms.audio, in->n * m->dims.audio_samples * sizeof(float),
	               "clips");
	in->image = m->rooms.image.at;
	in->audio = m->rooms.audio.at;
}

void model_input_set(struct model *m, const struct batch *b)
{
	m->input = *b;
	m->batch = b->n;
	m->n_points = b->n_out_audio + b->n_out_image + (b->decode_label ? 1 : 0);
	workspace_ensure(m, b->n, m->n_points);
	if (!m->ops->device->shared)
		point_into(m, b, 0, model_input_room(m, b));
	make_numbers(m);
}

bool model_input_alike(const struct model *m, const struct batch *b)
{
	const struct batch *in = &m->input;

	for (size_t i = 0; i < PARTS; i++)
		if (part_of(in, i) != part_of(b, i))
			return false;
	return in->n == b->n && in->n_out_image == b->n_out_image &&
	       in->n_out_audio == b->n_out_audio && in->decode_label == b->decode_label &&
	       in->dropout_seed == b->dropout_seed;
}

const struct batch *model_input(const struct model *m)
{
	return &m->input;
}

void input_stage(struct model *m, const struct batch *b)
{
	model_input_set(m, b);
	if (!m->ops->device->shared && !ops_failed(m->ops))
		upload(m, b, 0, m->rooms.block.at);
}

void input_stage_points(struct model *m, const struct batch *b)
{
	struct batch *in = &m->input;
	struct buffer *room = &m->rooms.points;

	in->n_out_image = b->n_out_image;
	in->n_out_audio = b->n_out_audio;
	in->decode_label = b->decode_label;
	in->dropout_seed = b->dropout_seed;
	if (m->ops->device->shared) {
		for (size_t i = PART_POINTS; i < PARTS; i++)
			set_part(in, i, part_of(b, i));
		return;
	}
	buffer_reserve(m->ops, room, layout_of(m, b, PART_POINTS).bytes, "points");
	point_into(m, b, PART_POINTS, room->at);
	if (!ops_failed(m->ops))
		upload(m, b, PART_POINTS, room->at);
}

void input_convert(struct model *m)
{
	const struct batch *in = &m->input;
	struct op_clip p = {.frames = in->n * m->config.num_frames,
	                    .plane = m->config.image_height * m->config.image_width,
	                    .samples = in->n * m->dims.audio_samples,
	                    .video = in->video,
	                    .sound = in->sound,
	                    .image = m->rooms.image.at,
	                    .audio = m->rooms.audio.at};

	m->ops->part = "input";
	if (in->video != NULL)
		m->ops->table->clip(m->ops, &p);
}

void input_free(struct model *m)
{
	struct batch_room *r = &m->rooms;
	struct buffer *rooms[] = {&r->block, &r->points, &r->image, &r->audio};

	for (size_t i = 0; i < ARRAY_LEN(rooms); i++)
		buffer_free(m->ops, rooms[i]);
}

#include "trainer/neuron/feed.h"

#include <stdlib.h>
#include <string.h>

#include "trainer/model/positions.h"

enum { COLOURS = 3 };

/* What a filler works on. */
struct batch_feed {
	const struct neuron_net *n;
	const struct batch *b;
	const struct loss_weights *w;
	double scale;
	size_t index;
	size_t values; /* of the input */
};

static void copy(float *to, const float *from, size_t n)
{
	memcpy(to, from, n * sizeof(*to));
}

static void audio(const struct batch_feed *f, void *to)
{
	copy(to, f->b->audio, f->values);
}

/* One patch of a frame, (dy, dx, colour). */
static void cut(const struct model_config *c, const float *frame, size_t y, size_t x, float *to)
{
	size_t side = c->spatial_downsample, width = c->image_width;

	for (size_t dy = 0; dy < side; dy++)
		for (size_t dx = 0; dx < side; dx++)
			for (size_t k = 0; k < COLOURS; k++)
				*to++ = frame[(k * c->image_height + y * side + dy) * width +
				              x * side + dx];
}

static void patches(const struct batch_feed *f, void *to)
{
	const struct model_config *c = &f->n->config;
	const struct model_dims *d = &f->n->dims;
	size_t frame = COLOURS * c->image_height * c->image_width;
	float *out = to;

	for (size_t i = 0; i < f->b->n * c->num_frames; i++)
		for (size_t y = 0; y < d->grid_h; y++)
			for (size_t x = 0; x < d->grid_w; x++, out += d->image_data)
				cut(c, f->b->image + i * frame, y, x, out);
}

static void labels(const struct batch_feed *f, void *to)
{
	size_t width = f->n->config.num_labels;
	float *out = to;

	memset(out, 0, f->values * sizeof(*out));
	for (size_t i = 0; i < f->b->n; i++)
		out[i * width + (size_t)f->b->label[i]] = 1;
}

static void mask(const struct batch_feed *f, void *to)
{
	const float *masks[MODALITIES] = {f->b->mask_audio, f->b->mask_image, f->b->mask_label};

	if (masks[f->index] != NULL)
		copy(to, masks[f->index], f->values);
	else
		memset(to, 0, f->values * sizeof(float));
}

/* A table of positions: its rows, its resolution, its bands. */
struct position_table {
	size_t n, resolution, bands;
};

static struct position_table encoder_table(const struct neuron_net *n, size_t which)
{
	const struct model_config *c = &n->config;
	const struct model_dims *d = &n->dims;
	const struct position_table tables[NEURON_POSITIONS] = {
		{d->n_audio, d->audio_samples, c->audio_num_bands},
		{c->num_frames, c->num_frames, c->image_num_bands},
		{d->grid_h, c->image_size, c->image_num_bands},
		{d->grid_w, c->image_size, c->image_num_bands}};

	return tables[which];
}

static void position(const struct batch_feed *f, void *to)
{
	struct position_table t = encoder_table(f->n, f->index);

	positions_encoder(t.n, t.resolution, t.bands, to);
}

/* The grid that a modality's points are counted in. */
struct point_grid {
	size_t ndim, bands, dim[3], resolution[3];
};

static struct point_grid grid_of(const struct neuron_net *n, enum modality m)
{
	const struct model_config *c = &n->config;

	if (m == AUDIO)
		return (struct point_grid){
			1, c->audio_num_bands, {n->dims.n_audio}, {n->dims.audio_samples}};
	return (struct point_grid){3,
	                           c->image_num_bands,
	                           {c->num_frames, c->image_height, c->image_width},
	                           {c->num_frames, c->image_size, c->image_size}};
}

/* The channels of a point; `row` has room for one dimension's. */
static void place(const struct point_grid *g, size_t point, float *row, float *to)
{
	const struct op_tokens like = {.ndim = g->ndim, .bands = g->bands};

	for (size_t d = g->ndim; d-- > 0; point /= g->dim[d]) {
		positions_decoder_row(point % g->dim[d], g->dim[d], g->resolution[d], g->bands,
		                      row);
		for (size_t c = 0; c < 1 + 2 * g->bands; c++)
			to[op_position_channel(&like, d, c)] = row[c];
	}
}

static void query(const struct batch_feed *f, void *to)
{
	struct point_grid g = grid_of(f->n, (enum modality)f->index);
	const int32_t *points = f->index == IMAGE ? f->b->out_image : f->b->out_audio;
	size_t n = f->index == IMAGE ? f->b->n_out_image : f->b->n_out_audio;
	AUTO_FREE float *row = mem_calloc(1 + 2 * g.bands, sizeof(*row));
	float *out = to;

	for (size_t i = 0; i < n; i++, out += g.ndim * (1 + 2 * g.bands))
		place(&g, (size_t)points[i], row, out);
}

static void image_target(const struct batch_feed *f, float *to)
{
	const struct model_config *c = &f->n->config;
	size_t plane = c->image_height * c->image_width;

	for (size_t i = 0; i < f->b->n; i++) {
		const float *clip = f->b->image + i * COLOURS * f->n->dims.n_pixels;

		for (size_t p = 0; p < f->b->n_out_image; p++) {
			size_t point = (size_t)f->b->out_image[p];

			for (size_t k = 0; k < COLOURS; k++)
				*to++ = clip[(point / plane * COLOURS + k) * plane + point % plane];
		}
	}
}

static void audio_target(const struct batch_feed *f, float *to)
{
	size_t n = f->n->config.samples_per_patch;

	for (size_t i = 0; i < f->b->n; i++)
		for (size_t p = 0; p < f->b->n_out_audio; p++, to += n)
			copy(to,
			     f->b->audio + i * f->n->dims.audio_samples +
			             (size_t)f->b->out_audio[p] * n,
			     n);
}

static void target(const struct batch_feed *f, void *to)
{
	(f->index == IMAGE ? image_target : audio_target)(f, to);
}

static void loss_weights(const struct batch_feed *f, void *to)
{
	const double of[MODALITIES] = {
		[AUDIO] = f->w->audio, [IMAGE] = f->w->image, [LABEL] = f->w->label};

	for (enum modality m = 0; m < MODALITIES; m++)
		((float *)to)[m] = (float)(of[m] * f->scale);
}

static void put_words(uint32_t *to, uint64_t value)
{
	to[0] = (uint32_t)value;
	to[1] = (uint32_t)(value >> 32);
}

static void seed(const struct batch_feed *f, void *to)
{
	put_words(to, f->b->dropout_seed);
}

static void sample(const struct batch_feed *f, void *to)
{
	for (size_t i = 0; i < f->b->n; i++)
		put_words((uint32_t *)to + 2 * i,
		          f->b->dropout_sample != NULL ? f->b->dropout_sample[i] : i);
}

static void counter(const struct batch_feed *f, void *to)
{
	for (size_t i = 0; i < f->values; i++)
		((uint32_t *)to)[i] = (uint32_t)i;
}

static const struct {
	void (*fill)(const struct batch_feed *f, void *to);
	bool changes;
} rows[NEURON_KINDS] = {
	[NEURON_AUDIO] = {audio, true},        [NEURON_PATCHES] = {patches, true},
	[NEURON_LABELS] = {labels, true},      [NEURON_MASK] = {mask, true},
	[NEURON_POSITION] = {position, false}, [NEURON_QUERY] = {query, true},
	[NEURON_TARGET] = {target, true},      [NEURON_LOSS_WEIGHTS] = {loss_weights, true},
	[NEURON_SEED] = {seed, true},          [NEURON_SAMPLE] = {sample, true},
	[NEURON_COUNTER] = {counter, false},
};

bool neuron_feeds(enum neuron_kind kind)
{
	return rows[kind].changes;
}

bool neuron_is_constant(enum neuron_kind kind)
{
	return rows[kind].fill != NULL && !rows[kind].changes;
}

void neuron_feed(const struct neuron_net *n, const struct neuron_value *v, const struct batch *b,
                 const struct loss_weights *w, double scale, void *to)
{
	struct batch_feed f = {.n = n,
	                       .b = b,
	                       .w = w,
	                       .scale = scale,
	                       .index = v->index,
	                       .values = hlo_elements(hlo_shape_of(&n->graph, v->value))};

	if (rows[v->kind].fill != NULL)
		rows[v->kind].fill(&f, to);
}

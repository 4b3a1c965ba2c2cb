#include "trainer/data/augment.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/ops/philox.h"

enum { COLOURS = 3, WINDOW_TRIES = 10 };

/* ---- what to do ---- */

enum draw_kind { DRAW_OFFSET, DRAW_CROP, DRAW_FLIP, DRAW_GAIN, DRAW_KINDS };

static struct philox draws_of(uint64_t seed, uint64_t sample, enum draw_kind kind)
{
	return philox_start(seed, STREAM_AUGMENT, sample * DRAW_KINDS + kind);
}

static uint32_t draw_offset(double share, uint32_t frames, struct philox random)
{
	return philox_uniform(&random) < share ? philox_below(&random, frames) : 0;
}

static uint32_t side_of(double share, uint32_t whole)
{
	long n = lround(share * whole);

	return n < 1 ? 1 : (uint32_t)n;
}

/* Leaves the whole frame when no window drawn fits into it. */
static void draw_window(double least, const struct clip_shape *shape, struct philox random,
                        struct augment *a)
{
	for (int i = 0; i < WINDOW_TRIES; i++) {
		double area = least + (1 - least) * philox_uniform(&random);
		double aspect = exp(log(AUGMENT_ASPECT) * (2 * philox_uniform(&random) - 1));
		double width = sqrt(area * aspect), height = sqrt(area / aspect);

		if (width > 1 || height > 1)
			continue;
		a->width = side_of(width, shape->width);
		a->height = side_of(height, shape->height);
		a->x = philox_below(&random, shape->width - a->width + 1);
		a->y = philox_below(&random, shape->height - a->height + 1);
		return;
	}
}

struct augment augment_draw(const struct augment_options *o, const struct clip_shape *shape,
                            uint64_t seed, uint64_t sample)
{
	struct philox flip = draws_of(seed, sample, DRAW_FLIP);
	struct philox gain = draws_of(seed, sample, DRAW_GAIN);
	struct augment a = {.width = shape->width, .height = shape->height};

	a.later = draw_offset(o->offset, shape->frames, draws_of(seed, sample, DRAW_OFFSET));
	if (o->crop > 0 && o->crop < 1)
		draw_window(o->crop, shape, draws_of(seed, sample, DRAW_CROP), &a);
	a.flip = philox_uniform(&flip) < o->flip;
	a.gain = pow(10, o->gain * (2 * philox_uniform(&gain) - 1) / 20);
	return a;
}

/* ---- pictures ---- */

/* Where a value comes from along one side: two places, and the share of the second. */
struct tap {
	uint32_t at, next;
	float share;
};

/* Pixel centres are at halves, so n places stretched to n are themselves. */
static void make_taps(uint32_t first, uint32_t n, uint32_t n_out, bool mirrored, struct tap *taps)
{
	for (uint32_t i = 0; i < n_out; i++) {
		double x = (i + 0.5) * n / n_out - 0.5;
		uint32_t low;

		x = x < 0 ? 0 : x > n - 1 ? n - 1 : x;
		low = (uint32_t)x;
		taps[mirrored ? n_out - 1 - i : i] = (struct tap){
			first + low, first + (low + 1 < n ? low + 1 : low), (float)(x - low)};
	}
}

static float between(float a, float b, float share)
{
	return a + share * (b - a);
}

struct stretch {
	uint32_t height, width;
	struct tap *rows, *columns;
	float *copy, *line; /* a plane, and a row of it */
};

static void stretch_plane(const struct stretch *s, float *plane)
{
	memcpy(s->copy, plane, sizeof(*plane) * s->height * s->width);
	for (uint32_t y = 0; y < s->height; y++) {
		const struct tap *row = &s->rows[y];
		const float *a = s->copy + (size_t)row->at * s->width;
		const float *b = s->copy + (size_t)row->next * s->width;
		float *out = plane + (size_t)y * s->width;

		for (uint32_t x = 0; x < s->width; x++)
			s->line[x] = between(a[x], b[x], row->share);
		for (uint32_t x = 0; x < s->width; x++) {
			const struct tap *t = &s->columns[x];

			out[x] = between(s->line[t->at], s->line[t->next], t->share);
		}
	}
}

static void stretch_clip(const struct augment *a, const struct clip_shape *shape, float *image)
{
	size_t plane = (size_t)shape->height * shape->width;
	AUTO_FREE struct tap *rows = mem_calloc(shape->height, sizeof(*rows));
	AUTO_FREE struct tap *columns = mem_calloc(shape->width, sizeof(*columns));
	AUTO_FREE float *copy = mem_calloc(plane, sizeof(*copy));
	AUTO_FREE float *line = mem_calloc(shape->width, sizeof(*line));
	struct stretch s = {shape->height, shape->width, rows, columns, copy, line};

	make_taps(a->y, a->height, shape->height, false, rows);
	make_taps(a->x, a->width, shape->width, a->flip, columns);
	for (size_t i = 0; i < (size_t)shape->frames * COLOURS; i++)
		stretch_plane(&s, image + i * plane);
}

/* ---- sound ---- */

static void amplify(double gain, float *audio, uint32_t n)
{
	float peak = 0;

	for (uint32_t i = 0; i < n; i++)
		peak = fmaxf(peak, fabsf(audio[i]));
	if (gain > 1 && gain * peak > 1)
		gain = fmax(1, 1 / (double)peak);
	for (uint32_t i = 0; i < n; i++)
		audio[i] *= (float)gain;
}

void augment_apply(const struct augment *a, const struct clip_shape *shape, float *image,
                   float *audio)
{
	if (a->flip || a->width < shape->width || a->height < shape->height)
		stretch_clip(a, shape, image);
	if (a->gain < 1 || a->gain > 1)
		amplify(a->gain, audio, shape->samples);
}

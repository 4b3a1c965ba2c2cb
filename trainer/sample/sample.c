#include "trainer/sample/sample.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "trainer/data/shard.h"
#include "trainer/sample/png.h"
#include "trainer/sample/wav.h"

enum { POINTS = 6144, GAP = 4, COLOURS = 3, SHEET_COLUMNS = 8 };

/* ---- decoding ---- */

static void place_pixels(const struct batch *b, const struct logits *l, size_t plane, float *image)
{
	for (size_t i = 0; i < b->n_out_image; i++) {
		size_t index = (size_t)b->out_image[i], t = index / plane, at = index % plane;

		for (size_t c = 0; c < COLOURS; c++)
			image[(t * COLOURS + c) * plane + at] = l->image[i * COLOURS + c];
	}
}

/* The points of *b, of the clip decoded before unless these are its first. */
static int decode_points(struct learner *l, const struct batch *b, bool first,
                         struct reconstruction *r, struct err *err)
{
	const struct model_config *c = learner_config(l);
	struct logits logits;

	if ((first ? learner_forward(l, b, &logits, err) : learner_decode(l, b, &logits, err)) != 0)
		return -1;
	if (first) {
		memcpy(r->audio, logits.audio, learner_dims(l)->audio_samples * sizeof(float));
		memcpy(r->label, logits.label, c->num_labels * sizeof(float));
	}
	place_pixels(b, &logits, c->image_height * c->image_width, r->image);
	return 0;
}

static struct reconstruction room_for(const struct learner *l)
{
	const struct model_dims *d = learner_dims(l);

	return (struct reconstruction){mem_calloc(d->n_pixels * COLOURS, sizeof(float)),
	                               mem_calloc(d->audio_samples, sizeof(float)),
	                               mem_calloc(learner_config(l)->num_labels, sizeof(float))};
}

int reconstruct(struct learner *l, const float *image, const float *audio, int32_t label,
                struct reconstruction *ret, struct err *err)
{
	const struct model_dims *d = learner_dims(l);
	AUTO_FREE int32_t *patches = mem_calloc(d->n_audio, sizeof(*patches));
	AUTO_FREE int32_t *pixels = mem_calloc(POINTS, sizeof(*pixels));
	struct reconstruction r = room_for(l);
	float hidden = 1;
	struct batch b = {.n = 1,
	                  .image = image,
	                  .audio = audio,
	                  .label = &label,
	                  .mask_label = &hidden,
	                  .out_image = pixels,
	                  .out_audio = patches,
	                  .n_out_audio = d->n_audio,
	                  .decode_label = true};

	for (size_t i = 0; i < d->n_audio; i++)
		patches[i] = (int32_t)i;
	for (size_t first = 0; first < d->n_pixels; first += POINTS) {
		b.n_out_image = d->n_pixels - first < POINTS ? d->n_pixels - first : POINTS;
		for (size_t i = 0; i < b.n_out_image; i++)
			pixels[i] = (int32_t)(first + i);
		if (decode_points(l, &b, first == 0, &r, err) != 0) {
			reconstruction_done(&r);
			return -1;
		}
		b.n_out_audio = 0;
		b.decode_label = false;
	}
	*ret = r;
	return 0;
}

void reconstruction_done(struct reconstruction *r)
{
	free(r->image);
	free(r->audio);
	free(r->label);
	*r = (struct reconstruction){0};
}

/* ---- pictures ---- */

struct canvas {
	uint32_t height, width;
	uint8_t *rgb;
};

static struct canvas canvas_new(size_t height, size_t width)
{
	struct canvas c = {(uint32_t)height, (uint32_t)width, mem_zalloc(height * width * COLOURS)};

	memset(c.rgb, 255, height * width * COLOURS);
	return c;
}

/* One frame [3][H][W] at (top, left). */
static void paint(struct canvas *c, const float *frame, const struct model_config *config,
                  size_t top, size_t left)
{
	size_t height = config->image_height, width = config->image_width;

	for (size_t y = 0; y < height; y++)
		for (size_t x = 0; x < width; x++)
			for (size_t k = 0; k < COLOURS; k++) {
				float v = frame[(k * height + y) * width + x];

				v = v > 1 ? 1 : v > 0 ? v : 0;
				c->rgb[((top + y) * c->width + left + x) * COLOURS + k] =
					(uint8_t)lrintf(v * 255);
			}
}

static int write_canvas(const struct canvas *c, const char *folder, const char *name,
                        struct err *err)
{
	AUTO(strbuf) struct strbuf png = STRBUF_INIT(0);
	char path[PATH_MAX];

	png_encode(&png, c->rgb, c->height, c->width);
	if (fs_join(path, folder, name, err) != 0)
		return -1;
	return fs_write_file(path, png.ptr, png.len, 0644, err);
}

static int write_frames(const char *folder, const struct model_config *c, const float *image,
                        const struct reconstruction *r, struct err *err)
{
	size_t frame = COLOURS * c->image_height * c->image_width;
	int rc = 0;

	for (size_t t = 0; t < c->num_frames && rc == 0; t++) {
		struct canvas canvas = canvas_new(c->image_height, 2 * c->image_width + GAP);
		char name[32];

		paint(&canvas, image + t * frame, c, 0, 0);
		paint(&canvas, r->image + t * frame, c, 0, c->image_width + GAP);
		snprintf(name, sizeof(name), "frame-%03zu.png", t);
		rc = write_canvas(&canvas, folder, name, err);
		free(canvas.rgb);
	}
	return rc;
}

/* Rows of frames: inputs, and below each its reconstruction. */
static int write_sheet(const char *folder, const struct model_config *c, const float *image,
                       const struct reconstruction *r, struct err *err)
{
	size_t frame = COLOURS * c->image_height * c->image_width, h = c->image_height + GAP;
	size_t columns = c->num_frames < SHEET_COLUMNS ? c->num_frames : SHEET_COLUMNS;
	size_t rows = (c->num_frames + columns - 1) / columns, w = c->image_width + GAP;
	struct canvas canvas = canvas_new(2 * rows * h, columns * w);
	int rc;

	for (size_t t = 0; t < c->num_frames; t++) {
		size_t top = 2 * (t / columns) * h, left = t % columns * w;

		paint(&canvas, image + t * frame, c, top, left);
		paint(&canvas, r->image + t * frame, c, top + h, left);
	}
	rc = write_canvas(&canvas, folder, "frames.png", err);
	free(canvas.rgb);
	return rc;
}

static int write_sound(const char *folder, const char *name, const struct model_config *c,
                       const float *audio, struct err *err)
{
	AUTO(strbuf) struct strbuf wav = STRBUF_INIT(0);
	char path[PATH_MAX];

	wav_encode(&wav, audio, c->num_frames * c->audio_samples_per_frame,
	           (uint32_t)(c->audio_samples_per_frame * SHARD_FPS));
	if (fs_join(path, folder, name, err) != 0)
		return -1;
	return fs_write_file(path, wav.ptr, wav.len, 0644, err);
}

int reconstruction_write(const char *folder, const struct model_config *c, const float *image,
                         const float *audio, const struct reconstruction *r, struct err *err)
{
	if (fs_mkdirs(folder, err) != 0 || write_frames(folder, c, image, r, err) != 0 ||
	    write_sheet(folder, c, image, r, err) != 0 ||
	    write_sound(folder, "input.wav", c, audio, err) != 0)
		return -1;
	return write_sound(folder, "reconstruction.wav", c, r->audio, err);
}

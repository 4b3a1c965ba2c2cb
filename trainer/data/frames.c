#include "trainer/data/frames.h"

#include <string.h>

#include "trainer/data/le.h"

enum { COLOURS = 3 };

/* Rows of RGB bytes to planes of floats. */
static void spread_picture(const uint8_t *in, size_t plane, float *out)
{
	for (size_t i = 0; i < plane; i++) {
		out[i] = (float)in[3 * i] * (1.0f / 255.0f);
		out[plane + i] = (float)in[3 * i + 1] * (1.0f / 255.0f);
		out[2 * plane + i] = (float)in[3 * i + 2] * (1.0f / 255.0f);
	}
}

void frames_spread(const struct clip_shape *shape, const struct clip_view *clip, uint32_t from,
                   uint32_t n, uint32_t to, float *image, float *audio)
{
	size_t plane = (size_t)shape->height * shape->width;
	size_t each = shape->samples / shape->frames;
	const unsigned char *sound = clip->audio + 2 * from * each;

	for (size_t t = 0; t < n; t++)
		spread_picture(clip->video + (from + t) * plane * COLOURS, plane,
		               image + (to + t) * plane * COLOURS);
	for (size_t i = 0; i < n * each; i++)
		audio[to * each + i] = (float)(int16_t)le16_get(sound + 2 * i) * (1.0f / 32768.0f);
}

void frames_copy(const struct clip_shape *shape, const struct clip_view *clip, uint32_t from,
                 uint32_t n, uint32_t to, uint8_t *video, int16_t *sound)
{
	size_t frame = (size_t)shape->height * shape->width * COLOURS;
	size_t each = shape->samples / shape->frames;
	const unsigned char *in = clip->audio + 2 * from * each;

	memcpy(video + to * frame, clip->video + from * frame, n * frame);
	for (size_t i = 0; i < n * each; i++)
		sound[to * each + i] = (int16_t)le16_get(in + 2 * i);
}

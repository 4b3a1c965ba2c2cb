/* A clip's bytes to the numbers that the model takes. */
#include "trainer/cuda/kernels/device.h"
#include "trainer/cuda/kernels/entries.h"

enum { COLOURS = 3 };

void clip_video(struct clip_launch p)
{
	uint64_t stride = (uint64_t)grid_x() * EACH_THREADS;
	const uint8_t *in = p.bytes;

	for (uint64_t i = (uint64_t)block_x() * EACH_THREADS + thread_index(); i < p.n;
	     i += stride) {
		uint64_t frame = i / (COLOURS * p.plane), rest = i % (COLOURS * p.plane);
		uint64_t colour = rest / p.plane, at = frame * p.plane + rest % p.plane;

		p.out[i] = (float)in[COLOURS * at + colour] * (1.0f / 255.0f);
	}
}

/* The two bytes of a sample, the lower first, are the upper half of a number with its sign: both
 * that and its part of 2^31 are exact, so it is the sample's part of 2^15. */
void clip_sound(struct clip_launch p)
{
	uint64_t stride = (uint64_t)grid_x() * EACH_THREADS;
	const uint8_t *in = p.bytes;

	for (uint64_t i = (uint64_t)block_x() * EACH_THREADS + thread_index(); i < p.n;
	     i += stride) {
		uint32_t upper = (uint32_t)in[2 * i] << 16 | (uint32_t)in[2 * i + 1] << 24;

		p.out[i] = (float)(int32_t)upper * 0x1p-31f;
	}
}

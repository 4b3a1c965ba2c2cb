#include "trainer/train/draw.h"

#include "trainer/ops/philox.h"

void draw_points(uint64_t seed, uint64_t index, size_t limit, int32_t *out, size_t n)
{
	struct philox random = philox_start(seed, STREAM_POINTS, index);

	for (size_t i = 0; i < n; i++)
		out[i] = (int32_t)philox_below(&random, (uint32_t)limit);
}

void draw_mask(uint64_t seed, uint64_t sample, unsigned kind, double p, float *mask, size_t n)
{
	struct philox random = philox_start(seed, STREAM_MASK, sample * 4 + kind);

	for (size_t i = 0; i < n; i++)
		mask[i] = p > 0 && philox_uniform(&random) < p ? 1.0f : 0.0f;
}

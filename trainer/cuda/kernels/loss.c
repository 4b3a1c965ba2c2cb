/* The losses and their derivatives by the logits; sums in double, as on the CPU. */
#include "trainer/cuda/kernels/block_sum.h"
#include "trainer/cuda/kernels/entries.h"
#include "trainer/cuda/kernels/values.h"

INLINE float target_of(const struct absolute_launch *p, uint64_t i)
{
	uint32_t channel = (uint32_t)(i % p->channels);
	uint64_t row = i / p->channels, clip = row / p->n_points;
	uint32_t point = (uint32_t)p->points[row % p->n_points];

	return p->target[clip * p->clip_stride +
	                 (uint64_t)(point / p->plane * p->channels + channel) * p->plane +
	                 point % p->plane];
}

void absolute_loss(struct absolute_launch p)
{
	SHARED struct loss_shared *s = SHARED_AS(struct loss_shared);
	uint64_t i = (uint64_t)block_x() * EACH_THREADS + thread_index();
	double difference = 0, target = 0;

	if (i < p.n) {
		target = target_of(&p, i);
		difference = p.x[i] - target;
		if (p.d != NULL)
			p.d[i] = difference > 0 ? p.factor : difference < 0 ? -p.factor : 0.0f;
	}
	if (p.partial == NULL)
		return;
	block_sum_begin(s, 0, difference < 0 ? -difference : difference);
	block_sum_begin(s, 1, difference * difference);
	block_sum_begin(s, 2, target * target);
	block_sync();
	if (thread_index() < 3)
		p.partial[(size_t)block_x() * 3 + thread_index()] =
			block_sum_end(s, thread_index());
}

INLINE float warp_largest(float value)
{
	for (unsigned mask = WARP / 2; mask > 0; mask /= 2)
		value = larger(value, warp_xor(value, mask));
	return value;
}

void entropy(struct entropy_launch p)
{
	uint32_t row = block_x() * ROW_WARPS + warp_index();
	const float *x = p.x + (size_t)row * p.width;
	float sum = 0, before = 0;

	if (row >= p.rows)
		return;
	uint32_t label = (uint32_t)p.label[row];
	float right = x[label], largest = right;

	for (uint32_t i = lane_index(); i < p.width; i += WARP)
		largest = larger(largest, x[i]);
	largest = warp_largest(largest);
	for (uint32_t i = lane_index(); i < p.width; i += WARP) {
		sum += exponential(x[i] - largest);
		before += x[i] > right || (i < label && !(x[i] < right)) ? 1.0f : 0.0f;
	}
	sum = warp_sum(sum);
	before = warp_sum(before);
	for (uint32_t i = lane_index(); p.d != NULL && i < p.width; i += WARP)
		p.d[(size_t)row * p.width + i] =
			p.factor * (exponential(x[i] - largest) / sum - (i == label ? 1.0f : 0.0f));
	if (lane_index() == 0 && p.partial != NULL) {
		double *to = p.partial + (size_t)row * 3;

		to[0] = (double)log2_fast(sum) * 0.6931471805599453 + largest - right;
		to[1] = before < 1 ? 1.0 : 0.0;
		to[2] = before < 5 ? 1.0 : 0.0;
	}
}

/* Values one by one. A thread takes every (threads of the grid)th, so any number of blocks will
 * do. */
#include "trainer/cuda/kernels/entries.h"
#include "trainer/cuda/kernels/values.h"

INLINE uint64_t first_value(void)
{
	return (uint64_t)block_x() * EACH_THREADS + thread_index();
}

INLINE uint64_t stride_of_grid(void)
{
	return (uint64_t)grid_x() * EACH_THREADS;
}

void gelu_forward(struct gelu_launch p)
{
	for (uint64_t i = first_value(); i < p.n; i += stride_of_grid())
		p.out[i] = gelu_value(p.x[i], p.form);
}

void gelu_backward(struct gelu_launch p)
{
	for (uint64_t i = first_value(); i < p.n; i += stride_of_grid())
		p.out[i] = p.dy[i] * gelu_slope(p.x[i], p.form);
}

void average(struct average_launch p)
{
	float weight = p.terms->average;

	if (p.terms->goes == 0)
		return;
	for (uint64_t i = first_value(); i < p.n; i += stride_of_grid())
		p.a[i] = weight == 1 ? p.b[i] : fused(weight, p.b[i] - p.a[i], p.a[i]);
}

void exchange(struct exchange_launch p)
{
	for (uint64_t i = first_value(); i < p.n; i += stride_of_grid()) {
		float kept = p.a[i];

		p.a[i] = p.b[i];
		p.b[i] = kept;
	}
}

void onehot(struct onehot_launch p)
{
	for (uint64_t i = first_value(); i < p.n; i += stride_of_grid())
		p.out[i] = i % p.width == (uint32_t)p.label[i / p.width] ? 1.0f : 0.0f;
}

void repeat(struct repeat_launch p)
{
	for (uint64_t i = first_value(); i < p.n; i += stride_of_grid())
		for (uint64_t copy = 0; copy < p.copies; copy++)
			p.out[copy * p.n + i] = p.x[i];
}

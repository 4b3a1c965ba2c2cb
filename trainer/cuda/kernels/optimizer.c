/*
 * The update of all weights in one launch: a set of tensors is one array. Each value takes the
 * roundings that trainer/train/optimizer.c takes where the compiler fuses nothing.
 */
#include "trainer/cuda/kernels/block_sum.h"
#include "trainer/cuda/kernels/entries.h"

void sgd(struct sgd_launch p)
{
	uint64_t stride = (uint64_t)grid_x() * EACH_THREADS;

	for (uint64_t i = (uint64_t)block_x() * EACH_THREADS + thread_index(); i < p.n;
	     i += stride) {
		float grad = fused(p.scale, p.g[i], p.decay * p.p[i]);
		float m = fused(p.momentum, p.m[i], grad);

		p.m[i] = m;
		p.p[i] = fused(-p.lr, m, p.p[i]);
	}
}

void adamw(struct adamw_launch p)
{
	uint64_t stride = (uint64_t)grid_x() * EACH_THREADS;
	float kept = 1.0f - p.lr * p.decay;

	for (uint64_t i = (uint64_t)block_x() * EACH_THREADS + thread_index(); i < p.n;
	     i += stride) {
		float grad = p.scale * p.g[i];
		float m = fused(p.beta1, p.m[i], (1.0f - p.beta1) * grad);
		float v = fused(p.beta2, p.v[i], (1.0f - p.beta2) * grad * grad);

		p.m[i] = m;
		p.v[i] = v;
		p.p[i] = p.p[i] * kept - p.lr * (m * p.correct1) / (root(v * p.correct2) + p.eps);
	}
}

/* The block's part of a sum over all values. */
INLINE void write_total(const struct total_launch *p, double sum)
{
	SHARED struct loss_shared *s = SHARED_AS(struct loss_shared);

	block_sum_begin(s, 0, sum);
	block_sync();
	if (thread_index() == 0)
		p->partial[block_x()] = block_sum_end(s, 0);
}

void sum_squares(struct total_launch p)
{
	double sum = 0;

	for (uint64_t i = (uint64_t)block_x() * EACH_THREADS + thread_index(); i < p.n;
	     i += (uint64_t)SUM_BLOCKS * EACH_THREADS)
		sum += (double)p.x[i] * p.x[i];
	write_total(&p, sum);
}

void count_bad(struct total_launch p)
{
	double bad = 0;

	for (uint64_t i = (uint64_t)block_x() * EACH_THREADS + thread_index(); i < p.n;
	     i += (uint64_t)SUM_BLOCKS * EACH_THREADS)
		bad += p.x[i] - p.x[i] == 0 ? 0.0 : 1.0;
	write_total(&p, bad);
}

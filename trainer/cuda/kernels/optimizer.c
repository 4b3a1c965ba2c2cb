/*
 * The update of all weights in one launch: a set of tensors is one array. Each value takes the
 * roundings that trainer/train/optimizer.c takes where the compiler fuses nothing.
 */
#include "trainer/cuda/kernels/block_sum.h"
#include "trainer/cuda/kernels/entries.h"

INLINE bool is_finite(double x)
{
	return x - x == 0;
}

void vote(struct vote_launch p)
{
	bool fine = p.terms->barred == 0;

	if (thread_index() > 0)
		return;
	for (uint64_t i = 0; i < p.n; i++)
		fine = fine && is_finite(p.figures[i]);
	p.terms->vote = fine ? 0.0f : 1.0f;
}

void judge(struct judge_launch p)
{
	struct update_terms t = *p.terms;
	double norm = root_double(*p.squares) * t.unscale, clip = t.max_norm / (norm + 1e-6);
	bool goes = t.vote == 0 && is_finite(norm) && norm <= t.limit;

	if (thread_index() > 0)
		return;
	p.terms->goes = goes ? 1 : 0;
	p.terms->scale = (float)((t.max_norm > 0 && clip < 1 ? clip : 1) * t.unscale);
	*p.norm = norm;
	*p.goes = goes ? 1.0 : 0.0;
}

void sgd(struct sgd_launch p)
{
	struct update_terms t = *p.terms;
	uint64_t stride = (uint64_t)grid_x() * EACH_THREADS;

	if (t.goes == 0)
		return;
	for (uint64_t i = (uint64_t)block_x() * EACH_THREADS + thread_index(); i < p.n;
	     i += stride) {
		float grad = fused(t.scale, p.g[i], p.decay * p.p[i]);
		float m = fused(p.momentum, p.m[i], grad);

		p.m[i] = m;
		p.p[i] = fused(-t.lr, m, p.p[i]);
	}
}

void adamw(struct adamw_launch p)
{
	struct update_terms t = *p.terms;
	uint64_t stride = (uint64_t)grid_x() * EACH_THREADS;
	float kept = 1.0f - t.lr * p.decay;

	if (t.goes == 0)
		return;
	for (uint64_t i = (uint64_t)block_x() * EACH_THREADS + thread_index(); i < p.n;
	     i += stride) {
		float grad = t.scale * p.g[i];
		float m = fused(p.beta1, p.m[i], (1.0f - p.beta1) * grad);
		float v = fused(p.beta2, p.v[i], (1.0f - p.beta2) * grad * grad);

		p.m[i] = m;
		p.v[i] = v;
		p.p[i] = p.p[i] * kept - t.lr * (m * t.correct1) / (root(v * t.correct2) + p.eps);
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

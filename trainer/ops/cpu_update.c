/* Passes over whole sets of tensors. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/ops/cpu.h"
#include "trainer/ops/threads.h"

void cpu_vote(struct ops *ops, const struct op_vote *p)
{
	bool fine = p->terms->barred == 0;

	(void)ops;
	for (size_t i = 0; i < p->n; i++)
		fine = fine && isfinite(p->figures[i]);
	p->terms->vote = fine ? 0.0f : 1.0f;
}

void cpu_judge(struct ops *ops, const struct op_judge *p)
{
	struct op_terms *t = p->terms;
	double norm = sqrt(*p->squares) * t->unscale, clip = t->max_norm / (norm + 1e-6);

	(void)ops;
	t->goes = t->vote == 0 && isfinite(norm) && norm <= t->limit;
	t->scale = (float)((t->max_norm > 0 && clip < 1 ? clip : 1) * t->unscale);
	*p->norm = norm;
	*p->goes = t->goes;
}

/* Values per task: a fixed cut, so that sums do not depend on the number of threads. */
enum { CHUNK = 1 << 15, LANES = 8 };

static size_t chunks(size_t n)
{
	return (n + CHUNK - 1) / CHUNK;
}

static size_t chunk_end(size_t n, size_t i)
{
	return (i + 1) * CHUNK < n ? (i + 1) * CHUNK : n;
}

static void sgd_chunk(void *ctx, size_t i, unsigned worker)
{
	const struct op_update *u = ctx;
	float *restrict p = u->p, *restrict m = u->m;
	const float *restrict g = u->g;
	struct op_terms t = *u->terms;

	(void)worker;
	for (size_t k = i * CHUNK; k < chunk_end(u->n, i); k++) {
		m[k] = u->momentum * m[k] + (t.scale * g[k] + u->decay * p[k]);
		p[k] -= t.lr * m[k];
	}
}

void cpu_sgd(struct ops *ops, const struct op_update *p)
{
	struct op_update task = *p;

	if (p->terms->goes != 0)
		threads_run(cpu_of(ops)->threads, chunks(p->n), sgd_chunk, &task);
}

static void adamw_chunk(void *ctx, size_t i, unsigned worker)
{
	const struct op_update *u = ctx;
	float *restrict p = u->p, *restrict m = u->m, *restrict v = u->v;
	const float *restrict g = u->g;
	struct op_update c = *u;
	struct op_terms t = *u->terms;

	(void)worker;
	for (size_t k = i * CHUNK, end = chunk_end(u->n, i); k < end; k++) {
		float grad = t.scale * g[k];

		m[k] = c.beta1 * m[k] + (1 - c.beta1) * grad;
		v[k] = c.beta2 * v[k] + (1 - c.beta2) * grad * grad;
		p[k] = p[k] * (1 - t.lr * c.decay) -
		       t.lr * (m[k] * t.correct1) / (sqrtf(v[k] * t.correct2) + c.eps);
	}
}

void cpu_adamw(struct ops *ops, const struct op_update *p)
{
	struct op_update task = *p;

	if (p->terms->goes != 0)
		threads_run(cpu_of(ops)->threads, chunks(p->n), adamw_chunk, &task);
}

static void average_chunk(void *ctx, size_t i, unsigned worker)
{
	const struct op_average *p = ctx;
	float *restrict a = p->a;
	const float *restrict b = p->b;
	float weight = p->terms->average;

	(void)worker;
	for (size_t k = i * CHUNK, end = chunk_end(p->n, i); k < end; k++)
		a[k] += weight * (b[k] - a[k]);
}

void cpu_average(struct ops *ops, const struct op_average *p)
{
	struct op_average task = *p;

	if (p->terms->goes == 0)
		return;
	/* a + (b - a) need not be b. */
	if (p->terms->average == 1)
		memmove(p->a, p->b, p->n * sizeof(*p->a));
	else
		threads_run(cpu_of(ops)->threads, chunks(p->n), average_chunk, &task);
}

static void exchange_chunk(void *ctx, size_t i, unsigned worker)
{
	const struct op_exchange *p = ctx;
	float *restrict a = p->a, *restrict b = p->b;

	(void)worker;
	for (size_t k = i * CHUNK, end = chunk_end(p->n, i); k < end; k++) {
		float kept = a[k];

		a[k] = b[k];
		b[k] = kept;
	}
}

void cpu_exchange(struct ops *ops, const struct op_exchange *p)
{
	struct op_exchange task = *p;

	threads_run(cpu_of(ops)->threads, chunks(p->n), exchange_chunk, &task);
}

/* ---- sums ---- */

struct summing {
	const float *x;
	size_t n;
	double *sums; /* of the chunks */
};

static void squares_chunk(void *ctx, size_t i, unsigned worker)
{
	const struct summing *s = ctx;
	double sum[LANES] = {0};
	size_t end = chunk_end(s->n, i);

	(void)worker;
	for (size_t k = i * CHUNK; k < end; k += LANES) /* n is a multiple of 16 */
		for (size_t lane = 0; lane < LANES; lane++)
			sum[lane] += (double)s->x[k + lane] * s->x[k + lane];
	for (size_t lane = 0; lane < LANES; lane++)
		s->sums[i] += sum[lane];
}

static void bad_chunk(void *ctx, size_t i, unsigned worker)
{
	const struct summing *s = ctx;
	size_t bad = 0;

	(void)worker;
	for (size_t k = i * CHUNK, end = chunk_end(s->n, i); k < end; k++)
		bad += isfinite(s->x[k]) ? 0 : 1;
	s->sums[i] = (double)bad;
}

/* The chunks' sums, added up in their order. */
static double sum_chunks(struct ops *ops, const float *x, size_t n,
                         void (*task)(void *ctx, size_t i, unsigned worker))
{
	AUTO_FREE double *sums = mem_calloc(chunks(n), sizeof(sums[0]));
	struct summing s = {x, n, sums};
	double total = 0;

	threads_run(cpu_of(ops)->threads, chunks(n), task, &s);
	for (size_t i = 0; i < chunks(n); i++)
		total += sums[i];
	return total;
}

void cpu_sum_squares(struct ops *ops, const struct op_sum_squares *p)
{
	*p->sum = sum_chunks(ops, p->x, p->n, squares_chunk);
}

void cpu_count_bad(struct ops *ops, const struct op_count_bad *p)
{
	*p->count = sum_chunks(ops, p->x, p->n, bad_chunk);
}

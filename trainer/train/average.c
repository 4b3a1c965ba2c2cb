#include "trainer/train/average.h"

#include "trainer/ops/threads.h"

enum { CHUNK = 1 << 15 }; /* values per task */

struct pair {
	float *restrict a, *restrict b;
	size_t n;
	float weight; /* of b */
};

static size_t chunk_end(const struct pair *p, size_t i)
{
	return (i + 1) * CHUNK < p->n ? (i + 1) * CHUNK : p->n;
}

static void update_chunk(void *ctx, size_t i, unsigned worker)
{
	const struct pair *p = ctx;
	float *restrict a = p->a;
	const float *restrict b = p->b;
	float weight = p->weight;

	(void)worker;
	for (size_t k = i * CHUNK, end = chunk_end(p, i); k < end; k++)
		a[k] += weight * (b[k] - a[k]);
}

static void copy_chunk(void *ctx, size_t i, unsigned worker)
{
	const struct pair *p = ctx;

	(void)worker;
	for (size_t k = i * CHUNK, end = chunk_end(p, i); k < end; k++)
		p->a[k] = p->b[k];
}

static void exchange_chunk(void *ctx, size_t i, unsigned worker)
{
	const struct pair *p = ctx;

	(void)worker;
	for (size_t k = i * CHUNK, end = chunk_end(p, i); k < end; k++) {
		float kept = p->a[k];

		p->a[k] = p->b[k];
		p->b[k] = kept;
	}
}

static size_t chunks(const struct pair *p)
{
	return (p->n + CHUNK - 1) / CHUNK;
}

double average_decay(double decay, uint64_t t)
{
	double ramp = t == 0 ? 0 : (1 + (double)t) / (10 + (double)t);

	return ramp < decay ? ramp : decay;
}

void average_update(struct tensors *average, const struct tensors *weights, double d,
                    struct threads *threads)
{
	struct pair p = {average->data, weights->data, weights->n_values, (float)(1 - d)};

	/* a + (b - a) need not be b. */
	threads_run(threads, chunks(&p), d == 0 ? copy_chunk : update_chunk, &p);
}

void average_exchange(struct tensors *a, struct tensors *b, struct threads *threads)
{
	struct pair p = {a->data, b->data, a->n_values, 0};

	threads_run(threads, chunks(&p), exchange_chunk, &p);
}

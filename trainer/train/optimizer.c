#include "trainer/train/optimizer.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/ops/threads.h"
#include "trainer/train/average.h"

/* Values per task: a fixed cut, so that sums do not depend on the number of threads. */
enum { CHUNK = 1 << 15 };

void optimizer_init(struct optimizer *o, const struct optimizer_options *options,
                    const struct tensors *params)
{
	*o = (struct optimizer){.options = *options};
	tensors_like(params, &o->m);
	if (options->kind == OPTIMIZER_ADAMW)
		tensors_like(params, &o->v);
	if (options->ema_decay > 0)
		tensors_like(params, &o->average);
}

void optimizer_done(struct optimizer *o)
{
	tensors_done(&o->m);
	tensors_done(&o->v);
	tensors_done(&o->average);
}

struct update {
	float *restrict p, *restrict m, *restrict v;
	const float *restrict g;
	size_t n;
	float scale, lr, decay, momentum, beta1, beta2, eps, correct1, correct2;
	double *sums;
};

static size_t chunk_end(const struct update *u, size_t i)
{
	return (i + 1) * CHUNK < u->n ? (i + 1) * CHUNK : u->n;
}

static void sgd_chunk(void *ctx, size_t i, unsigned worker)
{
	const struct update *u = ctx;
	float *restrict p = u->p, *restrict m = u->m;
	const float *restrict g = u->g;

	(void)worker;
	for (size_t k = i * CHUNK; k < chunk_end(u, i); k++) {
		m[k] = u->momentum * m[k] + (u->scale * g[k] + u->decay * p[k]);
		p[k] -= u->lr * m[k];
	}
}

static void adamw_chunk(void *ctx, size_t i, unsigned worker)
{
	const struct update *u = ctx;
	float *restrict p = u->p, *restrict m = u->m, *restrict v = u->v;
	const float *restrict g = u->g;
	struct update c = *u;

	(void)worker;
	for (size_t k = i * CHUNK, end = chunk_end(u, i); k < end; k++) {
		float grad = c.scale * g[k];

		m[k] = c.beta1 * m[k] + (1 - c.beta1) * grad;
		v[k] = c.beta2 * v[k] + (1 - c.beta2) * grad * grad;
		p[k] = p[k] * (1 - c.lr * c.decay) -
		       c.lr * (m[k] * c.correct1) / (sqrtf(v[k] * c.correct2) + c.eps);
	}
}

static void change_weights(struct optimizer *o, struct tensors *params, const struct tensors *grads,
                           double lr, double scale, struct threads *threads)
{
	const struct optimizer_options *q = &o->options;
	double t = (double)++o->steps;
	struct update u = {.p = params->data,
	                   .m = o->m.data,
	                   .v = o->v.data,
	                   .g = grads->data,
	                   .n = params->n_values,
	                   .scale = (float)scale,
	                   .lr = (float)lr,
	                   .decay = (float)q->weight_decay,
	                   .momentum = (float)q->momentum,
	                   .beta1 = (float)q->beta1,
	                   .beta2 = (float)q->beta2,
	                   .eps = (float)q->eps};
	size_t chunks = (u.n + CHUNK - 1) / CHUNK;

	if (q->kind == OPTIMIZER_SGD) {
		threads_run(threads, chunks, sgd_chunk, &u);
		return;
	}
	u.correct1 = (float)(1 / (1 - pow(q->beta1, t)));
	u.correct2 = (float)(1 / (1 - pow(q->beta2, t)));
	threads_run(threads, chunks, adamw_chunk, &u);
}

void optimizer_step(struct optimizer *o, struct tensors *params, const struct tensors *grads,
                    double lr, double scale, struct threads *threads)
{
	change_weights(o, params, grads, lr, scale, threads);
	if (o->average.data == NULL)
		return;
	average_update(&o->average, params, average_decay(o->options.ema_decay, o->averaged),
	               threads);
	o->averaged++;
}

static void norm_chunk(void *ctx, size_t i, unsigned worker)
{
	const struct update *u = ctx;
	double sum[8] = {0};
	size_t begin = i * CHUNK, end = chunk_end(u, i);

	(void)worker;
	for (size_t k = begin; k < end; k += 8) /* sets are padded to 16 values */
		for (size_t lane = 0; lane < 8; lane++)
			sum[lane] += (double)u->g[k + lane] * u->g[k + lane];
	for (size_t lane = 0; lane < 8; lane++)
		u->sums[i] += sum[lane];
}

double grads_norm(const struct tensors *grads, struct threads *threads)
{
	size_t chunks = (grads->n_values + CHUNK - 1) / CHUNK;
	AUTO_FREE double *sums = mem_calloc(chunks, sizeof(sums[0]));
	struct update u = {.g = grads->data, .n = grads->n_values, .sums = sums};
	double total = 0;

	threads_run(threads, chunks, norm_chunk, &u);
	for (size_t i = 0; i < chunks; i++)
		total += sums[i];
	return sqrt(total);
}

double clip_scale(double norm, double max_norm)
{
	double scale = max_norm / (norm + 1e-6);

	return max_norm > 0 && scale < 1 ? scale : 1;
}

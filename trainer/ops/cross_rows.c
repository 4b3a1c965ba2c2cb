/*
 * Passes over the latents' rows between the products and the sweeps of the folded cross attention,
 * by all threads: what goes row by row in tasks of some rows, what is summed over the rows in tasks
 * of some columns, always in the rows' order.
 */
#include "trainer/ops/cross_rows.h"

#include <math.h>

#include "trainer/ops/threads.h"

enum {
	ROWS = 16,   /* rows of a task */
	COLUMNS = 32 /* columns of a task that sums over rows */
};

struct row_pass {
	const struct op_cross *p;
	struct folded *f;
	size_t rows;
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static struct row_pass pass_of(const struct op_cross *p)
{
	return (struct row_pass){p, p->state, p->batch * p->nq};
}

static void by_rows(struct cpu *ops, struct row_pass *r,
                    void (*task)(void *ctx, size_t i, unsigned worker))
{
	threads_run(ops->threads, (r->rows + ROWS - 1) / ROWS, task, r);
}

static void by_columns(struct cpu *ops, struct row_pass *r, size_t columns,
                       void (*task)(void *ctx, size_t i, unsigned worker))
{
	threads_run(ops->threads, (columns + COLUMNS - 1) / COLUMNS, task, r);
}

/* The place of row i of [batch, nq] among [batch, blocks, nr]. */
static size_t lane_of(const struct row_pass *r, size_t i)
{
	return i / r->p->nq * r->f->blocks * r->f->kernels->nr + i % r->p->nq;
}

/* R of row i: exactly 1 without dropout. */
static float kept_of(const struct row_pass *r, size_t i)
{
	return r->p->dropout.p == 0 ? 1 : r->f->kept[lane_of(r, i)];
}

/* ---- queries --------------------------------------------------------------------------------- */

static void fold_block(void *ctx, size_t block, unsigned worker)
{
	const struct row_pass *r = ctx;
	const struct op_cross *p = r->p;
	size_t c = p->channels, nr = r->f->kernels->nr, valid = least(nr, p->nq - block * nr);
	float *t = r->f->t + block * nr * c, *panel = r->f->q + block * nr * c;
	float s = 1 / sqrtf((float)p->qk);

	(void)worker;
	for (size_t i = 0; i < valid * c; i++)
		t[i] *= s;
	r->f->kernels->f32.pack(c, valid, t, 1, c, panel);
	for (size_t k = 0; k < c; k++)
		for (size_t i = 0; i < nr; i++)
			panel[k * nr + i] *= p->gain[k];
}

void cross_fold_queries(struct cpu *ops, const struct op_cross *p)
{
	struct row_pass r = pass_of(p);

	threads_run(ops->threads, r.f->blocks, fold_block, &r);
}

static void query_gain(void *ctx, size_t i, unsigned worker)
{
	const struct row_pass *r = ctx;
	const struct op_cross *p = r->p;
	size_t c = p->channels, from = i * COLUMNS, n = least(COLUMNS, c - from);
	float sum[COLUMNS] = {0}, scale[COLUMNS], s = 1 / sqrtf((float)p->qk);

	(void)worker;
	for (size_t k = 0; k < n; k++)
		scale[k] = s * p->gain[from + k];
	for (size_t row = 0; row < p->nq; row++) {
		float *dq = r->f->dq + row * c + from;
		const float *t = r->f->t + row * c + from;

		for (size_t k = 0; k < n; k++) {
			sum[k] += dq[k] * t[k];
			dq[k] *= scale[k];
		}
	}
	r->f->kernels->add(p->dgain + from, sum, n);
}

void cross_unfold_queries(struct cpu *ops, const struct op_cross *p)
{
	struct row_pass r = pass_of(p);

	by_columns(ops, &r, p->channels, query_gain);
}

/* ---- values ---------------------------------------------------------------------------------- */

static void scale_shift_rows(void *ctx, size_t i, unsigned worker)
{
	const struct row_pass *r = ctx;
	const struct op_cross *p = r->p;
	size_t c = p->channels;

	(void)worker;
	for (size_t row = i * ROWS; row < least((i + 1) * ROWS, r->rows); row++) {
		float kept = kept_of(r, row), *z = r->f->z + row * c;
		const float *u = r->f->u + row * c;

		for (size_t k = 0; k < c; k++)
			z[k] = p->gain[k] * u[k] + kept * p->shift[k];
	}
}

void cross_scale_shift(struct cpu *ops, const struct op_cross *p)
{
	struct row_pass r = pass_of(p);

	by_rows(ops, &r, scale_shift_rows);
}

static void bias_rows(void *ctx, size_t i, unsigned worker)
{
	const struct row_pass *r = ctx;
	const struct op_cross *p = r->p;

	(void)worker;
	for (size_t row = i * ROWS; row < least((i + 1) * ROWS, r->rows); row++)
		r->f->kernels->add_scaled(p->context + row * p->v, p->bv, kept_of(r, row), p->v);
}

void cross_add_bias(struct cpu *ops, const struct op_cross *p)
{
	struct row_pass r = pass_of(p);

	by_rows(ops, &r, bias_rows);
}

static void bias_gradient(void *ctx, size_t i, unsigned worker)
{
	const struct row_pass *r = ctx;
	const struct op_cross *p = r->p;
	size_t from = i * COLUMNS, n = least(COLUMNS, p->v - from);
	float sum[COLUMNS] = {0};

	(void)worker;
	for (size_t row = 0; row < r->rows; row++)
		r->f->kernels->add_scaled(sum, p->dcontext + row * p->v + from, kept_of(r, row), n);
	r->f->kernels->add(p->dbv + from, sum, n);
}

/* z is dz = dcontext Wv here. */
static void norm_gradient(void *ctx, size_t i, unsigned worker)
{
	const struct row_pass *r = ctx;
	const struct op_cross *p = r->p;
	size_t c = p->channels, from = i * COLUMNS, n = least(COLUMNS, c - from);
	float dgain[COLUMNS] = {0}, dshift[COLUMNS] = {0};

	(void)worker;
	for (size_t row = 0; row < r->rows; row++) {
		const float *dz = r->f->z + row * c + from, *u = r->f->u + row * c + from;
		float kept = kept_of(r, row);

		for (size_t k = 0; k < n; k++) {
			dgain[k] += dz[k] * u[k];
			dshift[k] += kept * dz[k];
		}
	}
	r->f->kernels->add(p->dgain + from, dgain, n);
	r->f->kernels->add(p->dshift + from, dshift, n);
}

/* d R of a row, which is constant without dropout. */
static float kept_gradient(const struct row_pass *r, size_t row)
{
	const struct op_cross *p = r->p;
	const struct kernels *k = r->f->kernels;

	if (p->dropout.p == 0)
		return 0;
	return k->dot(r->f->z + row * p->channels, p->shift, p->channels) +
	       k->dot(p->dcontext + row * p->v, p->bv, p->v);
}

/* dz becomes dU = gain * dz. */
static void unfold_rows(void *ctx, size_t i, unsigned worker)
{
	const struct row_pass *r = ctx;
	const struct op_cross *p = r->p;
	struct folded *f = r->f;
	size_t c = p->channels;

	(void)worker;
	for (size_t row = i * ROWS; row < least((i + 1) * ROWS, r->rows); row++) {
		float dkept = kept_gradient(r, row), *dz = f->z + row * c;
		size_t lane = lane_of(r, row);

		for (size_t k = 0; k < c; k++)
			dz[k] *= p->gain[k];
		f->dkept[lane] = dkept;
		f->delta[lane] = f->kernels->dot(dz, f->u + row * c, c) + kept_of(r, row) * dkept;
	}
}

void cross_bias_gradient(struct cpu *ops, const struct op_cross *p)
{
	struct row_pass r = pass_of(p);

	by_columns(ops, &r, p->v, bias_gradient);
}

void cross_unfold_values(struct cpu *ops, const struct op_cross *p)
{
	struct row_pass r = pass_of(p);

	by_columns(ops, &r, p->channels, norm_gradient);
	by_rows(ops, &r, unfold_rows);
}

/*
 * The reference ops: each does what its definition says, one value after another, sums in double.
 * Slow on purpose; this file is what the fast one is tested against.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/ops/cpu.h"
#include "trainer/ops/cross_plain.h"
#include "trainer/ops/ops.h"

static void linear_forward(struct ops *ops, const struct op_linear *p)
{
	(void)ops;
	for (size_t r = 0; r < p->rows; r++) {
		for (size_t o = 0; o < p->out; o++) {
			double sum = p->bias[o];

			for (size_t i = 0; i < p->in; i++)
				sum += (double)p->x[r * p->in + i] * p->w[o * p->in + i];
			if (p->residual != NULL)
				sum += p->residual[r * p->out + o];
			p->y[r * p->out + o] = (float)sum;
		}
	}
}

static void linear_dx(const struct op_linear *p)
{
	for (size_t r = 0; r < p->rows; r++) {
		for (size_t i = 0; i < p->in; i++) {
			double sum = p->add_dx ? p->dx[r * p->in + i] : 0;

			for (size_t o = 0; o < p->out; o++)
				sum += (double)p->dy[r * p->out + o] * p->w[o * p->in + i];
			p->dx[r * p->in + i] = (float)sum;
		}
	}
}

static void linear_backward(struct ops *ops, const struct op_linear *p)
{
	(void)ops;
	if (p->dx != NULL)
		linear_dx(p);
	for (size_t o = 0; o < p->out; o++) {
		double sum = 0;

		for (size_t r = 0; r < p->rows; r++)
			sum += p->dy[r * p->out + o];
		p->dbias[o] += (float)sum;
		for (size_t i = 0; i < p->in; i++) {
			sum = 0;
			for (size_t r = 0; r < p->rows; r++)
				sum += (double)p->dy[r * p->out + o] * p->x[r * p->in + i];
			p->dw[o * p->in + i] += (float)sum;
		}
	}
}

static void norm_forward(struct ops *ops, const struct op_norm *p)
{
	(void)ops;
	for (size_t r = 0; r < p->rows; r++) {
		const float *x = p->x + r * p->width;
		double mean = 0, var = 0;

		for (size_t i = 0; i < p->width; i++)
			mean += x[i];
		mean /= (double)p->width;
		for (size_t i = 0; i < p->width; i++)
			var += (x[i] - mean) * (x[i] - mean);
		double rstd = 1 / sqrt(var / (double)p->width + 1e-5);

		for (size_t i = 0; i < p->width; i++)
			p->y[r * p->width + i] =
				(float)((x[i] - mean) * rstd * p->gain[i] + p->shift[i]);
		p->mean[r] = (float)mean;
		p->rstd[r] = (float)rstd;
	}
}

static void norm_backward_row(const struct op_norm *p, size_t r)
{
	const float *x = p->x + r * p->width, *dy = p->dy + r * p->width;
	double mean = p->mean[r], rstd = p->rstd[r], sum = 0, dot = 0;

	for (size_t i = 0; i < p->width; i++) {
		double xh = (x[i] - mean) * rstd, dxh = (double)dy[i] * p->gain[i];

		sum += dxh;
		dot += dxh * xh;
	}
	sum /= (double)p->width;
	dot /= (double)p->width;
	for (size_t i = 0; i < p->width; i++) {
		double xh = (x[i] - mean) * rstd, dxh = (double)dy[i] * p->gain[i];
		float *dx = p->dx + r * p->width + i;

		*dx = (float)((p->add_dx ? *dx : 0) + rstd * (dxh - sum - xh * dot));
	}
}

static void norm_backward(struct ops *ops, const struct op_norm *p)
{
	(void)ops;
	for (size_t i = 0; i < p->width; i++) {
		double dgain = 0, dshift = 0;

		for (size_t r = 0; r < p->rows; r++) {
			double dy = p->dy[r * p->width + i];

			dgain += dy * (p->x[r * p->width + i] - p->mean[r]) * p->rstd[r];
			dshift += dy;
		}
		p->dgain[i] += (float)dgain;
		p->dshift[i] += (float)dshift;
	}
	for (size_t r = 0; p->dx != NULL && r < p->rows; r++)
		norm_backward_row(p, r);
}

/* sqrt(2/pi) and the cubic factor of the tanh form (Hendrycks and Gimpel 2016) */
static const double tanh_scale = 0.7978845608028654, tanh_cubic = 0.044715;

static void gelu_forward(struct ops *ops, const struct op_gelu *p)
{
	(void)ops;
	for (size_t i = 0; i < p->n; i++) {
		double x = p->x[i];
		double cdf = p->form == GELU_ERF
		                     ? 0.5 * (1 + erf(x * M_SQRT1_2))
		                     : 0.5 * (1 + tanh(tanh_scale * (x + tanh_cubic * x * x * x)));

		p->y[i] = (float)(x * cdf);
	}
}

static double gelu_slope(double x, enum gelu_form form)
{
	if (form == GELU_ERF)
		return 0.5 * (1 + erf(x * M_SQRT1_2)) + x * exp(-0.5 * x * x) * 0.3989422804014327;
	double t = tanh(tanh_scale * (x + tanh_cubic * x * x * x));

	return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * tanh_scale * (1 + 3 * tanh_cubic * x * x);
}

static void gelu_backward(struct ops *ops, const struct op_gelu *p)
{
	(void)ops;
	for (size_t i = 0; i < p->n; i++)
		p->dx[i] = (float)(p->dy[i] * gelu_slope(p->x[i], p->form));
}

/* Offsets of one (clip, head) in the arrays of an attention. */
struct head {
	const float *q, *k, *v;
	size_t ldqk, ldv; /* row strides */
	size_t b, h;
};

static struct head head_of(const struct op_attention *p, size_t b, size_t h)
{
	size_t ldqk = p->heads * p->qk, ldv = p->heads * p->v;

	return (struct head){.q = p->q + (p->q_shared ? 0 : b * p->nq * ldqk) + h * p->qk,
	                     .k = p->k + b * p->nk * ldqk + h * p->qk,
	                     .v = p->values + b * p->nk * ldv + h * p->v,
	                     .ldqk = ldqk,
	                     .ldv = ldv,
	                     .b = b,
	                     .h = h};
}

/* Probabilities of query i before dropout; returns log of the denominator. */
static double probabilities(const struct op_attention *p, const struct head *t, size_t i,
                            double *prob)
{
	double max = -INFINITY, sum = 0;

	for (size_t j = 0; j < p->nk; j++) {
		double s = 0;

		for (size_t c = 0; c < p->qk; c++)
			s += (double)t->q[i * t->ldqk + c] * t->k[j * t->ldqk + c];
		prob[j] = s / sqrt((double)p->qk);
		max = prob[j] > max ? prob[j] : max;
	}
	for (size_t j = 0; j < p->nk; j++)
		sum += prob[j] = exp(prob[j] - max);
	for (size_t j = 0; j < p->nk; j++)
		prob[j] /= sum;
	/* cppcheck-suppress invalidFunctionArg ; there is a key, so the sum is at least 1 */
	return max + log(sum);
}

static double keep(const struct op_attention *p, const struct head *t, size_t i, size_t j)
{
	if (p->dropout.p == 0)
		return 1;
	return op_dropout_factor(&p->dropout, t->b, t->h * p->nq + i, p->nk, j);
}

static void attention_forward(struct ops *ops, const struct op_attention *p)
{
	AUTO_FREE double *prob = mem_calloc(p->nk, sizeof(prob[0]));

	(void)ops;
	for (size_t bh = 0; bh < p->batch * p->heads; bh++) {
		struct head t = head_of(p, bh / p->heads, bh % p->heads);

		for (size_t i = 0; i < p->nq; i++) {
			float *o = p->o + (t.b * p->nq + i) * t.ldv + t.h * p->v;

			p->lse[bh * p->nq + i] = (float)probabilities(p, &t, i, prob);
			for (size_t j = 0; j < p->nk; j++)
				prob[j] *= keep(p, &t, i, j);
			for (size_t c = 0; c < p->v; c++) {
				double sum = 0;

				for (size_t j = 0; j < p->nk; j++)
					sum += prob[j] * t.v[j * t.ldv + c];
				o[c] = (float)sum;
			}
		}
	}
}

/* One query's share of the derivatives; work: room for 2 * nk. */
static void attention_backward_row(const struct op_attention *p, const struct head *t, size_t i,
                                   double *work)
{
	const float *d_o = p->d_o + (t->b * p->nq + i) * t->ldv + t->h * p->v;
	float *dq = p->dq + ((p->q_shared ? 0 : t->b * p->nq) + i) * t->ldqk + t->h * p->qk;
	float *dk = p->dk + t->b * p->nk * t->ldqk + t->h * p->qk;
	float *dv = p->dvalues + t->b * p->nk * t->ldv + t->h * p->v;
	double *prob = work, *ds = work + p->nk, mean = 0;

	probabilities(p, t, i, prob);
	for (size_t j = 0; j < p->nk; j++) {
		double kept = keep(p, t, i, j);

		ds[j] = 0;
		for (size_t c = 0; c < p->v; c++) {
			ds[j] += (double)d_o[c] * t->v[j * t->ldv + c] * kept;
			dv[j * t->ldv + c] += (float)(prob[j] * kept * d_o[c]);
		}
		mean += prob[j] * ds[j];
	}
	for (size_t j = 0; j < p->nk; j++) {
		double s = prob[j] * (ds[j] - mean) / sqrt((double)p->qk);

		for (size_t c = 0; c < p->qk; c++) {
			dq[c] += (float)(s * t->k[j * t->ldqk + c]);
			dk[j * t->ldqk + c] += (float)(s * t->q[i * t->ldqk + c]);
		}
	}
}

static void attention_backward(struct ops *ops, const struct op_attention *p)
{
	AUTO_FREE double *work = mem_calloc(2 * p->nk, sizeof(work[0]));
	size_t qk = p->heads * p->qk, v = p->heads * p->v;

	(void)ops;
	memset(p->dq, 0, (p->q_shared ? 1 : p->batch) * p->nq * qk * sizeof(float));
	memset(p->dk, 0, p->batch * p->nk * qk * sizeof(float));
	memset(p->dvalues, 0, p->batch * p->nk * v * sizeof(float));
	for (size_t bh = 0; bh < p->batch * p->heads; bh++) {
		struct head t = head_of(p, bh / p->heads, bh % p->heads);

		for (size_t i = 0; i < p->nq; i++)
			attention_backward_row(p, &t, i, work);
	}
}

const struct op_table ops_reference = {
	.name = "reference",
	.linear_forward = linear_forward,
	.linear_backward = linear_backward,
	.norm_forward = norm_forward,
	.norm_backward = norm_backward,
	.gelu_forward = gelu_forward,
	.gelu_backward = gelu_backward,
	.attention_forward = attention_forward,
	.attention_backward = attention_backward,
	.cross_forward = cross_plain_forward,
	.cross_backward = cross_plain_backward,
	.cross_state_new = cross_plain_new,
	.cross_state_free = cross_plain_free,
	CPU_OPS,
};

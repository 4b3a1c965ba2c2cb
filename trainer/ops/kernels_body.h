/*
 * The kernels' text, compiled once per instruction set. The including file defines
 *   VW            floats per vector
 *   NRV, MR       vectors per panel row; rows of the GEMM's register tile
 *   V_MAX(a, b)   lane-wise maximum
 *   V_MUL32(a, b) 64-bit products of the even 32-bit lanes
 *   K(name)       a name with the set's suffix
 * Vectors are gcc's: arithmetic on them is lane-wise, a * b + c is one rounding where FMA exists.
 */
#ifndef SLIPWAY_TRAINER_OPS_KERNELS_BODY_H
#define SLIPWAY_TRAINER_OPS_KERNELS_BODY_H

#include <math.h>
#include <string.h>

#include "trainer/ops/kernels.h"
#include "trainer/ops/philox.h"

#define NR    (NRV * VW)
#define FORCE static inline __attribute__((always_inline))

typedef float vf __attribute__((vector_size(VW * 4)));
typedef int32_t vi __attribute__((vector_size(VW * 4)));
typedef uint32_t vu __attribute__((vector_size(VW * 4)));
typedef uint64_t vu64 __attribute__((vector_size(VW * 4)));
typedef float vf_any __attribute__((vector_size(VW * 4), aligned(4), may_alias));

FORCE vf load(const float *p)
{
	return *(const vf_any *)p;
}

FORCE void store(float *p, vf v)
{
	*(vf_any *)p = v;
}

FORCE vf all(float x)
{
	return x - (vf){0};
}

FORCE float lanes_sum(vf v)
{
	float sum = 0;

	for (int i = 0; i < VW; i++)
		sum += v[i];
	return sum;
}

/* The first n (< VW) values, others `rest`. */
FORCE vf load_some(const float *p, size_t n, float rest)
{
	vf v = all(rest);

	memcpy(&v, p, n * sizeof(float));
	return v;
}

FORCE void store_some(float *p, vf v, size_t n)
{
	memcpy(p, &v, n * sizeof(float));
}

/*
 * e^x for x <= 88: 2^n e^r with |r| <= ln(2)/2, n rounded by the 1.5 * 2^23 trick, e^r by its
 * Taylor polynomial of degree 7 (error below 2^-26). 0 below -87; NaN stays NaN.
 */
FORCE vf v_exp(vf x)
{
	const float magic = 12582912.0f;
	vf t = x * 1.44269504088896f + magic, n = t - magic;
	vf r = x - n * 0.693359375f + n * 2.12194440e-4f;
	vf p = all(1.0f / 5040);

	p = p * r + 1.0f / 720;
	p = p * r + 1.0f / 120;
	p = p * r + 1.0f / 24;
	p = p * r + 1.0f / 6;
	p = p * r + 0.5f;
	p = p * r + 1.0f;
	p = p * r + 1.0f;
	vu bits = (vu)p + ((vu)t << 23);

	return (vf)(bits & ~(vu)(x < -87.0f));
}

/* ---- matrix product ------------------------------------------------------------------------- */

FORCE void micro_store(const struct gemm_block *g, size_t row, size_t column, vf (*acc)[NRV],
                       size_t rows)
{
	size_t left = g->n - column;

	for (size_t r = 0; r < rows; r++) {
		for (size_t v = 0; v < NRV && v * VW < left; v++) {
			size_t at = (row + r) * g->c_row + column + v * VW;
			size_t n = left - v * VW;
			vf x = acc[r][v];

			if (n >= VW) {
				x = g->accumulate ? x + load(g->c + at) : x;
				x = g->bias != NULL ? x + load(g->bias + column + v * VW) : x;
				x = g->residual != NULL ? x + load(g->residual + at) : x;
				store(g->c + at, x);
				continue;
			}
			x = g->accumulate ? x + load_some(g->c + at, n, 0) : x;
			x = g->bias != NULL ? x + load_some(g->bias + column + v * VW, n, 0) : x;
			x = g->residual != NULL ? x + load_some(g->residual + at, n, 0) : x;
			store_some(g->c + at, x, n);
		}
	}
}

/* `rows` is a constant after inlining, so the accumulators live in registers. */
FORCE void micro(const struct gemm_block *g, size_t row, size_t column, const float *restrict b,
                 const size_t rows)
{
	vf acc[MR][NRV];
	const float *restrict a = g->a + row * g->a_row;
	size_t a_row = g->a_row, a_col = g->a_col;

	for (size_t r = 0; r < rows; r++)
		for (size_t v = 0; v < NRV; v++)
			acc[r][v] = all(0);
	for (size_t k = g->k; k > 0; k--, b += NR, a += a_col) {
		vf bv[NRV];

		for (size_t v = 0; v < NRV; v++)
			bv[v] = load(b + v * VW);
#pragma GCC unroll 16
		for (size_t r = 0; r < rows; r++) {
			vf x = all(a[r * a_row]);

			for (size_t v = 0; v < NRV; v++)
				acc[r][v] += x * bv[v];
		}
	}
	micro_store(g, row, column, acc, rows);
}

#define MICRO(n)                                                                                   \
	static __attribute__((noinline)) void micro##n(const struct gemm_block *g, size_t row,     \
	                                               size_t column, const float *b)              \
	{                                                                                          \
		micro(g, row, column, b, n);                                                       \
	}

MICRO(1)
MICRO(2)
MICRO(3)
MICRO(4)
MICRO(5)
MICRO(6)
#if MR > 6
MICRO(7)
MICRO(8)
MICRO(9)
MICRO(10)
MICRO(11)
MICRO(12)
MICRO(13)
MICRO(14)
#endif

static void K(gemm)(const struct gemm_block *g)
{
	static void (*const micros[])(const struct gemm_block *, size_t, size_t, const float *) = {
		NULL,
		micro1,
		micro2,
		micro3,
		micro4,
		micro5,
		micro6,
#if MR > 6
		micro7,
		micro8,
		micro9,
		micro10,
		micro11,
		micro12,
		micro13,
		micro14,
#endif
	};
	size_t pieces = (g->m + MR - 1) / MR;

	for (size_t column = 0; column < g->n; column += NR) {
		const float *b = g->b + column / NR * g->b_panel;

		/* pieces of nearly equal height: 48 rows are 4 x 12, not 3 x 14 + 6 */
		for (size_t i = 0; i < pieces; i++) {
			size_t from = g->m * i / pieces, to = g->m * (i + 1) / pieces;

			micros[to - from](g, from, column, b);
		}
	}
}

static void K(pack)(size_t k, size_t n, const float *b, size_t b_row, size_t b_col, float *panel)
{
	if (n < NR)
		memset(panel, 0, k * NR * sizeof(float));
	if (b_col == 1 && n == NR) {
		for (size_t i = 0; i < k; i++)
			for (size_t v = 0; v < NRV; v++)
				store(panel + i * NR + v * VW, load(b + i * b_row + v * VW));
		return;
	}
	if (b_col == 1) {
		for (size_t i = 0; i < k; i++)
			memcpy(panel + i * NR, b + i * b_row, n * sizeof(float));
		return;
	}
	/* blocks of 16 deep, so that the lines written stay in the first cache */
	for (size_t k0 = 0; k0 < k; k0 += 16) {
		size_t k1 = k0 + 16 < k ? k0 + 16 : k;

		for (size_t j = 0; j < n; j++)
			for (size_t i = k0; i < k1; i++)
				panel[i * NR + j] = b[j * b_col + i * b_row];
	}
}

/* Whole vectors are copied where the next row's values follow, which the next copy overwrites. */
static void K(pack_columns)(size_t k, size_t n, const float *a, size_t a_col, float *out)
{
	size_t i = 0;

	if (n > VW || a_col < VW) {
		for (; i < k; i++)
			memcpy(out + i * n, a + i * a_col, n * sizeof(float));
		return;
	}
	for (; i + 1 < k; i++)
		store(out + i * n, load(a + i * a_col));
	memcpy(out + i * n, a + i * a_col, n * sizeof(float));
}

/* ---- rows of attention ---------------------------------------------------------------------- */

static void K(probabilities)(float *row, size_t n, float scale, float lse)
{
	size_t i = 0;

	for (; i + VW <= n; i += VW)
		store(row + i, v_exp(load(row + i) * scale - lse));
	if (i < n)
		store_some(row + i, v_exp(load_some(row + i, n - i, 0) * scale - lse), n - i);
}

static float K(softmax)(float *row, size_t n, float scale)
{
	vf max = all(-INFINITY), sum = all(0);
	float top = -INFINITY, total, tail = 0;
	size_t i = 0;

	for (; i + VW <= n; i += VW)
		max = V_MAX(max, load(row + i));
	for (; i < n; i++)
		top = row[i] > top ? row[i] : top;
	for (int k = 0; k < VW; k++)
		top = max[k] > top ? max[k] : top;
	top *= scale;
	K(probabilities)(row, n, scale, top);
	for (i = 0; i + VW <= n; i += VW)
		sum += load(row + i);
	for (; i < n; i++)
		tail += row[i];
	total = lanes_sum(sum) + tail;
	for (i = 0; i < n; i++)
		row[i] *= 1 / total;
	return top + logf(total);
}

static float K(dot)(const float *a, const float *b, size_t n)
{
	vf sum = all(0);
	size_t i = 0;

	for (; i + VW <= n; i += VW)
		sum += load(a + i) * load(b + i);
	if (i < n)
		sum += load_some(a + i, n - i, 0) * load_some(b + i, n - i, 0);
	return lanes_sum(sum);
}

static void K(dscores)(const float *p, float *ds, size_t n, float delta, float scale)
{
	for (size_t i = 0; i < n; i++)
		ds[i] = scale * p[i] * (ds[i] - delta);
}

/* ---- dropout --------------------------------------------------------------------------------- */

/* High and low halves of x * m, lane by lane. */
FORCE void wide_mul(vu x, uint32_t m, vu *hi, vu *lo)
{
	vu64 even = V_MUL32((vu64)x, (vu64){0} + m), odd = V_MUL32((vu64)x >> 32, (vu64){0} + m);
	const vu64 low = (vu64){0} + 0xffffffffu;

	*lo = (vu)((even & low) | odd << 32);
	*hi = (vu)(even >> 32 | (odd & ~low));
}

/* Philox 4x32-10 of one counter per lane, as philox_block. */
FORCE void v_philox(const struct op_dropout *d, uint64_t sample, vu block, vu out[4])
{
	uint32_t k0 = (uint32_t)d->seed, k1 = (uint32_t)(d->seed >> 32);

	out[0] = block;
	out[1] = (vu){0} + ((uint32_t)STREAM_DROPOUT << 16 | d->layer);
	out[2] = (vu){0} + (uint32_t)sample;
	out[3] = (vu){0} + (uint32_t)(sample >> 32);
	for (int round = 0; round < 10; round++) {
		vu hi0, lo0, hi1, lo1;

		wide_mul(out[0], 0xD2511F53u, &hi0, &lo0);
		wide_mul(out[2], 0xCD9E8D57u, &hi1, &lo1);
		out[0] = hi1 ^ out[1] ^ k0;
		out[2] = hi0 ^ out[3] ^ k1;
		out[1] = lo1;
		out[3] = lo0;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
}

FORCE vf keep_factor(const struct op_dropout *d, vu word)
{
	vu limit = (vu){0} + (uint32_t)ceil(d->p * 0x1p32);
	vf factor = all((float)(1 / (1 - d->p)));

	return (vf)((vi)factor & (vi)(word >= limit));
}

FORCE vu lane_numbers(void)
{
	vu v = {0};

	for (int i = 0; i < VW; i++)
		v[i] = (uint32_t)i;
	return v;
}

static void K(dropout)(const struct op_dropout *d, uint64_t sample, uint32_t row_block, size_t n,
                       float *factor)
{
	for (size_t i = 0; i < n; i += (size_t)4 * VW) {
		vu words[4];
		vf f[4];

		v_philox(d, sample, lane_numbers() + (row_block + (uint32_t)(i / 4)), words);
		for (int w = 0; w < 4; w++)
			f[w] = keep_factor(d, words[w]);
		for (size_t k = 0; k < (size_t)4 * VW && i + k < n; k++)
			factor[i + k] = f[k % 4][k / 4];
	}
}

static void K(cross_keep)(const struct op_dropout *d, uint64_t sample, uint32_t row,
                          uint32_t row_blocks, size_t column, size_t n, float *keep)
{
	for (size_t block = column / 4; block * 4 < column + n; block++) {
		for (size_t v = 0; v < NRV; v++) {
			vu lanes = (lane_numbers() + (row + (uint32_t)(v * VW))) * row_blocks;
			vu words[4];

			v_philox(d, sample, lanes + (uint32_t)block, words);
			for (size_t w = 0; w < 4; w++)
				if (block * 4 + w >= column && block * 4 + w < column + n)
					store(keep + (block * 4 + w - column) * NR + v * VW,
					      keep_factor(d, words[w]));
		}
	}
}

/* ---- normalisation, GELU, sums --------------------------------------------------------------- */

static void K(norm)(const float *x, const float *gain, const float *shift, size_t n, float *y,
                    float *mean, float *rstd)
{
	vf sum = all(0), squares = all(0);
	float tail = 0, mu, scale;
	size_t i = 0;

	for (; i + VW <= n; i += VW)
		sum += load(x + i);
	for (; i < n; i++)
		tail += x[i];
	mu = (lanes_sum(sum) + tail) / (float)n;
	tail = 0;
	for (i = 0; i + VW <= n; i += VW) {
		vf c = load(x + i) - mu;

		squares += c * c;
	}
	for (; i < n; i++)
		tail += (x[i] - mu) * (x[i] - mu);
	scale = 1 / sqrtf((lanes_sum(squares) + tail) / (float)n + 1e-5f);
	for (i = 0; i < n; i++)
		y[i] = (x[i] - mu) * scale * gain[i] + shift[i];
	*mean = mu;
	*rstd = scale;
}

static void K(norm_dx)(const float *x, const float *gain, const float *dy, size_t n, float mean,
                       float rstd, bool add, float *dx)
{
	vf sum = all(0), dot = all(0);
	float s, d;
	size_t i = 0;

	for (; i + VW <= n; i += VW) {
		vf g = load(dy + i) * load(gain + i);

		sum += g;
		dot += g * (load(x + i) - mean);
	}
	s = lanes_sum(sum);
	d = lanes_sum(dot);
	for (; i < n; i++) {
		s += dy[i] * gain[i];
		d += dy[i] * gain[i] * (x[i] - mean);
	}
	s /= (float)n;
	d *= rstd * rstd / (float)n;
	if (add) {
		for (i = 0; i < n; i++)
			dx[i] += rstd * (dy[i] * gain[i] - s - (x[i] - mean) * d);
		return;
	}
	for (i = 0; i < n; i++)
		dx[i] = rstd * (dy[i] * gain[i] - s - (x[i] - mean) * d);
}

static void K(norm_dparams)(const float *x, const float *dy, size_t n, float mean, float rstd,
                            float *dgain, float *dshift)
{
	for (size_t i = 0; i < n; i++) {
		dgain[i] += dy[i] * ((x[i] - mean) * rstd);
		dshift[i] += dy[i];
	}
}

FORCE vf v_abs(vf x)
{
	return (vf)((vi)x & 0x7fffffff);
}

/*
 * Normal distribution function and density. erf is 7.1.26 of Abramowitz and Stegun: error at most
 * 1.5e-7 with one exponential, which the density needs as well.
 */
FORCE vf normal_cdf(vf x, vf *density)
{
	vf z = v_abs(x) * (float)M_SQRT1_2, t = 1.0f / (0.3275911f * z + 1.0f);
	vf e = v_exp(x * x * -0.5f);
	vf p = all(1.061405429f);

	p = p * t - 1.453152027f;
	p = p * t + 1.421413741f;
	p = p * t - 0.284496736f;
	p = p * t + 0.254829592f;
	vf half = 0.5f * p * t * e; /* of the tail beyond |x| */
	vi negative = x < 0.0f;

	*density = e * 0.3989422804f;
	return (vf)(((vi)half & negative) | ((vi)(1.0f - half) & ~negative));
}

/* tanh(u) = 1 - 2 / (e^2u + 1), with 2u held where e^2u is finite. */
FORCE vf v_tanh(vf u)
{
	vf x = -V_MAX(-(u + u), all(-80.0f));

	return 1.0f - 2.0f / (v_exp(x) + 1.0f);
}

#define TANH_SCALE 0.7978845608f
#define TANH_CUBIC 0.044715f

FORCE vf gelu_value(vf x, enum gelu_form form)
{
	vf density;

	if (form == GELU_ERF)
		return x * normal_cdf(x, &density);
	return 0.5f * x * (1.0f + v_tanh(TANH_SCALE * (x + TANH_CUBIC * x * x * x)));
}

FORCE vf gelu_slope(vf x, enum gelu_form form)
{
	vf density, cdf, t;

	if (form == GELU_ERF) {
		cdf = normal_cdf(x, &density);
		return cdf + x * density;
	}
	t = v_tanh(TANH_SCALE * (x + TANH_CUBIC * x * x * x));
	return 0.5f * (1.0f + t) +
	       0.5f * x * (1.0f - t * t) * TANH_SCALE * (1.0f + 3 * TANH_CUBIC * x * x);
}

static void K(gelu)(const float *x, float *y, size_t n, enum gelu_form form)
{
	size_t i = 0;

	for (; i + VW <= n; i += VW)
		store(y + i, gelu_value(load(x + i), form));
	if (i < n)
		store_some(y + i, gelu_value(load_some(x + i, n - i, 0), form), n - i);
}

static void K(gelu_dx)(const float *x, const float *dy, float *dx, size_t n, enum gelu_form form)
{
	size_t i = 0;

	for (; i + VW <= n; i += VW)
		store(dx + i, load(dy + i) * gelu_slope(load(x + i), form));
	if (i < n)
		store_some(dx + i,
		           load_some(dy + i, n - i, 0) *
		                   gelu_slope(load_some(x + i, n - i, 0), form),
		           n - i);
}

static void K(add)(float *a, const float *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		a[i] += b[i];
}

static void K(add_scaled)(float *a, const float *b, float f, size_t n)
{
	for (size_t i = 0; i < n; i++)
		a[i] += f * b[i];
}

/* ---- tiles of the folded cross attention ----------------------------------------------------- */

static void K(cross_scores)(const struct cross_tile *t)
{
	for (size_t v = 0; v < NRV; v++) {
		vf row = load(t->row + v * VW), csum = load(t->csum + v * VW);
		vf max = load(t->max + v * VW);

		for (size_t j = 0; j < t->n; j++) {
			float *at = t->s + j * NR + v * VW;
			vf s = load(at) + row + load(t->column + j * NR + v * VW) -
			       t->mean[j] * csum;

			s = s * t->rstd[j] + t->bias[j];
			max = V_MAX(max, s);
			store(at, s);
		}
		store(t->max + v * VW, max);
	}
}

static void K(cross_weights)(const struct cross_tile *t, float *sum, float *kept, float *wsum,
                             float *wmean, float *column_sum)
{
	for (size_t v = 0; v < NRV; v++) {
		vf max = load(t->max + v * VW);
		vf sums[4] = {all(0), all(0), all(0), all(0)};

		for (size_t j = 0; j < t->n; j++) {
			float *at = t->s + j * NR + v * VW, *column = column_sum + j * NR + v * VW;
			vf w = v_exp(load(at) - max);

			sums[0] += w;
			if (t->keep != NULL)
				w *= load(t->keep + j * NR + v * VW);
			sums[3] += w;
			w *= t->rstd[j];
			sums[1] += w;
			sums[2] += w * t->mean[j];
			store(at, w);
			store(column, load(column) + w);
		}
		store(sum + v * VW, load(sum + v * VW) + sums[0]);
		store(kept + v * VW, load(kept + v * VW) + sums[3]);
		store(wsum + v * VW, load(wsum + v * VW) + sums[1]);
		store(wmean + v * VW, load(wmean + v * VW) + sums[2]);
	}
}

static void K(cross_backward)(const struct cross_tile *t, const struct cross_tile *d,
                              const float *delta, const float *dkept, float *esum, float *emean,
                              float *column_sum, float *f1, float *f2)
{
	for (size_t v = 0; v < NRV; v++) {
		size_t lane = v * VW;
		vf row = load(t->row + lane), csum = load(t->csum + lane),
		   lse = load(t->max + lane);
		vf drow = load(d->row + lane), dcsum = load(d->csum + lane);
		vf shift = load(delta + lane), dk = load(dkept + lane);
		vf sums[4] = {all(0), all(0), all(0), all(0)};

		for (size_t j = 0; j < t->n; j++) {
			size_t at = j * NR + lane;
			float mean = t->mean[j], rstd = t->rstd[j];
			vf s = load(t->s + at) + row + load(t->column + at) - mean * csum;
			vf dp = load(d->s + at) + drow + load(d->column + at) - mean * dcsum;
			vf p, f, e, pull;

			s = s * rstd + t->bias[j];
			dp *= rstd;
			p = v_exp(s - lse);
			pull = dp + dk;
			if (t->keep != NULL) {
				dp *= load(t->keep + at);
				pull *= load(t->keep + at);
			}
			e = p * (pull - shift);
			f = (p * dp + e * s) * (rstd * rstd);
			e *= rstd;
			sums[0] += e;
			sums[1] += e * mean;
			sums[2] += f;
			sums[3] += f * mean;
			store(d->s + at, e);
			store(column_sum + at, load(column_sum + at) + e);
		}
		store(esum + lane, load(esum + lane) + sums[0]);
		store(emean + lane, load(emean + lane) + sums[1]);
		store(f1 + lane, load(f1 + lane) + sums[2]);
		store(f2 + lane, load(f2 + lane) + sums[3]);
	}
}

/* As many independent chains as hide the latency, nothing but multiply-add. */
static double K(peak)(size_t n)
{
	enum { CHAINS = 12 };
	vf acc[CHAINS], x = all(0.999f), y = all(0.001f), sum = all(0);

	for (int i = 0; i < CHAINS; i++)
		acc[i] = all((float)i);
	for (size_t k = 0; k < n; k++)
#pragma GCC unroll 12
		for (int i = 0; i < CHAINS; i++)
			acc[i] = acc[i] * x + y;
	for (int i = 0; i < CHAINS; i++)
		sum += acc[i];
	/* the sum is used, so that the loop is not dropped; it adds nothing */
	return (double)n * CHAINS * VW * 2 + (lanes_sum(sum) > 1e30f ? 1 : 0);
}

#define KERNELS_TABLE(set_name)                                                                    \
	{                                                                                          \
		.name = set_name, .nr = NR, .mr = MR, .usable = usable, .gemm = K(gemm),           \
		.pack = K(pack), .pack_columns = K(pack_columns), .softmax = K(softmax),           \
		.probabilities = K(probabilities), .dot = K(dot), .dscores = K(dscores),           \
		.dropout = K(dropout), .norm = K(norm), .norm_dx = K(norm_dx),                     \
		.norm_dparams = K(norm_dparams), .gelu = K(gelu), .gelu_dx = K(gelu_dx),           \
		.add = K(add), .add_scaled = K(add_scaled), .cross_scores = K(cross_scores),       \
		.cross_weights = K(cross_weights), .cross_backward = K(cross_backward),            \
		.cross_keep = K(cross_keep), .peak = K(peak)                                       \
	}

#endif

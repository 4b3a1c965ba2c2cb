#include "trainer/cmd/golden_draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/mem.h"

/* The bits of a float that a format does not have. */
static const uint32_t below[PRECISIONS] = {
	[PRECISION_BF16] = 0xffff, [PRECISION_F16] = 0x1fff, [PRECISION_TF32] = 0x1fff};

/* How far the grid is moved in a value's binade, in 2^-16 of a place. */
static uint32_t shift_of(uint32_t binade, uint32_t seed)
{
	uint32_t h = binade ^ seed * 0x9e3779b9u;

	h = (h ^ h >> 15) * 0x7feb352du;
	h = (h ^ h >> 15) * 0x846ca68bu;
	return (h ^ h >> 16) & 0xffff;
}

/* Below 2^-14 the places of f16 are 2^-24 wide. What is nearer to 0 than a place errs by itself at
 * most. */
static float drawn_small(float x, uint32_t seed)
{
	double size = fabs(x) * 0x1p24, shift = shift_of(0, seed) * 0x1p-16;
	double moved = size == floor(size) ? size : rint(size + shift) - shift;

	return copysignf((float)(fmin(fmax(moved, 0), 2 * size) * 0x1p-24), x);
}

/* Neighbouring floats have neighbouring bits, so the grid is one of whole numbers. */
float drawn_operand(float x, enum op_precision precision, uint32_t seed)
{
	uint32_t bits, binade, shift;

	memcpy(&bits, &x, sizeof(bits));
	binade = bits >> 23;
	if (seed == 0 || (bits & below[precision]) == 0 || (binade & 0xff) == 0 ||
	    (binade & 0xff) == 0xff)
		return x;
	if (precision == PRECISION_F16 && fabsf(x) < 0x1p-14f)
		return drawn_small(x, seed);
	shift = (uint32_t)((uint64_t)shift_of(binade, seed) * (below[precision] + 1) >> 16);
	bits = ((bits + shift + (below[precision] + 1) / 2) & ~below[precision]) - shift;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

static float operand(const struct ops *ops, float x)
{
	return drawn_operand(x, ops->rounds, ((const struct drawn_ops *)ops)->seed);
}

/* A copy of n operands; the caller frees. */
static MUST_USE float *operands(const struct ops *ops, const float *x, size_t n)
{
	float *copy = mem_calloc(n, sizeof(copy[0]));

	for (size_t i = 0; i < n; i++)
		copy[i] = operand(ops, x[i]);
	return copy;
}

/* ---- linear layers --------------------------------------------------------------------------- */

static void linear_forward(struct ops *ops, const struct op_linear *p)
{
	AUTO_FREE float *x = operands(ops, p->x, p->rows * p->in);
	AUTO_FREE float *w = operands(ops, p->w, p->out * p->in);
	struct op_linear drawn = *p;

	drawn.x = x;
	drawn.w = w;
	ops_reference.linear_forward(ops, &drawn);
}

/* The bias's derivative is a sum and no product. */
static void linear_backward(struct ops *ops, const struct op_linear *p)
{
	AUTO_FREE float *x = operands(ops, p->x, p->rows * p->in);
	AUTO_FREE float *w = operands(ops, p->w, p->out * p->in);
	AUTO_FREE float *dy = operands(ops, p->dy, p->rows * p->out);
	AUTO_FREE float *dbias = mem_calloc(p->out, sizeof(dbias[0]));
	struct op_linear drawn = *p;

	drawn.x = x;
	drawn.w = w;
	drawn.dy = dy;
	drawn.dbias = dbias;
	ops_reference.linear_backward(ops, &drawn);
	for (size_t o = 0; o < p->out; o++) {
		double sum = 0;

		for (size_t r = 0; r < p->rows; r++)
			sum += p->dy[r * p->out + o];
		p->dbias[o] += (float)sum;
	}
}

/* ---- attention ------------------------------------------------------------------------------- */

/* Rows of one head in an array whose rows hold all heads. */
struct head_rows {
	float *at;
	size_t stride, width;
};

static struct head_rows rows_of(float *array, size_t row, size_t head, size_t heads, size_t width)
{
	return (struct head_rows){array + (row * heads + head) * width, heads * width, width};
}

static double dot(const struct head_rows *a, size_t i, const struct head_rows *b, size_t j)
{
	double sum = 0;

	for (size_t c = 0; c < a->width; c++)
		sum += (double)a->at[i * a->stride + c] * b->at[j * b->stride + c];
	return sum;
}

/* a[i] += factor * b[j] */
static void add_scaled(const struct head_rows *a, size_t i, double factor,
                       const struct head_rows *b, size_t j)
{
	for (size_t c = 0; c < a->width; c++)
		a->at[i * a->stride + c] += (float)(factor * b->at[j * b->stride + c]);
}

/* The arrays of an attention as operands. */
struct drawn_attention {
	const struct ops *ops;
	const struct op_attention *p;
	float *q, *k, *values, *d_o; /* owned; d_o is NULL going forward */
	float *prob;                 /* owned, a row of nk */
};

static void drawn_attention_done(struct drawn_attention *t)
{
	free(t->q);
	free(t->k);
	free(t->values);
	free(t->d_o);
	free(t->prob);
}

static struct drawn_attention draw_attention(const struct ops *ops, const struct op_attention *p,
                                             bool backward)
{
	size_t qk = p->heads * p->qk, v = p->heads * p->v, clips = p->q_shared ? 1 : p->batch;

	return (struct drawn_attention){
		.ops = ops,
		.p = p,
		.q = operands(ops, p->q, clips * p->nq * qk),
		.k = operands(ops, p->k, p->batch * p->nk * qk),
		.values = operands(ops, p->values, p->batch * p->nk * v),
		.d_o = backward ? operands(ops, p->d_o, p->batch * p->nq * v) : NULL,
		.prob = mem_calloc(p->nk, sizeof(float))};
}

/* Row i of the probabilities, which are no operands yet. */
static void probabilities(struct drawn_attention *t, const struct head_rows *q,
                          const struct head_rows *k, size_t i)
{
	double max = -INFINITY, sum = 0;

	for (size_t j = 0; j < t->p->nk; j++) {
		t->prob[j] = (float)(dot(q, i, k, j) / sqrt((double)t->p->qk));
		max = fmax(max, t->prob[j]);
	}
	for (size_t j = 0; j < t->p->nk; j++)
		sum += exp(t->prob[j] - max);
	for (size_t j = 0; j < t->p->nk; j++)
		t->prob[j] = (float)(exp(t->prob[j] - max) / sum);
}

static void head_forward(struct drawn_attention *t, size_t b, size_t h)
{
	const struct op_attention *p = t->p;
	struct head_rows q = rows_of(t->q, p->q_shared ? 0 : b * p->nq, h, p->heads, p->qk);
	struct head_rows k = rows_of(t->k, b * p->nk, h, p->heads, p->qk);
	struct head_rows v = rows_of(t->values, b * p->nk, h, p->heads, p->v);
	struct head_rows o = rows_of(p->o, b * p->nq, h, p->heads, p->v);

	for (size_t i = 0; i < p->nq; i++) {
		probabilities(t, &q, &k, i);
		memset(o.at + i * o.stride, 0, o.width * sizeof(float));
		for (size_t j = 0; j < p->nk; j++)
			add_scaled(&o, i, operand(t->ops, t->prob[j]), &v, j);
	}
}

static void attention_forward(struct ops *ops, const struct op_attention *p)
{
	struct drawn_attention t = draw_attention(ops, p, false);

	for (size_t bh = 0; bh < p->batch * p->heads; bh++)
		head_forward(&t, bh / p->heads, bh % p->heads);
	drawn_attention_done(&t);
}

/*
 * The mean of row i's derivatives, as a flash attention takes it: from what came out. Its operands
 * are not rounded, and those of the derivatives are: a row of them then no longer adds up to 0.
 */
static double mean_of(const struct op_attention *p, size_t b, size_t h, size_t i)
{
	size_t row = ((b * p->nq + i) * p->heads + h) * p->v;
	double sum = 0;

	for (size_t c = 0; c < p->v; c++)
		sum += (double)p->d_o[row + c] * p->o[row + c];
	return sum;
}

static void head_backward(struct drawn_attention *t, size_t b, size_t h)
{
	const struct op_attention *p = t->p;
	size_t first = p->q_shared ? 0 : b * p->nq;
	struct head_rows q = rows_of(t->q, first, h, p->heads, p->qk);
	struct head_rows k = rows_of(t->k, b * p->nk, h, p->heads, p->qk);
	struct head_rows v = rows_of(t->values, b * p->nk, h, p->heads, p->v);
	struct head_rows d_o = rows_of(t->d_o, b * p->nq, h, p->heads, p->v);
	struct head_rows dq = rows_of(p->dq, first, h, p->heads, p->qk);
	struct head_rows dk = rows_of(p->dk, b * p->nk, h, p->heads, p->qk);
	struct head_rows dv = rows_of(p->dvalues, b * p->nk, h, p->heads, p->v);

	for (size_t i = 0; i < p->nq; i++) {
		double mean = mean_of(p, b, h, i);

		probabilities(t, &q, &k, i);
		for (size_t j = 0; j < p->nk; j++) {
			double off = dot(&d_o, i, &v, j) - mean;
			double s = t->prob[j] * off / sqrt((double)p->qk);
			float ds = operand(t->ops, (float)s);

			add_scaled(&dv, j, operand(t->ops, t->prob[j]), &d_o, i);
			add_scaled(&dq, i, ds, &k, j);
			add_scaled(&dk, j, ds, &q, i);
		}
	}
}

static void attention_backward(struct ops *ops, const struct op_attention *p)
{
	struct drawn_attention t = draw_attention(ops, p, true);
	size_t qk = p->heads * p->qk, v = p->heads * p->v;

	memset(p->dq, 0, (p->q_shared ? 1 : p->batch) * p->nq * qk * sizeof(float));
	memset(p->dk, 0, p->batch * p->nk * qk * sizeof(float));
	memset(p->dvalues, 0, p->batch * p->nk * v * sizeof(float));
	for (size_t bh = 0; bh < p->batch * p->heads; bh++)
		head_backward(&t, bh / p->heads, bh % p->heads);
	drawn_attention_done(&t);
}

/* ---- cross attention ------------------------------------------------------------------------- */

/*
 * The reference forms keys and values, by the table's own linear layers, from normalised tokens.
 * Who folds the projections multiplies data and positions as they are, before the mean is taken
 * off; so these err as well. Padding and mask vectors are no operands.
 */
static void cross_forward(struct ops *ops, const struct op_cross *p)
{
	struct op_cross drawn = *p;
	float *copies[OP_TOKEN_GROUPS][4] = {{NULL}};

	for (size_t i = 0; i < OP_TOKEN_GROUPS; i++) {
		struct op_tokens *g = &drawn.groups[i];

		g->data = copies[i][3] = operands(ops, g->data, p->batch * g->n * g->n_data);
		for (size_t d = 0; d < g->ndim; d++)
			g->position[d] = copies[i][d] =
				operands(ops, g->position[d], g->dim[d] * (1 + 2 * g->bands));
	}
	ops_reference.cross_forward(ops, &drawn);
	for (size_t i = 0; i < OP_TOKEN_GROUPS; i++)
		for (size_t k = 0; k < ARRAY_LEN(copies[i]); k++)
			free(copies[i][k]);
}

void drawn_ops_open(enum op_precision precision, struct drawn_ops *ret)
{
	*ret = (struct drawn_ops){.table = ops_reference};
	if (!ops_open(&(struct ops_options){.reference = true}, &ret->ops))
		BUG("there is no reference");
	ret->table.name = "drawn";
	ret->table.linear_forward = linear_forward;
	ret->table.linear_backward = linear_backward;
	if (precision != PRECISION_TF32) {
		ret->table.attention_forward = attention_forward;
		ret->table.attention_backward = attention_backward;
	}
	ret->table.cross_forward = cross_forward;
	ret->ops.table = &ret->table;
	ret->ops.rounds = precision;
}

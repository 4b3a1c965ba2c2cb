#include "trainer/ops/profile.h"

#include <string.h>

#include "base/clock.h"

void profile_add(struct profile *p, const char *part, const char *op, double flop, double seconds)
{
	struct profile_row *row = p->rows;

	while (row < p->rows + p->n && (strcmp(row->part, part) != 0 || strcmp(row->op, op) != 0))
		row++;
	if (row == p->rows + PROFILE_ROWS)
		return;
	if (row == p->rows + p->n)
		p->rows[p->n++] = (struct profile_row){.part = part, .op = op};
	row->flop += flop;
	row->seconds += seconds;
}

void profile_reset(struct profile *p)
{
	for (size_t i = 0; i < p->n; i++)
		p->rows[i].flop = p->rows[i].seconds = 0;
}

static double product(size_t m, size_t n, size_t k)
{
	return 2.0 * (double)m * (double)n * (double)k;
}

static double linear_cost(const struct op_linear *p)
{
	return product(p->rows, p->out, p->in);
}

static double linear_backward_cost(const struct op_linear *p)
{
	return (p->dx != NULL ? 2 : 1) * linear_cost(p);
}

static double attention_cost(const struct op_attention *p)
{
	return product(p->batch * p->heads * p->nq, p->nk, p->qk + p->v);
}

/* The scores again, and two products for each of the forward ones. */
static double attention_backward_cost(const struct op_attention *p)
{
	return 2 * attention_cost(p) + product(p->batch * p->heads * p->nq, p->nk, p->qk);
}

/* Of one direction over the tokens: their data channels, and the tables of their positions. */
static double folded_tokens(const struct op_cross *p)
{
	double cost = 0;

	for (size_t i = 0; i < OP_TOKEN_GROUPS; i++) {
		const struct op_tokens *g = &p->groups[i];

		if (g->ndim > 0)
			cost += product(p->nq, g->n, g->n_data);
		for (size_t d = 0; d < g->ndim; d++)
			cost += product(p->nq, g->dim[d], 1 + 2 * g->bands);
	}
	return (double)p->batch * cost;
}

/* q Wk once, context Wv for every clip. */
static double folded_weights(const struct op_cross *p)
{
	return product(p->nq, p->channels, p->qk) + product(p->batch * p->nq, p->channels, p->v);
}

/* Keys and values formed, and attention over them. */
static double formed_cost(const struct op_cross *p)
{
	size_t n = 0;

	for (size_t i = 0; i < OP_TOKEN_GROUPS; i++)
		n += p->groups[i].n;
	return product(p->batch * n, p->channels + p->nq, p->qk + p->v);
}

static double cross_cost(const struct op_cross *p)
{
	return p->heads == 1 ? 2 * folded_tokens(p) + folded_weights(p) : formed_cost(p);
}

static double cross_backward_cost(const struct op_cross *p)
{
	return p->heads == 1 ? 3 * folded_tokens(p) + 2 * folded_weights(p) : 2 * formed_cost(p);
}

/* Normalisation and GELU are passes over memory. */
static double no_products(const void *p)
{
	(void)p;
	return 0;
}

#define MEASURED(op, type, title, cost)                                                            \
	static void op(struct ops *ops, const struct type *p)                                      \
	{                                                                                          \
		double start = clock_seconds();                                                    \
                                                                                                   \
		ops->profile->inner->op(ops, p);                                                   \
		profile_add(ops->profile, ops->part, title, cost(p), clock_seconds() - start);     \
	}

MEASURED(linear_forward, op_linear, "linear forward", linear_cost)
MEASURED(linear_backward, op_linear, "linear backward", linear_backward_cost)
MEASURED(norm_forward, op_norm, "LayerNorm forward", no_products)
MEASURED(norm_backward, op_norm, "LayerNorm backward", no_products)
MEASURED(gelu_forward, op_gelu, "GELU forward", no_products)
MEASURED(gelu_backward, op_gelu, "GELU backward", no_products)
MEASURED(attention_forward, op_attention, "attention forward", attention_cost)
MEASURED(attention_backward, op_attention, "attention backward", attention_backward_cost)
MEASURED(cross_forward, op_cross, "attention forward", cross_cost)
MEASURED(cross_backward, op_cross, "attention backward", cross_backward_cost)

void profile_attach(struct profile *p, struct ops *ops)
{
	*p = (struct profile){.inner = ops->table, .table = *ops->table};
	p->table.linear_forward = linear_forward;
	p->table.linear_backward = linear_backward;
	p->table.norm_forward = norm_forward;
	p->table.norm_backward = norm_backward;
	p->table.gelu_forward = gelu_forward;
	p->table.gelu_backward = gelu_backward;
	p->table.attention_forward = attention_forward;
	p->table.attention_backward = attention_backward;
	p->table.cross_forward = cross_forward;
	p->table.cross_backward = cross_backward;
	ops->profile = p;
	ops->table = &p->table;
}

void profile_detach(struct profile *p, struct ops *ops)
{
	ops->table = p->inner;
	ops->profile = NULL;
}

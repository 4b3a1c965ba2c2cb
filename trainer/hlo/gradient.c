#include "trainer/hlo/gradient.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

enum { NONE = -1 };

/* Derivatives by the nodes that were there before. */
struct adjoint {
	struct hlo_graph *g;
	int64_t *of;  /* a value, or NONE; owned */
	bool *wanted; /* whether the node hangs on what is asked for; owned */
};

static struct hlo_node node_of(const struct adjoint *a, unsigned node)
{
	return a->g->nodes.at[node];
}

static void give(struct adjoint *a, unsigned to, unsigned value)
{
	if (!a->wanted[to])
		return;
	a->of[to] =
		a->of[to] == NONE ? value : hlo_binary(a->g, HLO_ADD, (unsigned)a->of[to], value);
}

static void give_product(struct adjoint *a, unsigned to, unsigned x, unsigned y)
{
	if (a->wanted[to])
		give(a, to, hlo_binary(a->g, HLO_MULTIPLY, x, y));
}

static void by_abs(struct adjoint *a, unsigned y, unsigned dy)
{
	unsigned x = node_of(a, y).operand[0];

	give_product(a, x, dy, hlo_unary(a->g, HLO_SIGN, x));
}

static void by_erf(struct adjoint *a, unsigned y, unsigned dy)
{
	unsigned x = node_of(a, y).operand[0];
	unsigned square = hlo_binary(a->g, HLO_MULTIPLY, x, x);
	unsigned bell = hlo_unary(a->g, HLO_EXP, hlo_unary(a->g, HLO_NEGATE, square));

	give_product(a, x, dy, hlo_with(a->g, HLO_MULTIPLY, bell, M_2_SQRTPI));
}

static void by_exp(struct adjoint *a, unsigned y, unsigned dy)
{
	give_product(a, node_of(a, y).operand[0], dy, y);
}

static void by_log(struct adjoint *a, unsigned y, unsigned dy)
{
	unsigned x = node_of(a, y).operand[0];

	give(a, x, hlo_binary(a->g, HLO_DIVIDE, dy, x));
}

static void by_negate(struct adjoint *a, unsigned y, unsigned dy)
{
	give(a, node_of(a, y).operand[0], hlo_unary(a->g, HLO_NEGATE, dy));
}

/* y = x^(-1/2): dy/dx = -y^3 / 2 */
static void by_rsqrt(struct adjoint *a, unsigned y, unsigned dy)
{
	unsigned square = hlo_binary(a->g, HLO_MULTIPLY, y, y);
	unsigned cube = hlo_binary(a->g, HLO_MULTIPLY, square, y);

	give_product(a, node_of(a, y).operand[0], dy, hlo_with(a->g, HLO_MULTIPLY, cube, -0.5));
}

static void by_sqrt(struct adjoint *a, unsigned y, unsigned dy)
{
	unsigned half = hlo_with(a->g, HLO_MULTIPLY, dy, 0.5);

	give(a, node_of(a, y).operand[0], hlo_binary(a->g, HLO_DIVIDE, half, y));
}

/* dy/dx = 1 - y^2 */
static void by_tanh(struct adjoint *a, unsigned y, unsigned dy)
{
	unsigned square = hlo_binary(a->g, HLO_MULTIPLY, y, y);
	unsigned rest = hlo_with(a->g, HLO_ADD, hlo_unary(a->g, HLO_NEGATE, square), 1);

	give_product(a, node_of(a, y).operand[0], dy, rest);
}

static void by_convert(struct adjoint *a, unsigned y, unsigned dy)
{
	give(a, node_of(a, y).operand[0], dy);
}

static void by_add(struct adjoint *a, unsigned y, unsigned dy)
{
	give(a, node_of(a, y).operand[0], dy);
	give(a, node_of(a, y).operand[1], dy);
}

static void by_subtract(struct adjoint *a, unsigned y, unsigned dy)
{
	unsigned right = node_of(a, y).operand[1];

	give(a, node_of(a, y).operand[0], dy);
	if (a->wanted[right])
		give(a, right, hlo_unary(a->g, HLO_NEGATE, dy));
}

static void by_multiply(struct adjoint *a, unsigned y, unsigned dy)
{
	unsigned left = node_of(a, y).operand[0], right = node_of(a, y).operand[1];

	give_product(a, left, dy, right);
	give_product(a, right, dy, left);
}

/* y = u / v: dy/du = 1 / v, dy/dv = -y / v */
static void by_divide(struct adjoint *a, unsigned y, unsigned dy)
{
	unsigned right = node_of(a, y).operand[1];
	unsigned part = hlo_binary(a->g, HLO_DIVIDE, dy, right);

	give(a, node_of(a, y).operand[0], part);
	if (a->wanted[right])
		give_product(a, right, hlo_unary(a->g, HLO_NEGATE, part), y);
}

static void by_select(struct adjoint *a, unsigned y, unsigned dy)
{
	struct hlo_shape shape = *hlo_shape_of(a->g, dy);
	unsigned which = node_of(a, y).operand[0], zero = hlo_fill(a->g, &shape, 0);

	give(a, node_of(a, y).operand[1], hlo_select(a->g, which, dy, zero));
	give(a, node_of(a, y).operand[2], hlo_select(a->g, which, zero, dy));
}

/* The dimensions 0 .. rank - 1 that are not in `dims`. */
static struct hlo_dims others(const struct hlo_dims *dims, unsigned rank)
{
	struct hlo_dims rest = {0};

	for (unsigned i = 0; i < rank; i++) {
		bool there = false;

		for (unsigned k = 0; k < dims->n; k++)
			there = there || dims->at[k] == i;
		if (!there)
			rest.at[rest.n++] = i;
	}
	return rest;
}

static void by_broadcast(struct adjoint *a, unsigned y, unsigned dy)
{
	struct hlo_node node = node_of(a, y);

	give(a, node.operand[0],
	     hlo_reduce(a->g, HLO_SUM, dy, others(&node.dims, node.shape.rank)));
}

static void by_sum(struct adjoint *a, unsigned y, unsigned dy)
{
	struct hlo_node node = node_of(a, y);
	struct hlo_shape shape = *hlo_shape_of(a->g, node.operand[0]);

	give(a, node.operand[0], hlo_broadcast(a->g, dy, &shape, others(&node.dims, shape.rank)));
}

static void by_reshape(struct adjoint *a, unsigned y, unsigned dy)
{
	unsigned x = node_of(a, y).operand[0];
	struct hlo_shape shape = *hlo_shape_of(a->g, x);

	shape.type = HLO_F32;
	give(a, x, hlo_reshape(a->g, dy, &shape));
}

static void by_transpose(struct adjoint *a, unsigned y, unsigned dy)
{
	struct hlo_node node = node_of(a, y);
	struct hlo_dims back = {.n = node.dims.n};

	for (unsigned i = 0; i < back.n; i++)
		back.at[node.dims.at[i]] = i;
	give(a, node.operand[0], hlo_transpose(a->g, dy, back));
}

static void by_slice(struct adjoint *a, unsigned y, unsigned dy)
{
	struct hlo_node node = node_of(a, y);
	struct hlo_shape was = *hlo_shape_of(a->g, node.operand[0]);

	for (unsigned i = 0; i < was.rank; i++)
		dy = hlo_pad(a->g, dy, i, node.low[i], was.dim[i] - node.high[i]);
	give(a, node.operand[0], dy);
}

static void by_pad(struct adjoint *a, unsigned y, unsigned dy)
{
	struct hlo_node node = node_of(a, y);

	for (unsigned i = 0; i < node.shape.rank; i++)
		dy = hlo_slice(a->g, dy, i, node.low[i], node.shape.dim[i] - node.high[i]);
	give(a, node.operand[0], dy);
}

static void by_concatenate(struct adjoint *a, unsigned y, unsigned dy)
{
	struct hlo_node node = node_of(a, y);
	unsigned dim = (unsigned)node.dims.at[0];
	int64_t first = 0;

	for (unsigned i = 0; i < node.n; i++) {
		int64_t end = first + hlo_shape_of(a->g, node.operand[i])->dim[dim];

		if (a->wanted[node.operand[i]])
			give(a, node.operand[i], hlo_slice(a->g, dy, dim, first, end));
		first = end;
	}
}

/* Where `dim` stands in `dims`, or -1. */
static int place(const struct hlo_dims *dims, int64_t dim)
{
	for (unsigned i = 0; i < dims->n; i++)
		if (dims->at[i] == dim)
			return (int)i;
	return -1;
}

static struct hlo_dims free_of(const struct hlo_node *node, const struct hlo_shape *shape,
                               unsigned side)
{
	struct hlo_dims rest = others(&node->dot.batch[side], shape->rank), ret = {0};

	for (unsigned i = 0; i < rest.n; i++)
		if (place(&node->dot.contracted[side], rest.at[i]) < 0)
			ret.at[ret.n++] = rest.at[i];
	return ret;
}

static struct hlo_dims range(unsigned first, unsigned n)
{
	struct hlo_dims dims = {.n = n};

	for (unsigned i = 0; i < n; i++)
		dims.at[i] = first + i;
	return dims;
}

/*
 * A product's derivative by the operand on `side` is the product of dy with the other one over the
 * other's free dimensions. It comes as [batch, free, contracted in the other's order] and goes back
 * to the operand's order.
 */
static void by_operand(struct adjoint *a, const struct hlo_node *node, unsigned side, unsigned dy)
{
	unsigned x = node->operand[side], other = node->operand[1 - side];
	struct hlo_shape shape = *hlo_shape_of(a->g, x), beside = *hlo_shape_of(a->g, other);
	struct hlo_dims mine = free_of(node, &shape, side);
	struct hlo_dims theirs = free_of(node, &beside, 1 - side);
	unsigned batch = node->dot.batch[0].n, at = batch;
	struct hlo_dot dot = {.batch = {range(0, batch), node->dot.batch[1 - side]}};
	struct hlo_dims order = {.n = shape.rank};
	unsigned d;

	dot.contracted[0] = range(batch + (side == 0 ? mine.n : 0), theirs.n);
	dot.contracted[1] = theirs;
	d = hlo_dot(a->g, dy, other, &dot);
	for (unsigned i = 0; i < batch; i++)
		order.at[node->dot.batch[side].at[i]] = i;
	for (unsigned i = 0; i < mine.n; i++)
		order.at[mine.at[i]] = at++;
	for (unsigned i = 0; i < beside.rank; i++) {
		int k = place(&node->dot.contracted[1 - side], i);

		if (k >= 0)
			order.at[node->dot.contracted[side].at[k]] = at++;
	}
	give(a, x, hlo_transpose(a->g, d, order));
}

static void by_dot(struct adjoint *a, unsigned y, unsigned dy)
{
	struct hlo_node node = node_of(a, y);

	for (unsigned side = 0; side < 2; side++)
		if (a->wanted[node.operand[side]])
			by_operand(a, &node, side, dy);
}

/* What is not here counts as a constant. */
static void (*const rules[HLO_OPS])(struct adjoint *a, unsigned y, unsigned dy) = {
	[HLO_ABS] = by_abs,
	[HLO_ERF] = by_erf,
	[HLO_EXP] = by_exp,
	[HLO_LOG] = by_log,
	[HLO_NEGATE] = by_negate,
	[HLO_RSQRT] = by_rsqrt,
	[HLO_SQRT] = by_sqrt,
	[HLO_TANH] = by_tanh,
	[HLO_CONVERT] = by_convert,
	[HLO_ADD] = by_add,
	[HLO_SUBTRACT] = by_subtract,
	[HLO_MULTIPLY] = by_multiply,
	[HLO_DIVIDE] = by_divide,
	[HLO_SELECT] = by_select,
	[HLO_BROADCAST] = by_broadcast,
	[HLO_RESHAPE] = by_reshape,
	[HLO_TRANSPOSE] = by_transpose,
	[HLO_SLICE] = by_slice,
	[HLO_PAD] = by_pad,
	[HLO_CONCATENATE] = by_concatenate,
	[HLO_DOT] = by_dot,
	[HLO_SUM] = by_sum,
};

static bool has_rule(const struct hlo_node *node)
{
	return rules[node->op] != NULL;
}

/* Which nodes hang on a value of `by` by operators that have a derivative. */
static void mark_wanted(struct adjoint *a, const unsigned *by, size_t n, unsigned end)
{
	for (size_t i = 0; i < n; i++)
		a->wanted[by[i]] = true;
	for (unsigned i = 0; i < end; i++) {
		const struct hlo_node *node = &a->g->nodes.at[i];

		for (unsigned k = 0; has_rule(node) && k < node->n; k++)
			a->wanted[i] = a->wanted[i] || a->wanted[node->operand[k]];
	}
}

void hlo_gradient(struct hlo_graph *g, unsigned of, const unsigned *by, size_t n, unsigned *ret)
{
	unsigned end = of + 1;
	AUTO_FREE int64_t *values = mem_calloc(end, sizeof(*values));
	AUTO_FREE bool *wanted = mem_calloc(end, sizeof(*wanted));
	struct adjoint a = {.g = g, .of = values, .wanted = wanted};
	struct hlo_shape scalar = {.type = HLO_F32};

	for (unsigned i = 0; i < end; i++)
		values[i] = NONE;
	mark_wanted(&a, by, n, end);
	values[of] = hlo_fill(g, &scalar, 1);
	for (unsigned i = end; i-- > 0;)
		if (a.wanted[i] && values[i] != NONE && has_rule(&g->nodes.at[i]))
			rules[g->nodes.at[i].op](&a, i, (unsigned)values[i]);
	for (size_t i = 0; i < n; i++) {
		struct hlo_shape shape = *hlo_shape_of(g, by[i]);

		ret[i] = values[by[i]] != NONE ? (unsigned)values[by[i]] : hlo_fill(g, &shape, 0);
	}
}

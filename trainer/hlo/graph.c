#include "trainer/hlo/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* What the caller promised. */
#define PROMISED(fits)                                                                             \
	do {                                                                                       \
		if (!(fits))                                                                       \
			BUG("operands of HLO do not fit: %s", #fits);                              \
	} while (0)

static const struct {
	const char *name;
	int operands;
} ops[] = {
#define HLO_ROW(op, name, operands) [op] = {name, operands},
	EACH_HLO_OP(HLO_ROW)
#undef HLO_ROW
};

const char *hlo_op_name(enum hlo_op op)
{
	return ops[op].name;
}

const char *hlo_type_name(enum hlo_type type)
{
	static const char *const names[] = {[HLO_PRED] = "pred",
	                                    [HLO_S32] = "s32",
	                                    [HLO_U32] = "u32",
	                                    [HLO_BF16] = "bf16",
	                                    [HLO_F32] = "f32"};

	return names[type];
}

void hlo_graph_done(struct hlo_graph *g)
{
	for (size_t i = 0; i < g->nodes.n; i++) {
		free(g->nodes.at[i].operand);
		free(g->nodes.at[i].name);
	}
	vec_done(&g->nodes);
}

const struct hlo_shape *hlo_shape_of(const struct hlo_graph *g, unsigned value)
{
	return &g->nodes.at[value].shape;
}

size_t hlo_elements(const struct hlo_shape *s)
{
	size_t n = 1;

	for (unsigned i = 0; i < s->rank; i++)
		n *= (size_t)s->dim[i];
	return n;
}

bool hlo_shape_equal(const struct hlo_shape *a, const struct hlo_shape *b)
{
	return a->type == b->type && a->rank == b->rank &&
	       (a->rank == 0 || memcmp(a->dim, b->dim, a->rank * sizeof(a->dim[0])) == 0);
}

/* A node of the graph with its operands; the rest of it is zero. */
static struct hlo_node *add(struct hlo_graph *g, enum hlo_op op, const struct hlo_shape *shape,
                            const unsigned *operands, unsigned n)
{
	struct hlo_node node = {.op = op, .shape = *shape, .n = n};

	PROMISED(!(ops[op].operands >= 0 && (unsigned)ops[op].operands != n));
	PROMISED(!(shape->rank > HLO_RANK_MAX));
	node.operand = mem_calloc(n, sizeof(node.operand[0]));
	for (unsigned i = 0; i < n; i++) {
		PROMISED(!(operands[i] >= g->nodes.n));
		node.operand[i] = operands[i];
	}
	vec_push(&g->nodes, node);
	return &g->nodes.at[g->nodes.n - 1];
}

static unsigned last(const struct hlo_graph *g)
{
	return (unsigned)g->nodes.n - 1;
}

unsigned hlo_parameter(struct hlo_graph *g, const struct hlo_shape *shape, const char *name)
{
	struct hlo_node *node = add(g, HLO_PARAMETER, shape, NULL, 0);

	node->index = g->n_parameters++;
	node->name = mem_strdup(name);
	return last(g);
}

static unsigned fill(struct hlo_graph *g, const struct hlo_shape *shape, uint32_t bits)
{
	struct hlo_shape scalar = {.type = shape->type};

	add(g, HLO_CONSTANT, &scalar, NULL, 0)->bits = bits;
	if (shape->rank == 0)
		return last(g);
	return hlo_broadcast(g, last(g), shape, (struct hlo_dims){0});
}

unsigned hlo_fill(struct hlo_graph *g, const struct hlo_shape *shape, double value)
{
	float as = (float)value;
	uint32_t bits;

	PROMISED(!(shape->type != HLO_F32));
	memcpy(&bits, &as, sizeof(bits));
	return fill(g, shape, bits);
}

unsigned hlo_fill_u32(struct hlo_graph *g, const struct hlo_shape *shape, uint32_t value)
{
	PROMISED(!(shape->type != HLO_U32));
	return fill(g, shape, value);
}

unsigned hlo_unary(struct hlo_graph *g, enum hlo_op op, unsigned x)
{
	struct hlo_shape shape = *hlo_shape_of(g, x);

	add(g, op, &shape, &x, 1);
	return last(g);
}

unsigned hlo_binary(struct hlo_graph *g, enum hlo_op op, unsigned a, unsigned b)
{
	struct hlo_shape shape = *hlo_shape_of(g, a);

	PROMISED(!(!hlo_shape_equal(&shape, hlo_shape_of(g, b))));
	if (op == HLO_AT_LEAST)
		shape.type = HLO_PRED;
	add(g, op, &shape, (unsigned[]){a, b}, 2);
	return last(g);
}

unsigned hlo_with(struct hlo_graph *g, enum hlo_op op, unsigned x, double number)
{
	struct hlo_shape shape = *hlo_shape_of(g, x);

	return hlo_binary(g, op, x, hlo_fill(g, &shape, number));
}

unsigned hlo_convert(struct hlo_graph *g, unsigned x, enum hlo_type type)
{
	struct hlo_shape shape = *hlo_shape_of(g, x);

	if (shape.type == type)
		return x;
	shape.type = type;
	add(g, HLO_CONVERT, &shape, &x, 1);
	return last(g);
}

unsigned hlo_select(struct hlo_graph *g, unsigned which, unsigned a, unsigned b)
{
	struct hlo_shape shape = *hlo_shape_of(g, a), pred = shape;

	pred.type = HLO_PRED;
	PROMISED(!(!hlo_shape_equal(&shape, hlo_shape_of(g, b)) ||
	           !hlo_shape_equal(&pred, hlo_shape_of(g, which))));
	add(g, HLO_SELECT, &shape, (unsigned[]){which, a, b}, 3);
	return last(g);
}

unsigned hlo_broadcast(struct hlo_graph *g, unsigned x, const struct hlo_shape *shape,
                       struct hlo_dims to)
{
	const struct hlo_shape *from = hlo_shape_of(g, x);

	PROMISED(!(to.n != from->rank || from->type != shape->type));
	for (unsigned i = 0; i < to.n; i++)
		PROMISED(!(to.at[i] >= shape->rank || shape->dim[to.at[i]] != from->dim[i] ||
		           (i > 0 && to.at[i] <= to.at[i - 1])));
	if (to.n == shape->rank)
		return x;
	add(g, HLO_BROADCAST, shape, &x, 1)->dims = to;
	return last(g);
}

unsigned hlo_reshape(struct hlo_graph *g, unsigned x, const struct hlo_shape *shape)
{
	const struct hlo_shape *from = hlo_shape_of(g, x);

	PROMISED(!(hlo_elements(from) != hlo_elements(shape) || from->type != shape->type));
	if (hlo_shape_equal(from, shape))
		return x;
	add(g, HLO_RESHAPE, shape, &x, 1);
	return last(g);
}

unsigned hlo_transpose(struct hlo_graph *g, unsigned x, struct hlo_dims from)
{
	struct hlo_shape was = *hlo_shape_of(g, x), shape = was;
	bool moved = false;

	PROMISED(!(from.n != was.rank));
	for (unsigned i = 0; i < from.n; i++) {
		shape.dim[i] = was.dim[from.at[i]];
		moved = moved || from.at[i] != i;
	}
	if (!moved)
		return x;
	add(g, HLO_TRANSPOSE, &shape, &x, 1)->dims = from;
	return last(g);
}

unsigned hlo_slice(struct hlo_graph *g, unsigned x, unsigned dim, int64_t first, int64_t end)
{
	struct hlo_shape was = *hlo_shape_of(g, x), shape = was;
	struct hlo_node *node;

	PROMISED(!(dim >= was.rank || first < 0 || first >= end || end > was.dim[dim]));
	if (first == 0 && end == was.dim[dim])
		return x;
	shape.dim[dim] = end - first;
	node = add(g, HLO_SLICE, &shape, &x, 1);
	memcpy(node->high, was.dim, sizeof(node->high));
	node->low[dim] = first;
	node->high[dim] = end;
	return last(g);
}

unsigned hlo_pad(struct hlo_graph *g, unsigned x, unsigned dim, int64_t before, int64_t behind)
{
	struct hlo_shape shape = *hlo_shape_of(g, x), scalar = {.type = shape.type};
	unsigned zero;
	struct hlo_node *node;

	PROMISED(!(dim >= shape.rank || before < 0 || behind < 0));
	if (before == 0 && behind == 0)
		return x;
	zero = fill(g, &scalar, 0);
	shape.dim[dim] += before + behind;
	node = add(g, HLO_PAD, &shape, (unsigned[]){x, zero}, 2);
	node->low[dim] = before;
	node->high[dim] = behind;
	return last(g);
}

unsigned hlo_concatenate(struct hlo_graph *g, const unsigned *parts, unsigned n, unsigned dim)
{
	struct hlo_shape shape = *hlo_shape_of(g, parts[0]);

	for (unsigned i = 1; i < n; i++) {
		struct hlo_shape part = *hlo_shape_of(g, parts[i]);

		shape.dim[dim] += part.dim[dim];
		part.dim[dim] = shape.dim[dim];
		PROMISED(!(!hlo_shape_equal(&part, &shape)));
	}
	if (n == 1)
		return parts[0];
	add(g, HLO_CONCATENATE, &shape, parts, n)->dims = HLO_DIMS(dim);
	return last(g);
}

static bool holds(const struct hlo_dims *dims, int64_t dim)
{
	for (unsigned i = 0; i < dims->n; i++)
		if (dims->at[i] == dim)
			return true;
	return false;
}

static void append_free(struct hlo_shape *to, const struct hlo_shape *from,
                        const struct hlo_dot *dot, unsigned side)
{
	for (unsigned i = 0; i < from->rank; i++)
		if (!holds(&dot->batch[side], i) && !holds(&dot->contracted[side], i))
			to->dim[to->rank++] = from->dim[i];
}

static void check_pairs(const struct hlo_shape *a, const struct hlo_shape *b,
                        const struct hlo_dims dims[2])
{
	PROMISED(!(dims[0].n != dims[1].n));
	for (unsigned i = 0; i < dims[0].n; i++)
		PROMISED(!(a->dim[dims[0].at[i]] != b->dim[dims[1].at[i]]));
}

unsigned hlo_dot(struct hlo_graph *g, unsigned a, unsigned b, const struct hlo_dot *dims)
{
	enum hlo_type type = g->rounds ? HLO_BF16 : HLO_F32;
	unsigned left = hlo_convert(g, a, type), right = hlo_convert(g, b, type);
	struct hlo_shape sa = *hlo_shape_of(g, left), sb = *hlo_shape_of(g, right);
	struct hlo_shape shape = {.type = HLO_F32};

	check_pairs(&sa, &sb, dims->batch);
	check_pairs(&sa, &sb, dims->contracted);
	for (unsigned i = 0; i < dims->batch[0].n; i++)
		shape.dim[shape.rank++] = sa.dim[dims->batch[0].at[i]];
	PROMISED(
		!(sa.rank + sb.rank - 2 * dims->contracted[0].n - dims->batch[0].n > HLO_RANK_MAX));
	append_free(&shape, &sa, dims, 0);
	append_free(&shape, &sb, dims, 1);
	add(g, HLO_DOT, &shape, (unsigned[]){left, right}, 2)->dot = *dims;
	return last(g);
}

unsigned hlo_reduce(struct hlo_graph *g, enum hlo_op op, unsigned x, struct hlo_dims over)
{
	struct hlo_shape was = *hlo_shape_of(g, x), shape = {.type = was.type}, scalar = shape;
	unsigned from;

	if (over.n == 0)
		return x;
	from = hlo_fill(g, &scalar, op == HLO_SUM ? 0 : -INFINITY);
	for (unsigned i = 0; i < was.rank; i++)
		if (!holds(&over, i))
			shape.dim[shape.rank++] = was.dim[i];
	add(g, op, &shape, (unsigned[]){x, from}, 2)->dims = over;
	return last(g);
}

unsigned hlo_all_reduce(struct hlo_graph *g, unsigned x)
{
	return g->replicas > 1 ? hlo_unary(g, HLO_ALL_REDUCE, x) : x;
}

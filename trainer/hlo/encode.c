#include <stdio.h>
#include <stdlib.h>

#include "trainer/hlo/module.h"
#include "trainer/hlo/wire.h"

/* Fields of HloModuleProto, HloComputationProto, HloInstructionProto, ShapeProto and what is in
 * them. */
enum { MODULE_NAME = 1, MODULE_ENTRY_NAME, MODULE_COMPUTATIONS, MODULE_PROGRAM, MODULE_ID };
enum { MODULE_ENTRY_ID = 6 };
enum { COMPUTATION_NAME = 1, COMPUTATION_INSTRUCTIONS = 2, COMPUTATION_PROGRAM = 4 };
enum { COMPUTATION_ID = 5, COMPUTATION_ROOT = 6 };
enum { NODE_NAME = 1, NODE_OPCODE = 2, NODE_SHAPE = 3, NODE_LITERAL = 8, NODE_PARAMETER = 9 };
enum { NODE_DIMENSIONS = 14, NODE_SLICES = 17, NODE_PADDING = 21, NODE_DOT = 30, NODE_ID = 35 };
enum { NODE_OPERANDS = 36, NODE_CALLED = 38, NODE_REPLICA_GROUPS = 49, NODE_DIRECTION = 63 };
enum { SHAPE_TYPE = 2, SHAPE_DIMENSIONS = 3, SHAPE_TUPLE = 4, SHAPE_LAYOUT = 5, SHAPE_DYNAMIC = 6 };
enum { LAYOUT_MINOR_TO_MAJOR = 1 };
enum { PROGRAM_PARAMETERS = 1, PROGRAM_RESULT = 2, PROGRAM_NAMES = 3 };
enum { LITERAL_SHAPE = 1, LITERAL_U32S = 6, LITERAL_F32S = 8 };
enum { DOT_CONTRACTING = 1, DOT_BATCH = 3 }; /* of the left operand; the right's is the next */
enum { SLICE_START = 1, SLICE_LIMIT, SLICE_STRIDE };
enum { PADDING_DIMENSIONS = 1, PADDING_LOW = 1, PADDING_HIGH = 2 };
enum { GROUP_IDS = 1 };

/* PrimitiveType of xla_data.proto */
enum { TYPE_TUPLE = 13 };
static const int types[HLO_TYPES] = {
	[HLO_PRED] = 1, [HLO_S32] = 4, [HLO_U32] = 8, [HLO_F32] = 11, [HLO_BF16] = 16};

static void put_shape(struct strbuf *to, unsigned field, const struct hlo_shape *s)
{
	struct strbuf shape = {0}, layout = {0};
	int64_t order[HLO_RANK_MAX], fixed[HLO_RANK_MAX] = {0};

	for (unsigned i = 0; i < s->rank; i++)
		order[i] = s->rank - 1 - i;
	wire_int(&shape, SHAPE_TYPE, types[s->type]);
	wire_ints(&shape, SHAPE_DIMENSIONS, s->dim, s->rank);
	wire_ints(&layout, LAYOUT_MINOR_TO_MAJOR, order, s->rank);
	wire_message(&shape, SHAPE_LAYOUT, &layout);
	wire_ints(&shape, SHAPE_DYNAMIC, fixed, s->rank);
	wire_message(to, field, &shape);
	strbuf_done(&shape);
	strbuf_done(&layout);
}

static void put_result_shape(struct strbuf *to, unsigned field, const struct hlo_module *m)
{
	struct strbuf shape = {0};

	wire_int(&shape, SHAPE_TYPE, TYPE_TUPLE);
	for (size_t i = 0; i < m->n; i++)
		put_shape(&shape, SHAPE_TUPLE, hlo_shape_of(m->graph, m->results[i]));
	wire_message(to, field, &shape);
	strbuf_done(&shape);
}

static void put_literal(struct strbuf *to, const struct hlo_node *node)
{
	struct strbuf literal = {0};
	int64_t bits = node->bits;

	put_shape(&literal, LITERAL_SHAPE, &node->shape);
	if (node->shape.type == HLO_F32)
		wire_bytes(&literal, LITERAL_F32S, &node->bits, sizeof(node->bits));
	else
		wire_ints(&literal, LITERAL_U32S, &bits, 1);
	wire_message(to, NODE_LITERAL, &literal);
	strbuf_done(&literal);
}

static void put_slices(struct strbuf *to, const struct hlo_node *node)
{
	struct strbuf one = {0};

	for (unsigned i = 0; i < node->shape.rank; i++) {
		wire_int(&one, SLICE_START, node->low[i]);
		wire_int(&one, SLICE_LIMIT, node->high[i]);
		wire_int(&one, SLICE_STRIDE, 1);
		wire_message(to, NODE_SLICES, &one);
	}
	strbuf_done(&one);
}

static void put_padding(struct strbuf *to, const struct hlo_node *node)
{
	struct strbuf all = {0}, one = {0};

	for (unsigned i = 0; i < node->shape.rank; i++) {
		wire_int(&one, PADDING_LOW, node->low[i]);
		wire_int(&one, PADDING_HIGH, node->high[i]);
		wire_message(&all, PADDING_DIMENSIONS, &one);
	}
	wire_message(to, NODE_PADDING, &all);
	strbuf_done(&all);
	strbuf_done(&one);
}

static void put_dot(struct strbuf *to, const struct hlo_node *node)
{
	struct strbuf dot = {0};

	for (unsigned side = 0; side < 2; side++)
		wire_ints(&dot, DOT_CONTRACTING + side, node->dot.contracted[side].at,
		          node->dot.contracted[side].n);
	for (unsigned side = 0; side < 2; side++)
		wire_ints(&dot, DOT_BATCH + side, node->dot.batch[side].at,
		          node->dot.batch[side].n);
	wire_message(to, NODE_DOT, &dot);
	strbuf_done(&dot);
}

/* All replicas are one group. */
static void put_replicas(struct strbuf *to, const struct hlo_module *m)
{
	struct strbuf group = {0};
	AUTO_FREE int64_t *ids = mem_calloc(m->graph->replicas, sizeof(*ids));

	for (unsigned i = 0; i < m->graph->replicas; i++)
		ids[i] = i;
	wire_ints(&group, GROUP_IDS, ids, m->graph->replicas);
	wire_message(to, NODE_REPLICA_GROUPS, &group);
	strbuf_done(&group);
}

/* Where ids are: computations of reducers have three each, the entry's follow. */
enum { REDUCER_NODES = 3 };

static int64_t entry_id(size_t value)
{
	return (int64_t)(HLO_REDUCERS * REDUCER_NODES + 1 + value);
}

static int64_t reducer_id(unsigned number)
{
	return number + 1;
}

static void put_operands(struct strbuf *to, const unsigned *values, size_t n)
{
	AUTO_FREE int64_t *ids = mem_calloc(n, sizeof(*ids));

	for (size_t i = 0; i < n; i++)
		ids[i] = entry_id(values[i]);
	wire_ints(to, NODE_OPERANDS, ids, n);
}

/* What only some operators have, in the order of the fields' numbers. */
static void put_rest(struct strbuf *to, const struct hlo_module *m, const struct hlo_node *node,
                     size_t value)
{
	unsigned number = 0;
	bool called = hlo_reducer(node, &number) != NULL;
	int64_t computation = reducer_id(number);

	if (node->op == HLO_CONSTANT)
		put_literal(to, node);
	if (node->op == HLO_PARAMETER)
		wire_int(to, NODE_PARAMETER, node->index);
	wire_ints(to, NODE_DIMENSIONS, node->dims.at, node->dims.n);
	if (node->op == HLO_SLICE)
		put_slices(to, node);
	if (node->op == HLO_PAD)
		put_padding(to, node);
	if (node->op == HLO_DOT)
		put_dot(to, node);
	wire_int(to, NODE_ID, entry_id(value));
	put_operands(to, node->operand, node->n);
	if (called)
		wire_ints(to, NODE_CALLED, &computation, 1);
	if (node->op == HLO_ALL_REDUCE)
		put_replicas(to, m);
	if (node->op == HLO_AT_LEAST)
		wire_text(to, NODE_DIRECTION, "GE");
}

static void put_node(struct strbuf *to, const struct hlo_module *m, size_t value)
{
	const struct hlo_node *node = &m->graph->nodes.at[value];
	struct strbuf one = {0};
	char name[32];

	snprintf(name, sizeof(name), "v%zu", value);
	wire_text(&one, NODE_NAME, node->name != NULL ? node->name : name);
	wire_text(&one, NODE_OPCODE, hlo_op_name(node->op));
	put_shape(&one, NODE_SHAPE, &node->shape);
	put_rest(&one, m, node, value);
	wire_message(to, COMPUTATION_INSTRUCTIONS, &one);
	strbuf_done(&one);
}

static void put_root(struct strbuf *to, const struct hlo_module *m)
{
	struct strbuf one = {0};

	wire_text(&one, NODE_NAME, "results");
	wire_text(&one, NODE_OPCODE, "tuple");
	put_result_shape(&one, NODE_SHAPE, m);
	wire_int(&one, NODE_ID, entry_id(m->graph->nodes.n));
	put_operands(&one, m->results, m->n);
	wire_message(to, COMPUTATION_INSTRUCTIONS, &one);
	strbuf_done(&one);
}

static void put_program(struct strbuf *to, unsigned field, const struct hlo_module *m)
{
	struct strbuf program = {0};

	for (size_t i = 0; i < m->graph->nodes.n; i++)
		if (m->graph->nodes.at[i].op == HLO_PARAMETER)
			put_shape(&program, PROGRAM_PARAMETERS, &m->graph->nodes.at[i].shape);
	put_result_shape(&program, PROGRAM_RESULT, m);
	for (size_t i = 0; i < m->graph->nodes.n; i++)
		if (m->graph->nodes.at[i].op == HLO_PARAMETER)
			wire_text(&program, PROGRAM_NAMES, m->graph->nodes.at[i].name);
	wire_message(to, field, &program);
	strbuf_done(&program);
}

static void put_entry(struct strbuf *to, const struct hlo_module *m, const bool *live)
{
	struct strbuf entry = {0};

	wire_text(&entry, COMPUTATION_NAME, "main");
	for (size_t i = 0; i < m->graph->nodes.n; i++)
		if (live[i])
			put_node(&entry, m, i);
	put_root(&entry, m);
	put_program(&entry, COMPUTATION_PROGRAM, m);
	wire_int(&entry, COMPUTATION_ID, reducer_id(HLO_REDUCERS));
	wire_int(&entry, COMPUTATION_ROOT, entry_id(m->graph->nodes.n));
	wire_message(to, MODULE_COMPUTATIONS, &entry);
	strbuf_done(&entry);
}

/* One of the three instructions of a reducer: two parameters, and what becomes of them. */
static void put_reducer_node(struct strbuf *to, const struct hlo_reducer *r, int64_t first,
                             unsigned which)
{
	const struct hlo_shape scalar = {.type = HLO_F32};
	enum hlo_op op = which < 2 ? HLO_PARAMETER : r->by;
	struct strbuf one = {0};
	char name[32];

	snprintf(name, sizeof(name), "%s.%u", r->name, which);
	wire_text(&one, NODE_NAME, name);
	wire_text(&one, NODE_OPCODE, hlo_op_name(op));
	put_shape(&one, NODE_SHAPE, &scalar);
	if (which < 2)
		wire_int(&one, NODE_PARAMETER, which);
	wire_int(&one, NODE_ID, first + which);
	if (which == 2)
		wire_ints(&one, NODE_OPERANDS, (int64_t[]){first, first + 1}, 2);
	wire_message(to, COMPUTATION_INSTRUCTIONS, &one);
	strbuf_done(&one);
}

static void put_reducer(struct strbuf *to, unsigned number)
{
	const struct hlo_reducer *r = hlo_reducer_at(number);
	const struct hlo_shape scalar = {.type = HLO_F32};
	struct strbuf all = {0}, program = {0};
	int64_t first = REDUCER_NODES * (int64_t)number + 1;

	wire_text(&all, COMPUTATION_NAME, r->name);
	for (unsigned i = 0; i < REDUCER_NODES; i++)
		put_reducer_node(&all, r, first, i);
	put_shape(&program, PROGRAM_PARAMETERS, &scalar);
	put_shape(&program, PROGRAM_PARAMETERS, &scalar);
	put_shape(&program, PROGRAM_RESULT, &scalar);
	wire_text(&program, PROGRAM_NAMES, "a");
	wire_text(&program, PROGRAM_NAMES, "b");
	wire_message(&all, COMPUTATION_PROGRAM, &program);
	wire_int(&all, COMPUTATION_ID, reducer_id(number));
	wire_int(&all, COMPUTATION_ROOT, first + 2);
	wire_message(to, MODULE_COMPUTATIONS, &all);
	strbuf_done(&program);
	strbuf_done(&all);
}

void hlo_encode(const struct hlo_module *m, struct strbuf *ret)
{
	AUTO_FREE bool *live = hlo_live(m);
	bool used[HLO_REDUCERS];

	hlo_reducers_used(m, live, used);
	wire_text(ret, MODULE_NAME, m->name);
	wire_text(ret, MODULE_ENTRY_NAME, "main");
	for (unsigned i = 0; i < HLO_REDUCERS; i++)
		if (used[i])
			put_reducer(ret, i);
	put_entry(ret, m, live);
	put_program(ret, MODULE_PROGRAM, m);
	wire_int(ret, MODULE_ID, 1);
	wire_int(ret, MODULE_ENTRY_ID, reducer_id(HLO_REDUCERS));
}

#include <stdlib.h>
#include <string.h>

#include "trainer/hlo/module.h"

static void print_dims(struct strbuf *to, const int64_t *dims, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		strbuf_addf(to, "%s%lld", i > 0 ? "," : "", (long long)dims[i]);
}

static void print_shape(struct strbuf *to, const struct hlo_shape *s)
{
	strbuf_addf(to, "%s[", hlo_type_name(s->type));
	print_dims(to, s->dim, s->rank);
	strbuf_addc(to, ']');
}

static void print_list(struct strbuf *to, const char *key, const struct hlo_dims *dims)
{
	strbuf_addf(to, ", %s={", key);
	print_dims(to, dims->at, dims->n);
	strbuf_addc(to, '}');
}

static void print_value(struct strbuf *to, const struct hlo_graph *g, unsigned value)
{
	const char *name = g->nodes.at[value].name;

	if (name != NULL)
		strbuf_adds(to, name);
	else
		strbuf_addf(to, "v%u", value);
}

static void print_values(struct strbuf *to, const struct hlo_graph *g, const unsigned *values,
                         size_t n)
{
	strbuf_addc(to, '(');
	for (size_t i = 0; i < n; i++) {
		strbuf_adds(to, i > 0 ? ", " : "");
		print_value(to, g, values[i]);
	}
	strbuf_addc(to, ')');
}

/* Enough digits to read the same bits. */
static void print_constant(struct strbuf *to, const struct hlo_node *node)
{
	float value;

	memcpy(&value, &node->bits, sizeof(value));
	if (node->shape.type == HLO_F32)
		strbuf_addf(to, "(%.9g)", (double)value);
	else
		strbuf_addf(to, "(%u)", node->bits);
}

static void print_slices(struct strbuf *to, const struct hlo_node *node)
{
	strbuf_adds(to, ", slice={");
	for (unsigned i = 0; i < node->shape.rank; i++)
		strbuf_addf(to, "%s[%lld:%lld]", i > 0 ? ", " : "", (long long)node->low[i],
		            (long long)node->high[i]);
	strbuf_addc(to, '}');
}

static void print_padding(struct strbuf *to, const struct hlo_node *node)
{
	strbuf_adds(to, ", padding=");
	for (unsigned i = 0; i < node->shape.rank; i++)
		strbuf_addf(to, "%s%lld_%lld", i > 0 ? "x" : "", (long long)node->low[i],
		            (long long)node->high[i]);
}

static void print_dot(struct strbuf *to, const struct hlo_node *node)
{
	const struct hlo_dot *dot = &node->dot;

	if (dot->batch[0].n > 0) {
		print_list(to, "lhs_batch_dims", &dot->batch[0]);
		print_list(to, "rhs_batch_dims", &dot->batch[1]);
	}
	print_list(to, "lhs_contracting_dims", &dot->contracted[0]);
	print_list(to, "rhs_contracting_dims", &dot->contracted[1]);
}

static void print_replicas(struct strbuf *to, unsigned replicas)
{
	strbuf_adds(to, ", replica_groups={{");
	for (unsigned i = 0; i < replicas; i++)
		strbuf_addf(to, "%s%u", i > 0 ? "," : "", i);
	strbuf_adds(to, "}}");
}

/* What follows the operands. */
static void print_rest(struct strbuf *to, const struct hlo_graph *g, const struct hlo_node *node)
{
	const struct hlo_reducer *reducer;
	unsigned number;

	switch (node->op) {
	case HLO_SLICE:
		print_slices(to, node);
		break;
	case HLO_PAD:
		print_padding(to, node);
		break;
	case HLO_DOT:
		print_dot(to, node);
		break;
	case HLO_AT_LEAST:
		strbuf_adds(to, ", direction=GE");
		break;
	case HLO_ALL_REDUCE:
		print_replicas(to, g->replicas);
		break;
	case HLO_BROADCAST:
		print_list(to, "dimensions", &node->dims);
		break;
	default:
		if (node->dims.n > 0)
			print_list(to, "dimensions", &node->dims);
		break;
	}
	reducer = hlo_reducer(node, &number);
	if (reducer != NULL)
		strbuf_addf(to, ", to_apply=%s", reducer->name);
}

static void print_node(struct strbuf *to, const struct hlo_graph *g, unsigned value)
{
	const struct hlo_node *node = &g->nodes.at[value];

	strbuf_adds(to, "  ");
	print_value(to, g, value);
	strbuf_adds(to, " = ");
	print_shape(to, &node->shape);
	strbuf_addf(to, " %s", hlo_op_name(node->op));
	if (node->op == HLO_PARAMETER)
		strbuf_addf(to, "(%u)", node->index);
	else if (node->op == HLO_CONSTANT)
		print_constant(to, node);
	else
		print_values(to, g, node->operand, node->n);
	print_rest(to, g, node);
	strbuf_addc(to, '\n');
}

static void print_reducer(struct strbuf *to, const struct hlo_reducer *r)
{
	strbuf_addf(to, "%s {\n", r->name);
	for (unsigned i = 0; i < 2; i++)
		strbuf_addf(to, "  %s.%u = f32[] parameter(%u)\n", r->name, i, i);
	strbuf_addf(to, "  ROOT %s.2 = f32[] %s(%s.0, %s.1)\n}\n\n", r->name, hlo_op_name(r->by),
	            r->name, r->name);
}

static void print_root(struct strbuf *to, const struct hlo_module *m)
{
	strbuf_adds(to, "  ROOT results = (");
	for (size_t i = 0; i < m->n; i++) {
		strbuf_adds(to, i > 0 ? ", " : "");
		print_shape(to, hlo_shape_of(m->graph, m->results[i]));
	}
	strbuf_adds(to, ") tuple");
	print_values(to, m->graph, m->results, m->n);
	strbuf_adds(to, "\n}\n");
}

void hlo_print(const struct hlo_module *m, struct strbuf *ret)
{
	AUTO_FREE bool *live = hlo_live(m);
	bool used[HLO_REDUCERS];

	hlo_reducers_used(m, live, used);
	strbuf_addf(ret, "HloModule %s\n\n", m->name);
	for (unsigned i = 0; i < HLO_REDUCERS; i++)
		if (used[i])
			print_reducer(ret, hlo_reducer_at(i));
	strbuf_adds(ret, "ENTRY main {\n");
	for (unsigned i = 0; i < m->graph->nodes.n; i++)
		if (live[i])
			print_node(ret, m->graph, i);
	print_root(ret, m);
}

#include "trainer/hlo/module.h"

static const struct hlo_reducer reducers[HLO_REDUCERS] = {
	{HLO_SUM, HLO_ADD, "add_f32"},
	{HLO_LARGEST, HLO_MAXIMUM, "maximum_f32"},
};

const struct hlo_reducer *hlo_reducer_at(unsigned number)
{
	return &reducers[number];
}

const struct hlo_reducer *hlo_reducer(const struct hlo_node *node, unsigned *ret_number)
{
	enum hlo_op op = node->op == HLO_ALL_REDUCE ? HLO_SUM : node->op;

	for (unsigned i = 0; i < HLO_REDUCERS; i++) {
		if (reducers[i].op != op)
			continue;
		*ret_number = i;
		return &reducers[i];
	}
	return NULL;
}

void hlo_reducers_used(const struct hlo_module *m, const bool *live, bool ret[HLO_REDUCERS])
{
	unsigned number = 0;

	for (unsigned i = 0; i < HLO_REDUCERS; i++)
		ret[i] = false;
	for (size_t i = 0; i < m->graph->nodes.n; i++)
		if (live[i] && hlo_reducer(&m->graph->nodes.at[i], &number) != NULL)
			ret[number] = true;
}

bool *hlo_live(const struct hlo_module *m)
{
	const struct hlo_graph *g = m->graph;
	bool *live = mem_calloc(g->nodes.n, sizeof(*live));

	for (size_t i = 0; i < m->n; i++)
		live[m->results[i]] = true;
	for (size_t i = g->nodes.n; i-- > 0;) {
		const struct hlo_node *node = &g->nodes.at[i];

		live[i] = live[i] || node->op == HLO_PARAMETER;
		for (unsigned k = 0; live[i] && k < node->n; k++)
			live[node->operand[k]] = true;
	}
	return live;
}

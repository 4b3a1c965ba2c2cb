#include "trainer/hlo/sizes.h"

#include <stdlib.h>

static size_t bytes_of(const struct hlo_shape *s)
{
	const size_t width[HLO_TYPES] = {
		[HLO_PRED] = 1, [HLO_S32] = 4, [HLO_U32] = 4, [HLO_BF16] = 2, [HLO_F32] = 4};

	return hlo_elements(s) * width[s->type];
}

/* Another view of its operand's bytes, or a number in the instruction itself. */
static bool takes_memory(const struct hlo_node *node)
{
	return node->op != HLO_RESHAPE && node->op != HLO_CONSTANT && node->shape.rank > 0;
}

/* Two operations for each element of the result and each that is summed into it. */
static double flops_of(const struct hlo_graph *g, const struct hlo_node *node)
{
	const struct hlo_shape *left;
	double n;

	if (node->op != HLO_DOT)
		return 0;
	left = hlo_shape_of(g, node->operand[0]);
	n = 2 * (double)hlo_elements(&node->shape);
	for (unsigned i = 0; i < node->dot.contracted[0].n; i++)
		n *= (double)left->dim[node->dot.contracted[0].at[i]];
	return n;
}

/* Of each value the last instruction that needs its memory; views pass their use on. */
static size_t *last_uses(const struct hlo_module *m, const bool *live)
{
	const struct hlo_graph *g = m->graph;
	size_t *last = mem_calloc(g->nodes.n, sizeof(*last));

	for (size_t i = 0; i < m->n; i++)
		last[m->results[i]] = g->nodes.n;
	for (size_t i = g->nodes.n; i-- > 0;) {
		const struct hlo_node *node = &g->nodes.at[i];
		size_t use = node->op == HLO_RESHAPE && last[i] > i ? last[i] : i;

		for (unsigned k = 0; live[i] && k < node->n; k++)
			if (last[node->operand[k]] < use)
				last[node->operand[k]] = use;
		if (node->op == HLO_PARAMETER)
			last[i] = g->nodes.n;
	}
	return last;
}

/* Bytes that end with each instruction. */
static size_t *endings(const struct hlo_graph *g, const bool *live, const size_t *last)
{
	size_t *ends = mem_calloc(g->nodes.n + 1, sizeof(*ends));

	for (size_t i = 0; i < g->nodes.n; i++)
		if (live[i] && takes_memory(&g->nodes.at[i]))
			ends[last[i]] += bytes_of(&g->nodes.at[i].shape);
	return ends;
}

static void add_node(const struct hlo_graph *g, const struct hlo_node *node, struct hlo_sizes *to)
{
	size_t bytes = bytes_of(&node->shape);

	to->instructions++;
	to->of[node->op]++;
	to->flops += flops_of(g, node);
	to->largest = bytes > to->largest ? bytes : to->largest;
	if (node->op == HLO_PARAMETER)
		to->parameters += bytes;
	else if (takes_memory(node))
		to->moved += (double)bytes;
	for (unsigned k = 0; takes_memory(node) && k < node->n; k++)
		to->moved += (double)bytes_of(hlo_shape_of(g, node->operand[k]));
}

struct hlo_sizes hlo_sizes_of(const struct hlo_module *m)
{
	const struct hlo_graph *g = m->graph;
	AUTO_FREE bool *live = hlo_live(m);
	AUTO_FREE size_t *last = last_uses(m, live);
	AUTO_FREE size_t *ends = endings(g, live, last);
	struct hlo_sizes s = {0};
	size_t now;

	for (size_t i = 0; i < m->n; i++)
		s.results += bytes_of(hlo_shape_of(g, m->results[i]));
	for (size_t i = 0; i < g->nodes.n; i++)
		if (live[i])
			add_node(g, &g->nodes.at[i], &s);
	now = s.parameters;
	for (size_t i = 0; i < g->nodes.n; i++) {
		const struct hlo_node *node = &g->nodes.at[i];

		if (live[i] && takes_memory(node) && node->op != HLO_PARAMETER)
			now += bytes_of(&node->shape);
		s.live = now > s.live ? now : s.live;
		now -= ends[i];
	}
	return s;
}

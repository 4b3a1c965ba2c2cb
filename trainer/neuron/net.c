#include "trainer/neuron/net.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "trainer/neuron/dropout.h"
#include "trainer/neuron/layers.h"

static const char *const kinds[NEURON_KINDS] = {
	[NEURON_WEIGHT] = "weight",
	[NEURON_GRADIENT] = "gradient",
	[NEURON_MOMENT1] = "moment1",
	[NEURON_MOMENT2] = "moment2",
	[NEURON_AVERAGE] = "average",
	[NEURON_AUDIO] = "audio",
	[NEURON_PATCHES] = "patches",
	[NEURON_LABELS] = "labels",
	[NEURON_MASK] = "mask",
	[NEURON_POSITION] = "position",
	[NEURON_QUERY] = "query",
	[NEURON_TARGET] = "target",
	[NEURON_LOSS_WEIGHTS] = "loss_weights",
	[NEURON_SEED] = "seed",
	[NEURON_SAMPLE] = "sample",
	[NEURON_COUNTER] = "counter",
	[NEURON_RATES] = "rates",
	[NEURON_LOSSES] = "losses",
	[NEURON_SQUARES] = "squares",
	[NEURON_LOGITS] = "logits",
	[NEURON_LATENTS] = "latents",
};

struct hlo_shape neuron_tensor_shape(const struct neuron_net *n, size_t tensor)
{
	const struct tensor *t = &n->table.at[tensor];
	struct hlo_shape shape = {.type = HLO_F32, .rank = (unsigned)t->ndim};

	for (int i = 0; i < t->ndim; i++)
		shape.dim[i] = (int64_t)t->shape[i];
	return shape;
}

unsigned neuron_input(struct neuron_net *n, enum neuron_kind kind, size_t index,
                      const struct hlo_shape *shape)
{
	char name[320];
	struct neuron_value v = {.kind = kind, .index = index};

	if (kind <= NEURON_AVERAGE)
		snprintf(name, sizeof(name), "%s.%s", kinds[kind], n->table.at[index].name);
	else
		snprintf(name, sizeof(name), "%s.%zu", kinds[kind], index);
	v.value = hlo_parameter(&n->graph, shape, name);
	vec_push(&n->inputs, v);
	return v.value;
}

void neuron_result(struct neuron_net *n, enum neuron_kind kind, size_t index, unsigned value)
{
	struct neuron_value v = {.kind = kind, .index = index, .value = value};

	vec_push(&n->results, v);
}

void neuron_net_begin(struct neuron_net *n, const struct model_config *config,
                      const struct neuron_shape *shape)
{
	*n = (struct neuron_net){.config = *config, .dims = model_dims(config), .shape = *shape};
	n->graph.rounds = shape->rounds;
	n->graph.replicas = shape->replicas;
	params_build(config, &n->table, &n->ids);
	n->weight = mem_calloc(n->table.n, sizeof(n->weight[0]));
	for (size_t i = 0; i < n->table.n; i++) {
		struct hlo_shape s = neuron_tensor_shape(n, i);

		n->weight[i] = neuron_input(n, NEURON_WEIGHT, i, &s);
	}
}

void neuron_net_done(struct neuron_net *n)
{
	hlo_graph_done(&n->graph);
	params_done(&n->ids);
	tensors_done(&n->table);
	vec_done(&n->inputs);
	vec_done(&n->results);
	free(n->weight);
}

unsigned neuron_vector(struct neuron_net *n, size_t id)
{
	return hlo_reshape(&n->graph, n->weight[id],
	                   &HLO_SHAPE(HLO_F32, (int64_t)n->table.at[id].n));
}

unsigned neuron_linear(struct neuron_net *n, unsigned x, size_t id)
{
	unsigned y = neuron_product(&n->graph, x, n->weight[id]);

	return neuron_add_row(&n->graph, y, n->weight[id + 1]);
}

unsigned neuron_layer_norm(struct neuron_net *n, unsigned x, size_t id)
{
	return neuron_norm(&n->graph, x, n->weight[id], n->weight[id + 1]);
}

unsigned neuron_mlp(struct neuron_net *n, const struct layer_params *p, unsigned x)
{
	unsigned hidden = neuron_linear(n, neuron_layer_norm(n, x, p->norm), p->dense1);
	unsigned bent = neuron_gelu(&n->graph, hidden, n->config.hidden_act);

	return hlo_binary(&n->graph, HLO_ADD, x, neuron_linear(n, bent, p->dense2));
}

size_t neuron_points(const struct neuron_net *n, enum modality m)
{
	const size_t points[MODALITIES] = {[AUDIO] = n->shape.n_out_audio,
	                                   [IMAGE] = n->shape.n_out_image,
	                                   [LABEL] = n->shape.decode_label ? 1 : 0};

	return points[m];
}

/* Masks are counted over [batch, heads * rows, columns], of probabilities with heads apart, too. */
static unsigned drop(struct neuron_net *n, unsigned x, uint32_t layer)
{
	struct hlo_shape all = *hlo_shape_of(&n->graph, x);
	bool apart = all.rank == 4;
	struct hlo_shape joined =
		apart ? HLO_SHAPE(HLO_F32, all.dim[0], all.dim[1] * all.dim[2], all.dim[3]) : all;
	struct neuron_dropout d = {.p = n->config.attention_probs_dropout_prob,
	                           .seed = n->seed,
	                           .sample = n->sample,
	                           .counter = n->counter,
	                           .layer = layer};

	if (!n->shape.training || d.p == 0)
		return x;
	if (!apart)
		return neuron_drop(&n->graph, &d, x);
	x = neuron_drop(&n->graph, &d, hlo_reshape(&n->graph, x, &joined));
	return hlo_reshape(&n->graph, x, &all);
}

unsigned neuron_probabilities(struct neuron_net *n, unsigned q, unsigned k, size_t width,
                              uint32_t layer)
{
	struct hlo_dot joined = {.batch = {HLO_DIMS(0), HLO_DIMS(0)},
	                         .contracted = {HLO_DIMS(2), HLO_DIMS(2)}},
		       apart = {.batch = {HLO_DIMS(0, 1), HLO_DIMS(0, 1)},
	                        .contracted = {HLO_DIMS(3), HLO_DIMS(3)}};
	struct hlo_dot *dot = hlo_shape_of(&n->graph, q)->rank == 4 ? &apart : &joined;
	unsigned scaled = hlo_with(&n->graph, HLO_MULTIPLY, q, 1 / sqrt((double)width));
	unsigned scores = hlo_dot(&n->graph, scaled, k, dot);

	return drop(n, neuron_softmax(&n->graph, scores), layer);
}

#include "trainer/neuron/layers.h"
#include "trainer/neuron/net.h"

static int64_t position_channels(const struct neuron_net *n, enum modality m)
{
	return (int64_t)(m == AUDIO ? n->dims.audio_pos : n->dims.image_pos);
}

/* [positions | fixed | padding] of a modality's points: [points, width] */
static unsigned query_rows(struct neuron_net *n, enum modality m)
{
	struct hlo_graph *g = &n->graph;
	int64_t points = (int64_t)neuron_points(n, m);
	struct hlo_shape positions = HLO_SHAPE(HLO_F32, points, position_channels(n, m));
	unsigned parts[2], k = 0;

	if (m == LABEL)
		parts[k++] = neuron_repeat(g, neuron_vector(n, n->ids.label_query), points);
	else
		parts[k++] = neuron_input(n, NEURON_QUERY, m, &positions);
	if (params_query_pad(&n->config, m) > 0)
		parts[k++] = neuron_repeat(g, neuron_vector(n, n->ids.query_pad[m]), points);
	return hlo_concatenate(g, parts, k, 1);
}

/* [all points, width] */
static unsigned queries(struct neuron_net *n)
{
	unsigned parts[MODALITIES], k = 0;

	for (enum modality m = 0; m < MODALITIES; m++)
		if (neuron_points(n, m) > 0)
			parts[k++] = query_rows(n, m);
	return hlo_concatenate(&n->graph, parts, k, 0);
}

/* [batch, rows, width] as one head of it: [batch, 1, rows, width] */
static unsigned one_head(struct hlo_graph *g, unsigned x)
{
	struct hlo_shape s = *hlo_shape_of(g, x);

	return hlo_reshape(g, x, &HLO_SHAPE(HLO_F32, s.dim[0], 1, s.dim[1], s.dim[2]));
}

static unsigned attend(struct neuron_net *n, unsigned latents)
{
	struct hlo_graph *g = &n->graph;
	const struct layer_params *p = &n->ids.decoder;
	struct hlo_dot mix = {.batch = {HLO_DIMS(0, 1), HLO_DIMS(0, 1)},
	                      .contracted = {HLO_DIMS(3), HLO_DIMS(2)}};
	unsigned q = neuron_linear(n, neuron_layer_norm(n, queries(n), p->norm_q), p->query);
	unsigned kv = neuron_layer_norm(n, latents, p->norm_kv);
	unsigned k = one_head(g, neuron_product(g, kv, n->weight[p->key]));
	unsigned v = one_head(g, neuron_linear(n, kv, p->value));
	unsigned probabilities, mixed;
	struct hlo_shape s;

	q = one_head(g, neuron_repeat(g, q, (int64_t)n->shape.batch));
	probabilities =
		neuron_probabilities(n, q, k, n->dims.dec_qk, (uint32_t)n->dims.n_layers + 1);
	mixed = hlo_dot(g, probabilities, v, &mix);
	s = *hlo_shape_of(g, mixed);
	mixed = hlo_reshape(g, mixed, &HLO_SHAPE(HLO_F32, s.dim[0], s.dim[2], s.dim[3]));
	return neuron_mlp(n, p, neuron_linear(n, mixed, p->out));
}

void neuron_decoder(struct neuron_net *n, unsigned latents, unsigned ret[MODALITIES])
{
	unsigned final = neuron_linear(n, attend(n, latents), n->ids.final);
	int64_t first = 0;

	for (enum modality m = 0; m < MODALITIES; m++) {
		int64_t end = first + (int64_t)neuron_points(n, m);

		if (end == first)
			continue;
		ret[m] = neuron_linear(n, hlo_slice(&n->graph, final, 1, first, end),
		                       n->ids.head[m]);
		first = end;
	}
}

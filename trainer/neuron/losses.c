#include "base/err.h"
#include "trainer/neuron/layers.h"
#include "trainer/neuron/net.h"

/* Of each clip, over all other dimensions: [batch] */
static unsigned mean_of_clips(struct hlo_graph *g, unsigned x)
{
	const struct hlo_shape *s = hlo_shape_of(g, x);
	struct hlo_dims rest = {.n = s->rank - 1, .at = {1, 2, 3, 4, 5}};
	double part = (double)s->dim[0] / (double)hlo_elements(s);

	return hlo_with(g, HLO_MULTIPLY, hlo_reduce(g, HLO_SUM, x, rest), part);
}

static unsigned mean_square(struct hlo_graph *g, unsigned x)
{
	return mean_of_clips(g, hlo_binary(g, HLO_MULTIPLY, x, x));
}

static unsigned input_of(const struct neuron_net *n, enum neuron_kind kind)
{
	for (size_t i = 0; i < n->inputs.n; i++)
		if (n->inputs.at[i].kind == kind)
			return n->inputs.at[i].value;
	BUG("the network was built without an input of kind %d", (int)kind);
}

/* log(sum(exp(x))) - x[label] */
static unsigned entropy(struct neuron_net *n, unsigned logits)
{
	struct hlo_graph *g = &n->graph;
	struct hlo_shape rows =
		HLO_SHAPE(HLO_F32, (int64_t)n->shape.batch, (int64_t)n->config.num_labels);
	unsigned x = hlo_reshape(g, logits, &rows);
	unsigned chosen = hlo_binary(g, HLO_MULTIPLY, x, input_of(n, NEURON_LABELS));

	return hlo_binary(g, HLO_SUBTRACT, neuron_log_sum(g, x),
	                  hlo_reduce(g, HLO_SUM, chosen, HLO_DIMS(1)));
}

struct errors {
	unsigned absolute, square, power;
};

static struct errors errors_of(struct neuron_net *n, enum modality m, unsigned logits)
{
	struct hlo_graph *g = &n->graph;
	struct hlo_shape shape = *hlo_shape_of(g, logits);
	unsigned target = neuron_input(n, NEURON_TARGET, m, &shape);
	unsigned off = hlo_binary(g, HLO_SUBTRACT, logits, target);

	return (struct errors){mean_of_clips(g, hlo_unary(g, HLO_ABS, off)), mean_square(g, off),
	                       mean_square(g, target)};
}

/* Vectors [width] as rows of a matrix. */
static unsigned gather(struct hlo_graph *g, const unsigned *vectors, unsigned n)
{
	unsigned parts[NEURON_LOSSES_N];
	int64_t width = hlo_shape_of(g, vectors[0])->dim[0];

	for (unsigned i = 0; i < n; i++)
		parts[i] = hlo_reshape(g, vectors[i], &HLO_SHAPE(HLO_F32, 1, width));
	return hlo_concatenate(g, parts, n, 0);
}

/* Rows of losses to the weighted total of their means. */
static unsigned total_of(struct neuron_net *n, const unsigned of[NEURON_LOSSES_N])
{
	struct hlo_graph *g = &n->graph;
	const unsigned rows[MODALITIES] = {[AUDIO] = of[NEURON_LOSS_AUDIO],
	                                   [IMAGE] = of[NEURON_LOSS_IMAGE],
	                                   [LABEL] = of[NEURON_LOSS_LABEL]};
	unsigned weights = neuron_input(n, NEURON_LOSS_WEIGHTS, 0, &HLO_SHAPE(HLO_F32, MODALITIES));
	unsigned sums = hlo_reduce(g, HLO_SUM, gather(g, rows, MODALITIES), HLO_DIMS(1));
	unsigned means = hlo_with(g, HLO_MULTIPLY, sums, 1 / (double)n->shape.batch);

	return hlo_reduce(g, HLO_SUM, hlo_binary(g, HLO_MULTIPLY, means, weights), HLO_DIMS(0));
}

unsigned neuron_losses(struct neuron_net *n, const unsigned logits[MODALITIES])
{
	struct hlo_graph *g = &n->graph;
	unsigned zero = hlo_fill(g, &HLO_SHAPE(HLO_F32, (int64_t)n->shape.batch), 0);
	unsigned of[NEURON_LOSSES_N];
	struct errors image = {zero, zero, zero}, audio = image;

	if (neuron_points(n, IMAGE) > 0)
		image = errors_of(n, IMAGE, logits[IMAGE]);
	if (neuron_points(n, AUDIO) > 0)
		audio = errors_of(n, AUDIO, logits[AUDIO]);
	of[NEURON_LOSS_IMAGE] = image.absolute;
	of[NEURON_LOSS_AUDIO] = audio.absolute;
	of[NEURON_LOSS_LABEL] = neuron_points(n, LABEL) > 0 ? entropy(n, logits[LABEL]) : zero;
	of[NEURON_MSE_IMAGE] = image.square;
	of[NEURON_MSE_AUDIO] = audio.square;
	of[NEURON_POWER_AUDIO] = audio.power;
	neuron_result(n, NEURON_LOSSES, 0, gather(g, of, NEURON_LOSSES_N));
	return n->shape.training ? total_of(n, of) : zero;
}

#include "trainer/neuron/modules.h"

#include <stdlib.h>
#include <string.h>

#include "trainer/hlo/gradient.h"
#include "trainer/hlo/module.h"
#include "trainer/neuron/dropout.h"

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* What the dropout of the longest row of any attention counts by. */
static int64_t counters(const struct neuron_net *n)
{
	const struct model_config *c = &n->config;
	int64_t latents = (int64_t)c->num_latents, points = 0;
	int64_t cross = neuron_dropout_counters(latents * (int64_t)c->num_cross_attention_heads,
	                                        (int64_t)n->dims.n_tokens);
	int64_t self =
		neuron_dropout_counters(latents * (int64_t)c->num_self_attention_heads, latents);

	for (enum modality m = 0; m < MODALITIES; m++)
		points += (int64_t)neuron_points(n, m);
	return larger(larger(cross, self), neuron_dropout_counters(points, latents));
}

static void take_randomness(struct neuron_net *n)
{
	if (!n->shape.training || n->config.attention_probs_dropout_prob == 0)
		return;
	n->seed = neuron_input(n, NEURON_SEED, 0, &HLO_SHAPE(HLO_U32, 2));
	n->sample =
		neuron_input(n, NEURON_SAMPLE, 0, &HLO_SHAPE(HLO_U32, (int64_t)n->shape.batch, 2));
	n->counter = neuron_input(n, NEURON_COUNTER, 0, &HLO_SHAPE(HLO_U32, counters(n)));
}

/* Adds gradients to those given, and the sum of their squares to the results. */
static void give_gradients(struct neuron_net *n, const unsigned *gradients)
{
	struct hlo_graph *g = &n->graph;
	const struct hlo_shape scalar = {.type = HLO_F32};
	unsigned squares = hlo_fill(g, &scalar, 0);

	for (size_t i = 0; i < n->table.n; i++) {
		struct hlo_shape shape = neuron_tensor_shape(n, i);
		unsigned before = neuron_input(n, NEURON_GRADIENT, i, &shape);
		unsigned sum = hlo_binary(g, HLO_ADD, before, hlo_all_reduce(g, gradients[i]));
		struct hlo_dims all = {.n = shape.rank, .at = {0, 1, 2, 3, 4, 5}};
		unsigned square =
			hlo_reduce(g, HLO_SUM, hlo_binary(g, HLO_MULTIPLY, sum, sum), all);

		squares = hlo_binary(g, HLO_ADD, squares, square);
		neuron_result(n, NEURON_GRADIENT, i, sum);
	}
	neuron_result(n, NEURON_SQUARES, 0, squares);
}

void neuron_step(struct neuron_net *n, const struct model_config *config,
                 const struct neuron_shape *shape)
{
	unsigned logits[MODALITIES] = {0}, loss;
	AUTO_FREE unsigned *gradients = NULL;

	neuron_net_begin(n, config, shape);
	take_randomness(n);
	neuron_decoder(n, neuron_encoder(n), logits);
	loss = neuron_losses(n, logits);
	if (shape->decode_label)
		neuron_result(n, NEURON_LOGITS, LABEL, logits[LABEL]);
	gradients = mem_calloc(n->table.n, sizeof(*gradients));
	hlo_gradient(&n->graph, loss, n->weight, n->table.n, gradients);
	give_gradients(n, gradients);
}

/* ---- use ---- */

/* Of all points that the shape has. */
static void give_logits(struct neuron_net *n, const unsigned logits[MODALITIES])
{
	for (enum modality m = 0; m < MODALITIES; m++)
		if (neuron_points(n, m) > 0)
			neuron_result(n, NEURON_LOGITS, m, logits[m]);
}

void neuron_measure(struct neuron_net *n, const struct model_config *config,
                    const struct neuron_shape *shape)
{
	unsigned logits[MODALITIES] = {0};

	neuron_net_begin(n, config, shape);
	neuron_decoder(n, neuron_encoder(n), logits);
	neuron_losses(n, logits);
	give_logits(n, logits);
}

void neuron_classify(struct neuron_net *n, const struct model_config *config,
                     const struct neuron_shape *shape)
{
	unsigned logits[MODALITIES] = {0};

	neuron_net_begin(n, config, shape);
	neuron_decoder(n, neuron_encoder(n), logits);
	give_logits(n, logits);
}

void neuron_encode(struct neuron_net *n, const struct model_config *config,
                   const struct neuron_shape *shape)
{
	neuron_net_begin(n, config, shape);
	neuron_result(n, NEURON_LATENTS, 0, neuron_encoder(n));
}

void neuron_decode(struct neuron_net *n, const struct model_config *config,
                   const struct neuron_shape *shape)
{
	struct hlo_shape latents =
		HLO_SHAPE(HLO_F32, (int64_t)shape->batch, (int64_t)config->num_latents,
	                  (int64_t)config->d_latents);
	unsigned logits[MODALITIES] = {0};

	neuron_net_begin(n, config, shape);
	neuron_decoder(n, neuron_input(n, NEURON_LATENTS, 0, &latents), logits);
	give_logits(n, logits);
}

/* ---- the update ---- */

/* One update of a tensor. */
struct update {
	struct hlo_graph *g;
	const struct optimizer_options *options;
	unsigned rates[NEURON_RATES_N]; /* scalars */
	struct hlo_shape shape;
};

static unsigned rate(const struct update *u, enum neuron_rate which)
{
	return hlo_broadcast(u->g, u->rates[which], &u->shape, (struct hlo_dims){0});
}

static unsigned times(const struct update *u, unsigned a, unsigned b)
{
	return hlo_binary(u->g, HLO_MULTIPLY, a, b);
}

/* a * keep + b */
static unsigned blend(const struct update *u, unsigned a, double keep, unsigned b)
{
	return hlo_binary(u->g, HLO_ADD, hlo_with(u->g, HLO_MULTIPLY, a, keep), b);
}

/* m = momentum m + (scale g + decay p); returns p - lr m */
static unsigned sgd(struct neuron_net *n, const struct update *u, size_t i, unsigned p, unsigned g)
{
	unsigned slope =
		blend(u, p, u->options->weight_decay, times(u, rate(u, NEURON_RATE_SCALE), g));
	unsigned m = blend(u, neuron_input(n, NEURON_MOMENT1, i, &u->shape), u->options->momentum,
	                   slope);

	neuron_result(n, NEURON_MOMENT1, i, m);
	return hlo_binary(u->g, HLO_SUBTRACT, p, times(u, rate(u, NEURON_RATE_LR), m));
}

/* Returns p (1 - lr decay) - lr m correct1 / (sqrt(v correct2) + eps). */
static unsigned adamw(struct neuron_net *n, const struct update *u, size_t i, unsigned p,
                      unsigned g)
{
	const struct optimizer_options *o = u->options;
	float rest1 = 1 - (float)o->beta1, rest2 = 1 - (float)o->beta2;
	unsigned slope = times(u, rate(u, NEURON_RATE_SCALE), g);
	unsigned m = blend(u, neuron_input(n, NEURON_MOMENT1, i, &u->shape), o->beta1,
	                   hlo_with(u->g, HLO_MULTIPLY, slope, (double)rest1));
	unsigned v = blend(u, neuron_input(n, NEURON_MOMENT2, i, &u->shape), o->beta2,
	                   hlo_with(u->g, HLO_MULTIPLY, times(u, slope, slope), (double)rest2));
	unsigned root = hlo_unary(u->g, HLO_SQRT, times(u, v, rate(u, NEURON_RATE_CORRECT2)));
	unsigned way =
		times(u, rate(u, NEURON_RATE_LR), times(u, m, rate(u, NEURON_RATE_CORRECT1)));
	unsigned left = hlo_with(u->g, HLO_MULTIPLY, rate(u, NEURON_RATE_LR), -o->weight_decay);

	way = hlo_binary(u->g, HLO_DIVIDE, way, hlo_with(u->g, HLO_ADD, root, o->eps));
	left = times(u, p, hlo_with(u->g, HLO_ADD, left, 1));
	neuron_result(n, NEURON_MOMENT1, i, m);
	neuron_result(n, NEURON_MOMENT2, i, v);
	return hlo_binary(u->g, HLO_SUBTRACT, left, way);
}

/* keep a + share p, and not a + share (p - a), which need not be p where share is 1. */
static void average(struct neuron_net *n, const struct update *u, size_t i, unsigned p)
{
	unsigned a = neuron_input(n, NEURON_AVERAGE, i, &u->shape);

	neuron_result(n, NEURON_AVERAGE, i,
	              hlo_binary(u->g, HLO_ADD, times(u, rate(u, NEURON_RATE_KEEP), a),
	                         times(u, rate(u, NEURON_RATE_SHARE), p)));
}

void neuron_update(struct neuron_net *n, const struct model_config *config,
                   const struct optimizer_options *options)
{
	const struct hlo_shape scalar = {.type = HLO_F32};
	struct update u = {.g = &n->graph, .options = options};
	unsigned rates;

	neuron_net_begin(n, config, &(struct neuron_shape){.replicas = 1});
	rates = neuron_input(n, NEURON_RATES, 0, &HLO_SHAPE(HLO_F32, NEURON_RATES_N));
	for (unsigned i = 0; i < NEURON_RATES_N; i++)
		u.rates[i] =
			hlo_reshape(&n->graph, hlo_slice(&n->graph, rates, 0, i, i + 1), &scalar);
	for (size_t i = 0; i < n->table.n; i++) {
		unsigned g, p;

		u.shape = neuron_tensor_shape(n, i);
		g = neuron_input(n, NEURON_GRADIENT, i, &u.shape);
		p = (options->kind == OPTIMIZER_SGD ? sgd : adamw)(n, &u, i, n->weight[i], g);
		neuron_result(n, NEURON_WEIGHT, i, p);
		if (options->ema_decay > 0)
			average(n, &u, i, p);
	}
}

void neuron_write(const struct neuron_net *n, const char *name, struct strbuf *ret_module,
                  struct strbuf *ret_text)
{
	AUTO_FREE unsigned *results = mem_calloc(n->results.n, sizeof(*results));
	struct hlo_module m = {
		.name = name, .graph = &n->graph, .results = results, .n = n->results.n};

	for (size_t i = 0; i < n->results.n; i++)
		results[i] = n->results.at[i].value;
	if (ret_module != NULL)
		hlo_encode(&m, ret_module);
	if (ret_text != NULL)
		hlo_print(&m, ret_text);
}

const char *neuron_module_name(enum neuron_module which)
{
	static const char *const names[NEURON_MODULES] = {"step",     "update", "measure",
	                                                  "classify", "encode", "decode"};

	return names[which];
}

void neuron_module_build(const struct neuron_run *run, enum neuron_module which,
                         struct neuron_net *ret)
{
	switch (which) {
	case NEURON_STEP:
		neuron_step(ret, &run->config, &run->step);
		break;
	case NEURON_UPDATE:
		neuron_update(ret, &run->config, &run->optimizer);
		break;
	case NEURON_CLASSIFY:
		neuron_classify(ret, &run->config, &run->classify);
		break;
	case NEURON_ENCODE:
		neuron_encode(ret, &run->config, &run->sample);
		break;
	case NEURON_DECODE:
		neuron_decode(ret, &run->config, &run->sample);
		break;
	default:
		neuron_measure(ret, &run->config, &run->measure);
		break;
	}
}

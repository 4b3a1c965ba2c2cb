/*
 * What the network is made of, as HLO: each function appends to a graph what its op
 * (trainer/ops/ops.h) computes, and returns the value. Weights are [out, in], as in the op
 * contract.
 */
#ifndef SLIPWAY_TRAINER_NEURON_LAYERS_H
#define SLIPWAY_TRAINER_NEURON_LAYERS_H

#include "trainer/hlo/graph.h"
#include "trainer/ops/ops.h"

/* x[..., in] w^T, [..., out] */
unsigned neuron_product(struct hlo_graph *g, unsigned x, unsigned w);

/* x + row, a vector, in every row of x's last dimension. */
unsigned neuron_add_row(struct hlo_graph *g, unsigned x, unsigned row);

/* (x - mean) / sqrt(variance + 1e-5) * gain + shift, over the last dimension. */
unsigned neuron_norm(struct hlo_graph *g, unsigned x, unsigned gain, unsigned shift);

unsigned neuron_gelu(struct hlo_graph *g, unsigned x, enum gelu_form form);

/* Over the last dimension, its largest subtracted first. */
unsigned neuron_softmax(struct hlo_graph *g, unsigned x);

/* log(sum(exp(x))) over the last dimension, which vanishes. */
unsigned neuron_log_sum(struct hlo_graph *g, unsigned x);

/* x, n times, along a new first dimension. */
unsigned neuron_repeat(struct hlo_graph *g, unsigned x, int64_t n);

#endif

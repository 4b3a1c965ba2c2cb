/*
 * Dropout of attention probabilities in the graph, with the masks that struct op_dropout
 * (trainer/ops/ops.h) has on every device: Philox 4x32-10 by 32-bit operators alone.
 */
#ifndef SLIPWAY_TRAINER_NEURON_DROPOUT_H
#define SLIPWAY_TRAINER_NEURON_DROPOUT_H

#include "trainer/hlo/graph.h"

struct neuron_dropout {
	double p;         /* 0: none */
	unsigned seed;    /* u32[2], low word first */
	unsigned sample;  /* u32[batch, 2] */
	unsigned counter; /* u32[n]: 0, 1, ..., n - 1; n as neuron_dropout_counters says */
	uint32_t layer;
};

/* How long `counter` must be for probabilities [batch, rows, columns]. */
int64_t neuron_dropout_counters(int64_t rows, int64_t columns);

/* probabilities [batch, rows, columns], each 0 or 1 / (1 - p) times as large. */
unsigned neuron_drop(struct hlo_graph *g, const struct neuron_dropout *d, unsigned probabilities);

#endif

/*
 * What can be said of a run's modules before any compiler or device has seen them: their sizes, the
 * operators that AWS's list does not name, and the least time that a NeuronCore could take for
 * them. Paper, all of it.
 */
#ifndef SLIPWAY_TRAINER_NEURON_REPORT_H
#define SLIPWAY_TRAINER_NEURON_REPORT_H

#include "trainer/hlo/sizes.h"
#include "trainer/neuron/modules.h"

/* Of a logical NeuronCore, from AWS's pages of the chips. */
struct neuron_chip {
	const char *name;        /* "trn1" */
	double tflops[2];        /* of products in f32 and in bf16 */
	double bytes_per_second; /* of its share of the memory */
	double memory;           /* bytes, its share */
};

/* n rows */
const struct neuron_chip *neuron_chips(size_t *ret_n);

/* Seconds at least: what the products take, and what reading the inputs and writing the results
 * once does; the larger of the two. */
double neuron_least_seconds(const struct neuron_chip *c, const struct hlo_sizes *s, bool rounds);

/* Appends tables in Markdown: of each module, and of each chip. */
void neuron_report(const struct neuron_run *run, struct strbuf *sb);

#endif

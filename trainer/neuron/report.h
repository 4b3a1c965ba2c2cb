/*
 * What can be said of a run's modules before any compiler or device has seen them: their sizes, the
 * operators that AWS's list does not name, and the least time that a NeuronCore could take for
 * them. Paper, all of it.
 */
#ifndef SLIPWAY_TRAINER_NEURON_REPORT_H
#define SLIPWAY_TRAINER_NEURON_REPORT_H

#include "trainer/hlo/sizes.h"
#include "trainer/neuron/compiler.h"
#include "trainer/neuron/uses.h"

/* Of a logical NeuronCore, from AWS's pages of the chips. */
struct neuron_chip {
	const char *name;        /* a target's: "trn1" */
	double tflops[2];        /* of products in f32 and in bf16 */
	double bytes_per_second; /* of its share of the memory */
	double memory;           /* bytes, its share */
};

/* n rows, one for each kind of chip */
const struct neuron_chip *neuron_chips(size_t *ret_n);

/* What a target's modules run on: trn1n and inf2 have trn1's cores. */
const struct neuron_chip *neuron_chip_of(const struct neuron_target *target);

/* Seconds at least: what the products take, and what reading the inputs and writing the results
 * once does; the larger of the two. */
double neuron_least_seconds(const struct neuron_chip *c, const struct hlo_sizes *s, bool rounds);

struct hlo_sizes neuron_sizes_of(const struct neuron_run *run, enum neuron_module which);

/* Appends tables in Markdown: of each module, with the commands that run it and its entry in a
 * cache (trainer/neuron/cache.h) for the target; of each module's size; and of each chip. */
void neuron_report(const struct neuron_run *run, const struct neuron_target *target,
                   struct strbuf *sb);

#endif

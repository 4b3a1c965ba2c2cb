/*
 * The Neuron runtime as this process has it: the NeuronCores that it may see, one of which becomes
 * its own, from opening to close.
 *
 * Sources: AWS Neuron, "NeuronX Runtime Configuration" (NEURON_RT_VISIBLE_CORES, a list of numbers
 * and ranges; a process numbers its own from 0; a core belongs to one process until that ends) and
 * nrt.h's instance families.
 */
#ifndef SLIPWAY_TRAINER_NEURON_RUNTIME_H
#define SLIPWAY_TRAINER_NEURON_RUNTIME_H

#include <stdbool.h>

#include "trainer/neuron/nrt.h"

struct neuron_runtime {
	struct nrt nrt;
	const char *target; /* the compiler's word for what is here: "trn1" */
	unsigned core;      /* of the node's, for the log */
	bool open;
};

/* *ret: NeuronCores that this process may see. 0 where there is no library or no device; an error
 * where there is a device (/dev/neuron0) that the library cannot count. */
int neuron_count(unsigned *ret, struct err *err) MUST_USE;

/*
 * Takes the index-th of them: NEURON_RT_VISIBLE_CORES becomes that one alone, for the runtime would
 * take all. ERR_NOT_FOUND where there is no library; ERR_UNSUPPORTED for a family without a target;
 * otherwise nrt_failure's. The caller: neuron_runtime_close in any case of success.
 */
int neuron_runtime_open(unsigned index, struct neuron_runtime *ret, struct err *err) MUST_USE;
void neuron_runtime_close(struct neuron_runtime *r); /* one that is all zero is fine */

/* Number `index` of a list like "0-3,8", of which there are at most 4096; -1: it is none, or has
 * fewer. */
int neuron_core_of(const char *list, unsigned index);

#endif

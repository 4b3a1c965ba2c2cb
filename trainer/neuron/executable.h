/*
 * A module that the runtime has loaded: which of its tensors is which of the net's inputs and
 * results, and running it on tensors of the caller's.
 */
#ifndef SLIPWAY_TRAINER_NEURON_EXECUTABLE_H
#define SLIPWAY_TRAINER_NEURON_EXECUTABLE_H

#include "trainer/neuron/net.h"
#include "trainer/neuron/nrt.h"

struct neuron_place {
	int core;             /* which of this process's visible ones, from 0 */
	unsigned rank, ranks; /* among those who sum gradients; ranks 1: alone */
};

struct neuron_executable {
	const struct nrt *nrt;
	void *model;
	char (*inputs)[256], (*results)[256]; /* the runtime's names, in the net's order; owned */
	size_t n_inputs, n_results;
};

/*
 * Loads a NEFF's bytes, and finds the net's values by what the runtime says of them: the number at
 * the end of a name ("input12"), or its turn where names have none. ERR_FORMAT when there are more
 * or fewer, or one is of another size: it is the NEFF of another module.
 */
int neuron_executable_load(const struct nrt *nrt, const void *neff, size_t n,
                           const struct neuron_net *net, const struct neuron_place *place,
                           struct neuron_executable *ret, struct err *err) MUST_USE;
void neuron_executable_done(struct neuron_executable *x);

/* Runs it; tensors in the net's order. NaN among results is no error. */
int neuron_executable_run(const struct neuron_executable *x, void *const *inputs,
                          void *const *results, struct err *err) MUST_USE;

#endif

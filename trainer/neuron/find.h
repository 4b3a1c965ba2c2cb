/*
 * A run's modules in the cache: the NEFFs that `slipway-trainer compile` made of the same words.
 */
#ifndef SLIPWAY_TRAINER_NEURON_FIND_H
#define SLIPWAY_TRAINER_NEURON_FIND_H

#include <limits.h>

#include "trainer/neuron/compiler.h"
#include "trainer/neuron/learner.h"

/* What names a module's entry in any cache (trainer/neuron/cache.h). */
void neuron_module_key(const struct neuron_run *run, enum neuron_module which,
                       const struct neuron_target *target, char ret[NEURON_KEY_MAX]);

struct neuron_found {
	char paths[NEURON_MODULES][PATH_MAX];
	const char *neffs[NEURON_MODULES]; /* NULL: not wanted */
};

/* ret->neffs point into *ret. ERR_USAGE naming what is not there, with the command; ERR_FORMAT for
 * a damaged one. */
int neuron_find(const struct neuron_run *run, const struct neuron_start *start, const char *target,
                struct neuron_found *ret, struct err *err) MUST_USE;

#endif

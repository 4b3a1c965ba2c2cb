/*
 * What AWS documents of neuronx-cc's limits, held against a module before a compiler sees it: its
 * operators, their types, the reductions' computations, the size of a value. Beyond the documents
 * nothing is known: neuronx-cc has never run here.
 */
#ifndef SLIPWAY_TRAINER_NEURON_LIMITS_H
#define SLIPWAY_TRAINER_NEURON_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct neuron_checked {
	size_t instructions; /* of all computations */
	size_t unlisted;     /* of them, those that neuron_is_listed does not know */
	double largest;      /* bytes of the largest value */
};

/* Is an operator, by its name in HLO, in AWS's list "Supported operators [XLA]"? */
bool neuron_is_listed(const char *opcode);

/*
 * A serialized HloModuleProto; `name` is for messages ("step"). ERR_UNSUPPORTED names the
 * instruction that no document of AWS's allows, ERR_LIMIT the value that is too large, ERR_FORMAT:
 * the bytes are no module.
 */
int neuron_check(const char *name, const void *bytes, size_t n, struct neuron_checked *ret,
                 struct err *err) MUST_USE;

#endif

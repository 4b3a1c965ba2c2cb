/*
 * Runs a module that was read, instruction after instruction, as XLA's "Operation Semantics" says:
 * float32 with sums in double, bfloat16 rounded to nearest even. Every instruction's shape is held
 * against what its operands give. Values are arrays of 4 bytes an element (predicates too).
 */
#ifndef SLIPWAY_TESTS_NEURON_MODULE_RUN_H
#define SLIPWAY_TESTS_NEURON_MODULE_RUN_H

#include "tests/neuron/module_read.h"

/* Sums over the replicas: values in place. NULL: an all-reduce is an error. */
struct run_replicas {
	void (*sum)(void *ctx, float *values, size_t n);
	void *ctx;
};

/* inputs: of each parameter; results: room for each of the tuple's values. false, and m->why. */
bool run_module(struct read_module *m, const void *const *inputs, void *const *results,
                const struct run_replicas *replicas);

#endif

/*
 * A small graph for each operator that our modules are made of, with inputs that follow from their
 * numbers: what XLA computes of them is tests/neuron/operators.golden (made by
 * tests/neuron/operators), and what our interpreter computes is held against it.
 */
#ifndef SLIPWAY_TESTS_NEURON_OPERATORS_H
#define SLIPWAY_TESTS_NEURON_OPERATORS_H

#include "base/strbuf.h"
#include "trainer/hlo/graph.h"

enum { OPERATOR_INPUTS = 3, OPERATOR_VALUES = 64 };

struct operator_case {
	struct hlo_graph graph;
	unsigned inputs[OPERATOR_INPUTS], result;
	unsigned n_inputs;
};

/* Row i by its name, NULL beyond the last. */
const char *operator_name(unsigned i);

/* The caller: hlo_graph_done(&ret->graph). */
void operator_build(unsigned i, struct operator_case *ret);

/* The module's bytes. */
void operator_write(const struct operator_case *c, struct strbuf *ret);

/* Input number `input`, of OPERATOR_VALUES words at most. Returns how many. */
size_t operator_input(const struct operator_case *c, unsigned input, uint32_t ret[OPERATOR_VALUES]);

#endif

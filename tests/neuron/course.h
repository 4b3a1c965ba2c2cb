/*
 * The whole way of a random configuration through its modules, an execution after the other, each
 * computed by the interpreter (tests/neuron/module_run.h) and, from the same values, by the CPU's
 * learner: two micro-steps whose gradients add up, with masks and dropout, an update with a random
 * optimizer and an average of the weights, an evaluation. What XLA makes of the same executions is
 * tests/neuron/judge-courses.
 */
#ifndef SLIPWAY_TESTS_NEURON_COURSE_H
#define SLIPWAY_TESTS_NEURON_COURSE_H

#include "base/strbuf.h"
#include "tests/neuron/module_read.h"
#include "trainer/neuron/modules.h"

enum { COURSE_EXECUTIONS = 4, COURSE_REPLICAS = 4 };

/* A module run once by each of its replicas. Values have 4 bytes each. */
struct execution {
	const char *name; /* of its module: "step" */
	struct neuron_net net;
	struct strbuf bytes, text; /* the module */
	struct read_module module;
	unsigned replicas;
	void **inputs[COURSE_REPLICAS];  /* by replica, then in the module's order */
	void **results[COURSE_REPLICAS]; /* the interpreter's */
	/* The CPU's, in the order of the results; NULL where it has none. All replicas' together:
	 * gradients of the larger batch. Of the losses it has the means, NEURON_LOSSES_N. */
	float **expected;
};

struct course {
	struct execution of[COURSE_EXECUTIONS];
	size_t n;
	char what[160]; /* for messages: which optimizer, ... */
};

/* Course `number`. `rounds`: products of bfloat16, of which the CPU computes nothing. false, with
 * a line on standard output, where the interpreter refuses a module. course_done in any case. */
bool course_run(uint64_t number, bool rounds, struct course *ret);

/* A step of `replicas` replicas, a clip each; the CPU's is that of all clips in one batch. */
bool course_of_replicas(uint64_t number, unsigned replicas, struct course *ret);

void course_done(struct course *c);

/* Values of result i, as `expected` has them. */
size_t execution_values(const struct execution *e, size_t i);

/* Whether the interpreter's results are the CPU's: a loss within 1e-5 of its size and one, other
 * values within 1e-5 and 2e-3 of the largest of their tensor. A line says which is not. */
bool execution_is_the_cpus(const struct execution *e);

#endif

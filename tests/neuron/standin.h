/*
 * Stands in for libnrt.so.1: keeps a memory of its own, runs the modules that the stand-in of
 * neuronx-cc packs (tests/neuron/module_run.h), and refuses what the runtime's manual does not
 * allow: calls before nrt_init or after nrt_close, handles that are none or were given back, tensors
 * of another core or size, sets that lack a tensor or have one too many, a tensor that one execution
 * reads and writes, collectives without NEURON_RT_ROOT_COMM_ID. Such a call gives INVALID, and a
 * complaint that the test sees. Tests of the library itself: a test loads it by dlopen.
 *
 * An execution computes while other calls are made; one that touches its tensors meanwhile is
 * refused, too.
 *
 * For whole programs, from the environment: STANDIN_NRT_FAIL "AT:STATUS" makes that call, counted
 * from 1, give that status, and "execution AT:STATUS" an execution after it has computed; STANDIN_NRT_REPORT names a file that gets a line at nrt_close;
 * STANDIN_NRT_CORES (2) and STANDIN_NRT_FAMILY (2, a trn1) say what the node has;
 * STANDIN_NRT_WRONG makes it compute the first value of every result wrongly.
 */
#ifndef SLIPWAY_TESTS_NEURON_STANDIN_H
#define SLIPWAY_TESTS_NEURON_STANDIN_H

#include <stddef.h>

struct standin_nrt_state {
	size_t calls, executions;
	size_t models, tensors, sets; /* alive */
	char complaint[256];          /* the first; "" when there is none */
};

/* Everything anew; call fail_at (from 1; 0: none) gives `status`. */
void standin_nrt_reset(size_t fail_at, int status);
struct standin_nrt_state standin_nrt_state(void);

#endif

/*
 * slipway nettest run: starts the network test of one target in a cluster, waits until it has
 * ended, reads the launcher's log and takes the test away again: its nodes cost by the second.
 */
#ifndef SLIPWAY_BUILDER_CLI_NETTEST_RUN_H
#define SLIPWAY_BUILDER_CLI_NETTEST_RUN_H

#include "builder/cli/cluster.h"

struct nettest_run_options {
	const char *target; /* NULL = the first by weight that can run it */
	bool keep;          /* leave the MPIJob with its pods there */
};

struct nettest_result {
	const struct fleet_target *target;
	int64_t floor_gbps; /* of the spec; 0 = by instance */
	struct strbuf log;  /* the caller calls strbuf_done */
};

/*
 * ERR_USAGE: the spec has no such test; ERR_CONFLICT: one runs already; ERR_NETWORK: it has not
 * ended in time; ERR_SERVER: it failed. Whatever the end, nothing of the test is left in the
 * cluster unless it was to be kept.
 */
int nettest_run(struct cluster *cluster, const struct nettest_run_options *o,
                struct nettest_result *ret, struct err *err) MUST_USE;

#endif

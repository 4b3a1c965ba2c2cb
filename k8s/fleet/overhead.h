/*
 * What a node's DaemonSets take, and so what pods do not get. Renderers take requests from here,
 * so that the sums are true.
 */
#ifndef SLIPWAY_K8S_FLEET_OVERHEAD_H
#define SLIPWAY_K8S_FLEET_OVERHEAD_H

#include "k8s/fleet/model.h"

/* The nodes' DaemonSets but an accelerator's, which stand in its row, and what each asks
 * for: what pods do not get. `wanted` says for which target it runs; the renderers take their
 * requests from here, so that the sums are true. */
struct overhead {
	const char *name; /* "aws-node", "fluent-bit", ... */
	int64_t cpu_milli, memory_mib;
	int64_t limit_mib; /* of memory; 0 = what it asks for */
	/* NULL: a storage driver's own (k8s/fleet/storage_driver.h), wanted with it. */
	bool (*wanted)(const struct fleet *fleet, const struct fleet_target *target);
};
extern const struct overhead overheads[];
extern const size_t n_overheads;
const struct overhead *overhead_find(const char *name); /* BUG() when unknown */

/* What DaemonSets take of a node of the target, its accelerator's among them. */
void overhead_sum(const struct fleet *fleet, const struct fleet_target *target,
                  int64_t *ret_cpu_milli, int64_t *ret_memory_mib);

#endif

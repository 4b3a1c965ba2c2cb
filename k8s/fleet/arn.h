/*
 * Whether what an ARN names can be used by the cluster: it is of the same partition, and where it
 * matters of the same region. Its grammar is k8s/fleet/grammar.h's.
 */
#ifndef SLIPWAY_K8S_FLEET_ARN_H
#define SLIPWAY_K8S_FLEET_ARN_H

#include "base/arena.h"
#include "base/diag.h"

struct placed_arn {
	const char *text; /* NULL = none; what is no ARN was reported already */
	struct srcpos at;
	const char *what; /* the key's path: "job.role" */
	bool regional;    /* must be of the cluster's region */
};

/* Adds an error at its place; nothing without a region that is one by its form. */
void arn_check(const struct placed_arn *arn, const char *region, struct arena *a,
               struct diags *diags);

#endif

/*
 * deploy --in-cluster: what a Job in the cluster needs to go on alone, applied, and the Job
 * started.
 */
#ifndef SLIPWAY_BUILDER_CLI_DEPLOY_CLUSTER_H
#define SLIPWAY_BUILDER_CLI_DEPLOY_CLUSTER_H

#include "builder/cli/deploy_options.h"
#include "k8s/deploy/lease.h"

struct deploy_cluster {
	const struct deploy_options *options;
	struct arena *arena; /* lives as long as the command */
	const struct cluster *cluster;
	const struct k8s_output *out; /* with the jobs of all targets */
	const cJSON *owned;
};

/* ERR_USAGE when the spec names no image for it, or one without digest; ERR_UNSUPPORTED when the
 * spec reads the environment. Before anything is done. */
int deploy_cluster_check(const struct cluster *cluster, struct err *err) MUST_USE;

/* Ends the controller of an earlier deploy, which holds the lease, and takes that. */
int deploy_cluster_take_over(const struct deploy_cluster *d, struct lease *lease,
                             struct err *err) MUST_USE;

/* Applies rights and spec, gives the lease back, starts the Job. */
int deploy_cluster_start(const struct deploy_cluster *d, struct lease *lease,
                         struct apply_counts *ret, struct err *err) MUST_USE;

#endif

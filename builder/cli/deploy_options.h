/*
 * The options of `slipway deploy`, which its parts share.
 */
#ifndef SLIPWAY_BUILDER_CLI_DEPLOY_OPTIONS_H
#define SLIPWAY_BUILDER_CLI_DEPLOY_OPTIONS_H

#include "builder/cli/cluster.h"
#include "builder/cli/remote_option.h"

struct deploy_options {
	struct cluster_options cluster;
	const char *job, *image_digest;
	const char *dry_run; /* "client", "server" or NULL */
	bool diff, force_conflicts;
	/* How the job is placed. */
	bool keep_trying, no_failover, wait, no_wait, in_cluster, job_only;
	const char *interval; /* "500ms", "5s", "2m" */
	struct remote_options remote;
};

#endif

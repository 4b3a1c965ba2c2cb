/*
 * The end of a deploy: the job finds its place, and a person is told how.
 */
#ifndef SLIPWAY_BUILDER_CLI_DEPLOY_JOB_H
#define SLIPWAY_BUILDER_CLI_DEPLOY_JOB_H

#include "builder/cli/cluster.h"
#include "k8s/deploy/placement.h"

#define JOB_OPTIONS                                                                                \
	FLAG_OPTION("keep-trying", 0, keep_trying,                                                 \
	            "When no target has capacity, pause and try all of them again, for ever"),     \
		FLAG_OPTION("no-failover", 0, no_failover,                                         \
	                    "Stay with the first target, whatever its capacity"),                  \
		FLAG_OPTION("wait", 0, wait,                                                       \
	                    "Wait until the job has ended; status 8 if it failed"),                \
		FLAG_OPTION("no-wait", 0, no_wait,                                                 \
	                    "Return when the job is started, not when its pods run"),              \
		FLAG_OPTION("in-cluster", 0, in_cluster,                                           \
	                    "Leave the job to a Job in the cluster that does all this; return at " \
	                    "once"),                                                               \
		FLAG_OPTION("job-only", 0, job_only,                                               \
	                    "The job alone: pools, plugins and storage are there already"),        \
		TEXT_OPTION("interval", 0, interval, "DURATION",                                   \
	                    "Pause between two looks at the cluster, as in 30s", .fallback = "5s")

struct deploy_job {
	struct cli *cli;
	const struct cluster *cluster;
	const struct k8s_output *out;
	cJSON *result; /* gets "state" and "moves" */
};

/* Places the job by the options above. *ret->state is set even on failure; a table of what was
 * tried is printed where there was more than one attempt. */
int deploy_job_run(const struct deploy_job *d, struct lease *lease, struct placement *ret,
                   struct err *err) MUST_USE;

/* ERR_USAGE for options that contradict each other or are malformed; before anything is done. */
int deploy_job_check(const struct cli *cli, struct err *err) MUST_USE;

#endif

/*
 * The end of a deploy: the job is placed on a target, and each attempt is reported.
 */
#ifndef SLIPWAY_BUILDER_CLI_DEPLOY_JOB_H
#define SLIPWAY_BUILDER_CLI_DEPLOY_JOB_H

#include "builder/cli/deploy_options.h"
#include "k8s/deploy/placement.h"

struct deploy_job {
	struct cli *cli;
	const struct deploy_options *options;
	const struct cluster *cluster;
	const cJSON *release; /* the jobs of all targets (k8s/deploy/runs.h) */
	const cJSON *ahead;   /* what is compiled before them; NULL = nothing */
	const char *reason;   /* for the record of the run: "deploy" */
	cJSON *result;        /* gets "state", "run" and "moves" */
};

/* Places the job as the options say. *ret->state is set even on failure; a table of what was
 * tried is printed where there was more than one attempt. */
int deploy_job_run(const struct deploy_job *d, struct lease *lease, struct placement *ret,
                   struct err *err) MUST_USE;

/* What it would do, in a dry run; `live`: the job of `target` in the cluster, NULL = none. A run
 * that would be replaced becomes a row of result["changes"], where there is such a list. */
int deploy_job_preview(const struct deploy_job *d, struct kubectl *k, const char *target,
                       const cJSON *live, struct apply_counts *ret, struct err *err) MUST_USE;

/* ERR_USAGE for options that contradict each other or are malformed; before anything is done. */
int deploy_job_check(const struct deploy_options *o, struct err *err) MUST_USE;

#endif

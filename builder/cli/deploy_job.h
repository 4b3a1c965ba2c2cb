/*
 * The end of a deploy: places the job and reports every attempt.
 */
#ifndef SLIPWAY_BUILDER_CLI_DEPLOY_JOB_H
#define SLIPWAY_BUILDER_CLI_DEPLOY_JOB_H

#include "builder/cli/deploy_options.h"
#include "k8s/deploy/placement.h"

struct deploy_job {
	struct cli *cli;
	const struct deploy_options *options;
	const struct cluster *cluster;
	const struct k8s_output *out;
	cJSON *result; /* gets "state" and "moves" */
};

/* Places the job as the options say. *ret->state is set even on failure; a table of what was
 * tried is printed where there was more than one attempt. */
int deploy_job_run(const struct deploy_job *d, struct lease *lease, struct placement *ret,
                   struct err *err) MUST_USE;

/* ERR_USAGE for options that contradict each other or are malformed; before anything is done. */
int deploy_job_check(const struct deploy_options *o, struct err *err) MUST_USE;

#endif

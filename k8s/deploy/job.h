/*
 * A target's job as the cluster has it: which object it is, and how far it has come. Kubernetes'
 * Job, JobSet, the MPI operator's and Volcano's each say it in their own way. Pure.
 */
#ifndef SLIPWAY_K8S_DEPLOY_JOB_H
#define SLIPWAY_K8S_DEPLOY_JOB_H

#include "k8s/deploy/kinds.h"
#include "k8s/fleet/model.h"

enum job_phase {
	JOB_ABSENT,
	JOB_WAITING, /* not all of its pods run */
	JOB_RUNNING, /* all do */
	JOB_SUCCEEDED,
	JOB_FAILED
};

/* "absent", "pending", "running", "succeeded", "failed" */
const char *job_phase_name(enum job_phase phase);

/* Is it the object that runs a target's pods: not its Service or claim template? */
bool is_job_of(const cJSON *object, const struct fleet_target *target);

/*
 * JOB_SUCCEEDED or JOB_FAILED when its controller says that it has ended, else JOB_WAITING.
 * *ret_said is then the object with `message` and `reason`: a condition, or Volcano's state; else
 * NULL.
 */
enum job_phase job_end(const cJSON *job, const cJSON **ret_said);

#endif

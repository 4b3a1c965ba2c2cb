/*
 * A target's job as the cluster has it: which object it is, how far it has come, and what its
 * controller says of it. Kubernetes' Job, JobSet, the MPI operator's and Volcano's each say it in
 * their own way; fail-over and status both read them here. Nothing in the objects is trusted. Pure.
 */
#ifndef SLIPWAY_K8S_DEPLOY_JOB_H
#define SLIPWAY_K8S_DEPLOY_JOB_H

#include "k8s/deploy/kinds.h"
#include "k8s/fleet/model.h"

enum job_phase {
	JOB_ABSENT,
	JOB_WAITING, /* not all of its pods run */
	JOB_RUNNING, /* its controller says so, or all the pods that there are run */
	JOB_SUCCEEDED,
	JOB_FAILED, /* or on its way to it, with no way back */
	JOB_PHASES  /* their number */
};

/* "absent", "pending", "running", "succeeded", "failed" */
const char *job_phase_name(enum job_phase phase);

/* Has it succeeded or failed? */
bool job_has_ended(enum job_phase phase);

struct job_view {
	enum job_phase phase;
	/* What its controller says of the phase, in a sentence and in a word; NULL = nothing.
	 * Borrowed from the job. */
	const char *why, *reason;
	bool ran;             /* a pod of it runs or has run, even if the pod is gone */
	size_t pods, running; /* that are there; of those, run or have ended well */
	size_t alive;         /* of those that are there, have not failed */
	size_t rejected;      /* were refused by their nodes before anything of them ran */
	size_t wanted;        /* nodes that the job asks for, a pod each */
};

/* `job` NULL: it is not there. `pods`: an array of those of the job, NULL = not asked for. */
void job_read(const struct fleet_target *target, const cJSON *job, const cJSON *pods,
              struct job_view *ret);

/* The nodes that a live job asks for: those of the target when it does not say. */
int64_t job_nodes(const struct fleet_target *target, const cJSON *job);

/* Is it the object that runs a target's pods: not its Service or claim template? */
bool is_job_of(const cJSON *object, const struct fleet_target *target);

/* The target's job among objects, NULL if it is not there. */
const cJSON *job_find(const cJSON *objects, const struct fleet_target *target);

/* The first target by weight whose job is among them, NULL if there is none. */
const struct fleet_target *job_find_target(const cJSON *objects, const struct fleet *fleet);

#endif

/*
 * What keeps a Job of a stage (storage preparation) from finishing: its own word says only that it
 * is not done or that its limit was reached; its pods and the events about them say why.
 */
#ifndef SLIPWAY_K8S_DEPLOY_READY_JOB_H
#define SLIPWAY_K8S_DEPLOY_READY_JOB_H

#include "k8s/deploy/apply.h"

/*
 * Reads the pods and warnings of a live batch/v1 Job that is not ready and puts what they say
 * behind `why`. NEVER: it cannot become ready, as when its pods are refused or there is no such
 * image. What may not be read is done without.
 */
enum readiness ready_job_look(struct kubectl *k, const cJSON *job, enum readiness now,
                              char why[WHY_MAX]);

/* The same of what was read. Pure. */
enum readiness ready_job_judge(const cJSON *pods, const cJSON *events, enum readiness now,
                               char why[WHY_MAX]);

#endif

/*
 * The parts of status_read: the job and its pods, the recorded choice of a target, and small
 * readers of objects. For k8s/deploy/status*.c only.
 */
#ifndef SLIPWAY_K8S_DEPLOY_STATUS_JOB_H
#define SLIPWAY_K8S_DEPLOY_STATUS_JOB_H

#include "k8s/deploy/status.h"

void status_read_job(const struct status_input *in, struct arena *a, struct status *s);

/* target, reason, since and attempts from the owned ConfigMap that holds state.json, if one does.
 */
void status_read_history(const struct status_input *in, struct arena *a, struct status *s);

/* A copy without control bytes, cut at a sensible length; NULL stays NULL. */
const char *status_clean(struct arena *a, const char *text);

/* Seconds since creation, -1 when unknown. */
int64_t status_age(const cJSON *object, int64_t now_ms);

#endif

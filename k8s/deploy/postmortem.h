/*
 * Why a job failed: which of its pods ended first, how, and the end of that one's log. Only reads;
 * what cannot be read is left out, for the failure itself is to be told in any case.
 */
#ifndef SLIPWAY_K8S_DEPLOY_POSTMORTEM_H
#define SLIPWAY_K8S_DEPLOY_POSTMORTEM_H

#include "k8s/deploy/kubectl.h"

enum { POSTMORTEM_LINES = 10, POSTMORTEM_BYTES_MAX = 8 << 10 };

/* The pod of the array that failed first: the others mostly fell with it. NULL if none has.
 * Pure. */
const cJSON *postmortem_pod(const cJSON *pods);

/* Appends the last lines of the pod's log, each ending in a newline, printable; nothing when it
 * cannot be read. */
void postmortem_log(struct kubectl *k, const cJSON *pod, struct strbuf *sb);

#endif

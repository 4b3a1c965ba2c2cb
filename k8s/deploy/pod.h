/*
 * What a pod says of itself, as kubectl gave it: how far it is, what it waits for, which rank of
 * its job it is. Nothing in it is trusted; what is returned is borrowed from the pod. Pure.
 */
#ifndef SLIPWAY_K8S_DEPLOY_POD_H
#define SLIPWAY_K8S_DEPLOY_POD_H

#include "k8s/deploy/object_read.h"

/* Does it run, or has it ended well? */
bool pod_runs(const cJSON *pod);

/* Does it run, or has it ever: a container of it was started? */
bool pod_ran(const cJSON *pod);

/* Did its node refuse it before anything of it ran: no device to be had, no room? A pod's failure,
 * but not its job's. */
bool pod_rejected(const cJSON *pod);

/* How it failed: "OOMKilled, exit status 137", "Error, exit status 79: damaged input ...",
 * "Evicted: The node was low on memory"; false: it has not, and `out` is "". What it says is
 * printable. */
enum { POD_TEXT_MAX = 320 };
bool pod_failure(const cJSON *pod, char out[POD_TEXT_MAX]);

/* When its first container ended, in ms since 1970; 0 = none has. */
int64_t pod_ended_ms(const cJSON *pod);

/* The node it was given, NULL = none yet; why it has none, NULL = nobody said. */
const char *pod_node(const cJSON *pod);
const char *pod_unplaced(const cJSON *pod);

/* The first of status.containerStatuses, NULL if there is none; others follow as its `next`. */
const cJSON *pod_containers(const cJSON *pod);

/* All of them, those that run before the others first: NULL begins, NULL ends. */
const cJSON *pod_next_status(const cJSON *pod, const cJSON *status);

/* What one of them waits for (an image, a volume); false: nothing. *ret_message may be NULL. */
bool container_waits(const cJSON *container, const char **ret_reason, const char **ret_message);

/* Restarts of all its containers; counts that no kubelet makes are left out. */
int64_t pod_restarts(const cJSON *pod);

/* Its index in its job: the controller's word, else the number in its name; -1 for a launcher and
 * for what has none. */
int64_t pod_rank(const cJSON *pod, const char *job);

/* The container that the job's program runs in: "trainer", or "launcher". */
const char *pod_container(const cJSON *pod);
bool pod_launches(const cJSON *pod);

/* How useful its log is: higher is better (Running, Succeeded, Failed, Pending). */
int pod_phase_rank(const cJSON *pod);

/* The pod whose log shows the training: the launcher, else rank 0, the newest that started; NULL if
 * there is none. */
const cJSON *pod_of_training(const cJSON *pods, const char *job);

#endif

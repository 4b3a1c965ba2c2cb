/*
 * Pods in rendered objects, wherever an object has them: in the template of a Job, of a Volcano
 * Job's task, of an MPIJob's replicas, of a JobSet's Jobs. Pure; trees are borrowed.
 */
#ifndef SLIPWAY_K8S_OBJECT_PODS_H
#define SLIPWAY_K8S_OBJECT_PODS_H

#include "base/doc/json.h"

/* Calls `visit` with every pod specification of the object: a mapping with a list `containers`. */
void each_pod(const cJSON *object, void (*visit)(const cJSON *pod, void *listener), void *listener);

/* The containers of a pod specification, those that run before the others first. */
struct pod_walk {
	const cJSON *next, *rest;
};
struct pod_walk pod_walk(const cJSON *pod);
const cJSON *pod_walk_next(struct pod_walk *c); /* NULL = no more */

/*
 * What a pod asks for of a resource, in thousandths: its containers together, or what an init
 * container asks for beside the sidecars, where that is more. False when an amount is not one.
 */
bool pod_requests(const cJSON *pod, const char *resource, int64_t *ret_thousandths);

#endif

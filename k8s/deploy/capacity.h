/*
 * What can be seen of a target's job in the cluster: the job itself, its pods, the node claims of
 * its pool and the events of all of them, and in those the signs of missing capacity.
 */
#ifndef SLIPWAY_K8S_DEPLOY_CAPACITY_H
#define SLIPWAY_K8S_DEPLOY_CAPACITY_H

#include "k8s/deploy/apply.h"
#include "k8s/deploy/failover.h"

/* Arrays of live objects; NULL = not asked for. Events are those of type Warning. */
struct sight {
	const cJSON *job; /* NULL = there is none */
	const cJSON *pods, *claims, *events;
	/* Of a job without a running pod, events before that say nothing; 0 = since it was made. */
	int64_t since_ms;
};

/* Makes an observation of what was read. Pure. */
void capacity_observe(const struct fleet_target *target, const struct sight *sight, int64_t now_ms,
                      struct observation *ret);

struct watch_opts {
	const struct fleet *fleet;
	const struct fleet_target *target;
	const cJSON *items; /* the target's objects of the jobs stage */
	int64_t since_ms;   /* as in struct sight */
};

/* The pods that bear the name of the target's job; the caller deletes. */
int capacity_pods(struct kubectl *k, const struct watch_opts *opts, cJSON **ret,
                  struct err *err) MUST_USE;

/* Where what is seen of a target's job stands. */
enum seen { SEEN_JOB, SEEN_PODS, SEEN_CLAIMS, SEEN_EVENTS, SEEN_CLAIM_EVENTS, SEEN_KINDS };

/* A call of `kubectl get`: its words after "get", resource first, NULL-terminated. */
struct seen_query {
	const char *words[6];
	char selector[512];
};

/* False: there is nothing of this kind, or it is seen by another. The query stays where it is. */
bool seen_query(const struct watch_opts *opts, enum seen kind, struct seen_query *ret);

/* Only while none of the pods runs: what keeps them from starting. */
bool seen_unstarted(enum seen kind);

/* Reads the cluster and observes. Node claims and events that may not be read are done without. */
int capacity_look(struct kubectl *k, const struct watch_opts *opts, struct observation *ret,
                  struct err *err) MUST_USE;

/* Has every pod of it ended or gone? */
int capacity_pods_gone(struct kubectl *k, const struct watch_opts *opts, bool *ret,
                       struct err *err) MUST_USE;

#endif

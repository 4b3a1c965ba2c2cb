/*
 * Asking a cluster for what status_read reads: a handful of kubectl calls, none of which changes
 * anything. What may be missing without harm (the log) is a text, the rest is an error.
 */
#ifndef SLIPWAY_K8S_DEPLOY_COLLECT_H
#define SLIPWAY_K8S_DEPLOY_COLLECT_H

#include "k8s/deploy/status.h"

enum { COLLECT_LOG_LINES = 400 };

struct snapshot {
	cJSON *resources, *owned, *nodes, *pods;
	struct strbuf log;
	const char *log_problem; /* in the arena; NULL = the log was read */
};
void snapshot_done(struct snapshot *s);

/* Everything; the target whose job it is about is status_target's. */
int snapshot_take(struct kubectl *k, const struct fleet *fleet, struct arena *a,
                  struct snapshot *ret, struct err *err) MUST_USE;

/* The fleet's objects, without pods, nodes and log. */
int snapshot_owned(struct kubectl *k, const struct fleet *fleet, struct snapshot *ret,
                   struct err *err) MUST_USE;

/* The pods of a target's job, its launcher among them; the caller deletes. */
int job_pods(struct kubectl *k, const struct fleet *fleet, const struct fleet_target *target,
             cJSON **ret_pods, struct err *err) MUST_USE;

#endif

/*
 * Asking a cluster for what status_read reads: a handful of kubectl calls, none of which changes
 * anything. A log that cannot be read is reported in a sentence, any other failure is an error.
 */
#ifndef SLIPWAY_K8S_DEPLOY_COLLECT_H
#define SLIPWAY_K8S_DEPLOY_COLLECT_H

#include "k8s/deploy/status.h"

enum { COLLECT_LOG_LINES = 400, COLLECT_HEAD_BYTES = 256 << 10 };

struct snapshot {
	cJSON *resources, *owned, *nodes, *pods, *pulled;
	struct strbuf log;       /* its last lines */
	struct strbuf compiling; /* last lines of what compiles ahead of the job; else empty */
	struct strbuf head;      /* its beginning, of a job whose ranks talk over EFA; else empty */
	const char *log_problem; /* in the arena; NULL = the log was read */
};
void snapshot_done(struct snapshot *s);

/* Everything, as far as it may be listed, of the fleet that `out` was rendered from; the target
 * whose job it is about is status_target's. */
int snapshot_take(struct kubectl *k, const struct k8s_output *out, struct arena *a,
                  struct snapshot *ret, struct err *err) MUST_USE;

/* What runs the fleet's pods, without pods, nodes, log and all else. */
int snapshot_jobs(struct kubectl *k, const struct fleet *fleet, struct snapshot *ret,
                  struct err *err) MUST_USE;

/* The pods of a target's job, its launcher among them; the caller deletes. */
int job_pods(struct kubectl *k, const struct fleet *fleet, const struct fleet_target *target,
             cJSON **ret_pods, struct err *err) MUST_USE;

#endif

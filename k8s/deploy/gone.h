/*
 * Deleting and waiting until what was deleted is gone, within a deadline. What stays is told with
 * the finalizers that keep it; if the caller agrees they are removed, and what that leaves behind
 * is told too.
 */
#ifndef SLIPWAY_K8S_DEPLOY_GONE_H
#define SLIPWAY_K8S_DEPLOY_GONE_H

#include "k8s/deploy/kinds.h"
#include "k8s/deploy/kubectl.h"

/* After force was agreed to, each further wait ends so late at the earliest. */
enum { GONE_GRACE_MS = 30000 };

struct gone_opts {
	int64_t deadline_ms; /* of the clock */
	/* May the finalizers of these be removed? `what` has a line for each object. NULL = never.
	 */
	bool (*may_force)(void *ctx, const char *what);
	void *ctx;
	struct strbuf *left; /* lines about what may go on costing money */
};

/* What is awaited: objects, as they were when they were deleted, or what a `get` finds. */
struct gone_wait {
	const char *what;        /* "nodes" */
	cJSON *objects;          /* an array; NULL: args */
	const char *const *args; /* of kubectl */
};

/* Asks for the deletion of one object and does not wait; absent is as good. */
int gone_ask(struct kubectl *k, const cJSON *object, struct err *err) MUST_USE;

/* ERR_NETWORK at the deadline, with what is in the way. */
int gone_await(struct kubectl *k, const struct gone_wait *wait, const struct gone_opts *opts,
               struct err *err) MUST_USE;

#endif

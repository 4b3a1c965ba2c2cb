/*
 * Taking a fleet out of a cluster in the reverse order: the job, the claim and its file system, the
 * pools and their nodes, the plugins, the roles, then the namespace. Only what carries the owner's
 * label is touched.
 */
#ifndef SLIPWAY_K8S_DEPLOY_UNDEPLOY_H
#define SLIPWAY_K8S_DEPLOY_UNDEPLOY_H

#include "base/strlist.h"
#include "k8s/deploy/gone.h"

struct undeploy_opts {
	const char *owner;      /* value of slipway/owner */
	const char *pool_label; /* k8s_pool_label of the fleet */
	struct strlist pools;   /* of the spec: their nodes are awaited too */
	bool keep_data;         /* claim, volume, the driver that serves them, the namespace */
	bool node_claims;       /* the cluster serves Karpenter's node claims */
	struct gone_opts gone;  /* its `left` is undeploy_run's */
	/* Called for each object before it is deleted. NULL = no listener. */
	void (*tell)(void *ctx, const cJSON *object);
	void *ctx;
};

/* Does this owned object go? */
bool undeploy_takes(const cJSON *object, const struct undeploy_opts *opts);

/*
 * Deletes what goes, rank after rank, and waits until each rank is gone: with the pools their
 * nodes, with the claim a volume that dies with it. What stays and may cost money is added to
 * opts->gone.left as sentences, one per line. ERR_NETWORK at the deadline: it can be run again.
 */
int undeploy_run(struct kubectl *k, const cJSON *owned, const struct undeploy_opts *opts,
                 struct err *err) MUST_USE;

#endif

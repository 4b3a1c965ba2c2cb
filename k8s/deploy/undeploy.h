/*
 * Taking a fleet out of a cluster in the reverse order: the job, the claim and its file system, the
 * pools and their nodes, the plugins, the roles, then the namespace. Only what carries the owner's
 * label is touched.
 */
#ifndef SLIPWAY_K8S_DEPLOY_UNDEPLOY_H
#define SLIPWAY_K8S_DEPLOY_UNDEPLOY_H

#include "k8s/deploy/apply.h"

struct undeploy_opts {
	struct apply_opts apply;
	const char *pool_label; /* k8s_pool_label of the fleet */
	bool keep_data;         /* claim, volume, the driver that serves them, the namespace */
};

/* Does this owned object go? */
bool undeploy_takes(const cJSON *object, const struct undeploy_opts *opts);

/*
 * Deletes what goes, rank after rank; waits until nodes are gone and volumes that die with their
 * claim are too. What stays and may cost money is added to `left` as sentences, one per line.
 */
int undeploy_run(struct kubectl *k, const cJSON *owned, const struct undeploy_opts *opts,
                 struct strbuf *left, struct err *err) MUST_USE;

#endif

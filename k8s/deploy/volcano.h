/*
 * Volcano's own configuration, which belongs to whoever installed it: it is read, never written.
 * The stock one keeps a job without pods until there are nodes for it, and Karpenter makes nodes
 * for pods: neither ever comes (k8s/job/volcano_config.c).
 */
#ifndef SLIPWAY_K8S_DEPLOY_VOLCANO_H
#define SLIPWAY_K8S_DEPLOY_VOLCANO_H

#include <stdbool.h>

#include "k8s/deploy/kubectl.h"
#include "k8s/fleet/model.h"

/*
 * Would a scheduler with this configuration hold a job back that asks for nodes to come? Then the
 * name of the plugin that does, with the action `enqueue`; else NULL, also for what cannot be read.
 * `conf` is volcano-scheduler.conf, NULL = none. The name is a constant. Pure.
 */
const char *volcano_holds_back(const char *conf);

/* Has the fleet a job that Volcano schedules? Pure. */
bool volcano_matters(const struct fleet *fleet);

/* Finds Volcano's scheduler by its image, in whatever namespace, and reads the ConfigMap that it
 * mounts: ERR_CONFLICT, with the change that it needs, when the fleet's job would be held back. A
 * fleet without Volcano, and a cluster where no scheduler is to be seen, are well; without the
 * right to look the progress says so. */
int volcano_check(struct kubectl *k, const struct fleet *fleet, struct err *err) MUST_USE;

#endif

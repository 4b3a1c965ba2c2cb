/*
 * The parts of 00-cluster: what must be there before kubectl has anything to apply to.
 */
#ifndef SLIPWAY_K8S_CLUSTER_H
#define SLIPWAY_K8S_CLUSTER_H

#include "k8s/object.h"

#define KARPENTER_NAMESPACE "kube-system"
#define KARPENTER_ACCOUNT   "karpenter"

/* Node role, controller role, interruption queue, EFA's security group: CloudFormation. */
void render_karpenter_stack(const struct fleet *fleet, struct k8s_output *out);

/* The stack has a parameter Vpc, for the security group. */
bool cluster_wants_efa_group(const struct fleet *fleet);

#endif

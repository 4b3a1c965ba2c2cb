/*
 * The parts of 00-cluster: what must be there before kubectl has anything to apply to.
 */
#ifndef SLIPWAY_K8S_CLUSTER_CLUSTER_H
#define SLIPWAY_K8S_CLUSTER_CLUSTER_H

#include "k8s/object/render.h"

extern const struct k8s_renderer cluster_renderer;
extern const struct k8s_renderer account_renderer;
extern const struct k8s_renderer namespace_renderer;

/* The section `cluster` of slipway.yaml. */
extern const struct field_table cluster_fields;

#define KARPENTER_NAMESPACE "kube-system"
#define KARPENTER_ACCOUNT   "karpenter"

/* Statements of a policy: what EC2 does in Karpenter's name with the keys of the nodes' volumes;
 * nothing where the account's own key encrypts them. */
void cluster_add_key_rights(const struct fleet *fleet, cJSON *statements);

/* The stack of 01-account has a parameter Vpc, for EFA's security group. */
bool cluster_wants_efa_group(const struct fleet *fleet);

#endif

/*
 * Karpenter's objects: one pool and one node class per target, in the API that the cluster's
 * Karpenter serves. karpenter_renderer chooses; each file here renders one API.
 */
#ifndef SLIPWAY_KARPENTER_POOLS_POOLS_H
#define SLIPWAY_KARPENTER_POOLS_POOLS_H

#include "k8s/object/render.h"

extern const struct k8s_renderer karpenter_renderer;

/* karpenter.sh/v1 and karpenter.k8s.aws/v1: Karpenter 1.x. */
void pool_v1(const struct fleet *fleet, const struct fleet_target *t, struct k8s_output *out);

/* karpenter.sh/v1beta1 and karpenter.k8s.aws/v1beta1: 0.32 to 0.37. */
void pool_v1beta1(const struct fleet *fleet, const struct fleet_target *t, struct k8s_output *out);

/* karpenter.sh/v1alpha5 Provisioner and karpenter.k8s.aws/v1alpha1 AWSNodeTemplate: to 0.31. */
void pool_v1alpha5(const struct fleet *fleet, const struct fleet_target *t, struct k8s_output *out);

/* fleet->compile_pool, a file of its own. */
void pool_compile(const struct fleet *fleet, struct k8s_output *out);

/* ---- what the APIs share ---- */

/* requirements: instance types, architecture, operating system, zone, capacity types. */
void pool_requirements(cJSON *spec, const struct fleet_target *t, struct k8s_output *out);

/* taints and startupTaints, where there are any. */
void pool_taints(cJSON *spec, const struct fleet_target *t);

/* Labels of the nodes: owner, target, and the spec's own. */
void pool_node_labels(cJSON *labels, const struct fleet *fleet, const struct fleet_target *t);

/* cpu, memory and the accelerator (nodes too where the API counts them). */
void pool_limits(cJSON *limits, const struct fleet_target *t, bool nodes, struct k8s_output *out);

/* [{tags: {karpenter.sh/discovery: ...}}] as subnetSelectorTerms and securityGroupSelectorTerms. */
void pool_network(cJSON *spec, const struct fleet *fleet, struct k8s_output *out);

/* The tags of the nodes' subnets, private ones unless the spec says otherwise: an instance with
 * several network interfaces gets no public address, and could not join from a public subnet. */
void pool_subnet_tags(cJSON *tags, const struct fleet *fleet, struct k8s_output *out);

/* What came to v1beta1 with Karpenter 0.34: disruption budgets and instanceStorePolicy. */
enum { KARPENTER_BUDGETS = 34 };

/* blockDeviceMappings with the encrypted gp3 root volume; /dev/xvdb is Bottlerocket's data. */
void pool_volumes(cJSON *spec, const struct fleet_target *t, struct k8s_output *out);

/* IMDSv2 alone, one hop: pods use Pod Identity or IRSA. */
void pool_metadata_options(cJSON *spec);

/* tags of instances and volumes. */
void pool_tags(cJSON *spec, const struct fleet *fleet, const struct fleet_target *t,
               struct k8s_output *out);

/* "fleet.trn1.weight" in the output's arena. */
const char *pool_path(const struct fleet_target *t, const char *key, struct k8s_output *out);

/* "AL2023", "AL2", "Bottlerocket" of the alias; "Custom" without one. */
const char *pool_ami_family(const struct fleet_target *t);

#endif

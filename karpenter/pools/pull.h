/*
 * What makes nodes pull an image in parallel: several connections a layer, several layers unpacked
 * at a time, by the SOCI snapshotter without an index. Worth a factor of two on images of
 * gigabytes. Sources: nodeadm's NodeConfig (AL2023, images since 2025-08-21), Bottlerocket's
 * settings (since 1.44.0).
 */
#ifndef SLIPWAY_KARPENTER_POOLS_PULL_H
#define SLIPWAY_KARPENTER_POOLS_PULL_H

#include "k8s/object/render.h"

/* userData, for a target whose nodes pull in parallel; nothing for others. */
void pool_user_data(cJSON *spec, const struct fleet_target *t, struct k8s_output *out);

#endif

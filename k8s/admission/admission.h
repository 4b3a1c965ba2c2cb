/*
 * `trust` for the cluster's own gate: policies of admission controllers that ask the pods of the
 * fleet's namespace for the same signatures as `slipway deploy` does. For a person to apply who is
 * not the one that they judge, so deploy does not.
 *
 *   Kyverno            ImageValidatingPolicy, policies.kyverno.io/v1 (1.17 and newer)
 *                      ClusterPolicy, kyverno.io/v1, which reads signatures under tags alone
 *   policy-controller  ClusterImagePolicy, policy.sigstore.dev/v1beta1 (0.15)
 */
#ifndef SLIPWAY_K8S_ADMISSION_ADMISSION_H
#define SLIPWAY_K8S_ADMISSION_ADMISSION_H

#include "k8s/object/render.h"

extern const struct k8s_renderer trust_renderer;

#endif

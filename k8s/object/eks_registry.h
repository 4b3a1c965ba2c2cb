/*
 * Where AWS keeps the images that EKS itself uses: one ECR registry per region.
 * Source: EKS user guide, "View Amazon container image registries for EKS add-ons", read
 * 2026-11-21. Thread rule: pure.
 */
#ifndef SLIPWAY_K8S_OBJECT_EKS_REGISTRY_H
#define SLIPWAY_K8S_OBJECT_EKS_REGISTRY_H

#include "base/arena.h"

/* "602401143452.dkr.ecr.us-west-2.amazonaws.com"; a region that is not in the table is taken for
 * one of the many that share an account. */
const char *eks_registry(const char *region, struct arena *a);

#endif

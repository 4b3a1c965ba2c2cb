/*
 * EKS's calendar of Kubernetes versions: fourteen months of standard support, then twelve of
 * extended support at six times the cluster's fee. Source: EKS user guide, "Understand the
 * Kubernetes version lifecycle on EKS", and AWS Health's notices; read 2026-11-22. Nothing that is
 * rendered depends on today: only eks_version_remark asks for it. Pure, constant data.
 */
#ifndef SLIPWAY_K8S_FLEET_EKS_VERSIONS_H
#define SLIPWAY_K8S_FLEET_EKS_VERSIONS_H

#include "base/arena.h"
#include "k8s/fleet/sections.h"

/* The versions that EKS runs; the newest that eksctl 0.230 can create, which is the default. */
#define EKS_DEFAULT_VERSION "1.35"
enum { EKS_MINOR_OLDEST = 31, EKS_MINOR_DEFAULT = 35, EKS_MINOR_NEWEST = 36 };

/* So many days before an end it is spoken of. */
enum { EKS_NOTICE_DAYS = 60 };

struct eks_remark {
	const char *text, *hint; /* in the arena */
};

/*
 * What is to be said on the day of now_ms (since 1970) about a cluster of 1.MINOR: that a support
 * ends within EKS_NOTICE_DAYS, or has ended. False: nothing.
 */
bool eks_version_remark(int minor, enum eks_support support, int64_t now_ms, struct arena *a,
                        struct eks_remark *ret);

#endif

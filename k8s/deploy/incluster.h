/*
 * The deploy that runs inside the cluster, so that a laptop can be closed: a Job of slipway's own
 * image with the spec in a ConfigMap, and the least privilege that `deploy --job-only` needs. It
 * does what the same command does anywhere, under the same Lease; it never renders pools or
 * plugins.
 */
#ifndef SLIPWAY_K8S_DEPLOY_INCLUSTER_H
#define SLIPWAY_K8S_DEPLOY_INCLUSTER_H

#include "k8s/deploy/apply.h"

#define CONTROLLER_SPEC_DIR "/etc/slipway"

/* Its account, roles, bindings and ConfigMap are FLEET and this; so is the Job. */
#define CONTROLLER_SUFFIX "-deploy"

struct controller_opts {
	const struct k8s_output *jobs; /* rendered: whose kinds it must be allowed to make */
	const char *image;             /* has slipway and kubectl; by digest */
	const char *spec;              /* the spec's text */
	struct strlist args;           /* of slipway: "deploy", "--job-only", ... */
};

/*
 * Renders into `out`, which belongs to the caller. *ret_rights: all but the Job, *ret_job: the Job;
 * references into out, each freed with stage_done. Pure.
 */
void controller_render(const struct fleet *fleet, const struct controller_opts *opts,
                       struct k8s_output *out, struct stage *ret_rights, struct stage *ret_job);

#endif

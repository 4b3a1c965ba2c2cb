/*
 * What is compiled ahead of a job (fleet.TARGET.compiler): the Job that does it, one per target
 * whose devices run nothing else, on a node without devices; and what the job's own pods get to
 * find the result. Modules lie in a folder of the fleet's file system, or go through the registry
 * as referrers of the job's image: then pods hold them in an empty volume.
 */
#ifndef SLIPWAY_K8S_JOB_COMPILE_H
#define SLIPWAY_K8S_JOB_COMPILE_H

#include "k8s/object/render.h"

extern const struct k8s_renderer compile_renderer;

/* The containers of its Job, in their order; not every one is there. */
#define COMPILE_FETCH   "fetch"   /* what the registry has */
#define COMPILE_PROGRAM "program" /* the trainer, into a folder */
#define COMPILE_COMPILE "compile" /* in the compiler's image */
#define COMPILE_CHECK   "check"   /* in the job's image: is all there? */
#define COMPILE_SEND    "send"    /* what the registry lacks */

/* For the job's own pods: the container that fetches the modules, first of `init`, and the volume
 * that they are fetched into; nothing where they do not go through the registry. */
void compile_fetch(const struct fleet *fleet, const struct fleet_target *target, cJSON *init,
                   bool allow_none);
void compile_cache(const struct fleet *fleet, const struct fleet_target *target, cJSON *volumes,
                   cJSON *mounts);

/* The Secret that slipway logs in to the registry of the job's image with, the first of
 * job.pull_secrets: mounted for its containers alone. NULL: by AWS, where that is ECR, or nobody.
 */
const char *compile_login(const struct fleet *fleet, const struct fleet_target *target);

/* Volumes that pods have where modules go through the registry. */
#define COMPILE_VOLUME "neff"
#define COMPILE_LOGIN  "neff-login"

#endif

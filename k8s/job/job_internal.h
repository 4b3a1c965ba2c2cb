/*
 * What the parts of a job's pod share; nobody outside k8s/job includes it.
 */
#ifndef SLIPWAY_K8S_JOB_JOB_INTERNAL_H
#define SLIPWAY_K8S_JOB_JOB_INTERNAL_H

#include "k8s/job/job.h"

/* ---- environment (job_env.c) ---- */

/* All variables of the job's container: ranks, network, HOME, and the spec's, which replace ours;
 * the target's replace the job's. */
void job_env(const struct fleet *fleet, const struct fleet_target *target,
             const struct job_pod_opts *opts, cJSON *env);

/* Puts each variable of the list in the place of the one of its name: a later one would win in a
 * container, but the API server warns of it. */
void job_put_env(cJSON *env, const struct env_list *list);
void job_env_from(cJSON *container, const struct env_source *sources, size_t n);

/* ---- volumes (job_volumes.c) ---- */

/* All volumes of the pod, mounted in its container. */
void job_volumes(const struct fleet *fleet, const struct fleet_target *target,
                 struct k8s_output *out, const struct job_pod *pod);

/* ---- rights and the way to a node (job_rights.c) ---- */

/* Non-root with a read-only root, without capabilities; or what job.root and job.writable_root
 * allow. */
void job_pod_rights(const struct fleet *fleet, cJSON *pod_spec);
void job_container_rights(const struct job_section *job, cJSON *container);
void job_note_rights(const struct job_section *job, cJSON *annotations); /* and why */

/* ---- other containers (job_beside.c) ---- */

/* The init containers and sidecars of the spec, with the volumes of the pod's container. Sidecars
 * are init containers that go on: the pod ends without waiting for them. */
void job_beside(const struct fleet *fleet, const struct fleet_target *target,
                const struct job_pod *pod);

#endif

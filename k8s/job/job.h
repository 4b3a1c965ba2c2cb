/*
 * The parts of 60-jobs: the pod that every kind of job shares (k8s/job/scheduler.h has the kinds).
 *
 * What the trainer is told, whatever the kind:
 *   MASTER_ADDR, MASTER_PORT  where rank 0 listens
 *   NNODES, NPROC_PER_NODE    pods of the job, processes per pod (GPUs or NeuronCores)
 *   WORLD_SIZE                their product
 *   NODE_RANK                 the pod's index (under Volcano: VC_TASK_INDEX; under MPI mpirun says)
 *   SLIPWAY_RUN_TOKEN         the job's UID, from the pods' metadata: ranks know each other by it
 *   METRICS_PORT              where Prometheus scrapes; absent = nowhere
 */
#ifndef SLIPWAY_K8S_JOB_JOB_H
#define SLIPWAY_K8S_JOB_JOB_H

#include "k8s/object/render.h"

extern const struct k8s_renderer scheduler_renderer;
extern const struct k8s_renderer jobs_renderer;

/* The section `job` of slipway.yaml. */
extern const struct field_table job_fields;

enum { MASTER_PORT = 29500 };

#define JOB_CONTAINER "trainer"

/* On pods that Prometheus can ask, whatever their target. */
#define JOB_METRICS_LABEL "slipway/metrics"
#define JOB_METRICS_VALUE "trainer"

/* Annotation of the pod's index in an indexed Job. */
#define INDEX_ANNOTATION "metadata.annotations['batch.kubernetes.io/job-completion-index']"

/* Label of every pod of a batch/v1 Job: the Job's UID, which cannot be guessed. */
#define JOB_UID_LABEL "metadata.labels['batch.kubernetes.io/controller-uid']"

/* A job's pod under construction. */
struct job_pod {
	cJSON *metadata, *spec, *container, *env;
};

struct job_pod_opts {
	const char *master;      /* host name of rank 0; NULL = the job finds itself (MPI) */
	const char *rank_field;  /* field path of the pod's index; NULL = the kind says otherwise */
	const char *token_field; /* field path of what only this job's pods share; NULL = nothing */
};

/*
 * metadata and spec of the target's pods, under `template`: devices, EFA, memory, taints, volumes,
 * environment, command and arguments.
 */
void job_pod(const struct fleet *fleet, const struct fleet_target *target, struct k8s_output *out,
             cJSON *template, const struct job_pod_opts *opts, struct job_pod *ret);

/* ---- pieces of it that other pods of the fleet share ---- */

/* Pod security: non-root with the job's user and group, seccomp. */
void job_security(const struct fleet *fleet, cJSON *pod_spec);

/* The taints of job.tolerations, beside those of the target. */
void job_tolerate(const struct job_section *job, cJSON *tolerations);

/* job.pull_secrets, for pods of the fleet's own images. */
void job_pull_secrets(const struct job_section *job, cJSON *pod_spec);

/* /tmp as an empty volume: the root file system is read-only. Adds to both arrays. */
void job_scratch(cJSON *volumes, cJSON *mounts);

/* The fleet's claim at its mount path, where there is a file system. */
void job_data(const struct fleet *fleet, cJSON *volumes, cJSON *mounts);

/* requests equal to limits: devices, EFA, huge pages, CPU, memory of the target's pods. */
void job_resources(const struct fleet *fleet, const struct fleet_target *target, cJSON *container);

/* The resource claim that job_resources names, where devices come by claims. */
void job_claim(const struct fleet_target *target, struct k8s_output *out, cJSON *pod_spec);

/* What libfabric and the collectives need over EFA, and the accelerator's runtime. */
void job_network_env(const struct fleet_target *target, const char *master, cJSON *env);

/* A remark at `key`: which line of the spec set the number of nodes, the job's or the target's. */
void job_note_nodes(const struct fleet *fleet, const struct fleet_target *target,
                    struct k8s_output *out, const cJSON *object, const char *key);

/* ---- what kinds of job share ---- */

/* The spec of an indexed batch/v1 Job of the target's pods: plain, or inside a JobSet. */
struct indexed_opts {
	const char *master;
	int64_t backoff; /* failed pods until the Job fails */
	bool ttl;        /* the Job cleans itself up */
};
void job_indexed_spec(const struct fleet *fleet, const struct fleet_target *target,
                      struct k8s_output *out, cJSON *spec, const struct indexed_opts *opts);

#endif

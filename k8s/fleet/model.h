/*
 * The resolved fleet: everything the renderers need, with every default filled in and every figure
 * derived from the instance catalogue. fleet_resolve makes it from the sections and reports every
 * contradiction with its position; renderers only read it and cannot fail.
 *
 * Plain values stand in the sections (fleet->cluster, ->job, ->monitoring); what is
 * derived stands here. All memory lives in the spec's arena; immutable after fleet_resolve.
 */
#ifndef SLIPWAY_K8S_FLEET_MODEL_H
#define SLIPWAY_K8S_FLEET_MODEL_H

#include "base/arena.h"
#include "base/diag.h"
#include "k8s/fleet/sections.h"
#include "karpenter/catalogue/catalogue.h"

enum karpenter_api { KARPENTER_V1, KARPENTER_V1BETA1, KARPENTER_V1ALPHA5 };

struct taint {
	const char *key, *value, *effect;
};

/* What is compiled ahead of a target's job, and how it comes to the job. */
struct target_compile {
	const char *job;      /* the Job that compiles, or looks; NULL = nothing is compiled */
	const char *cache;    /* folder of the modules, in the Job and in the job's pods */
	bool carried;         /* through the registry of the job's image: section->slipway */
	struct strlist words; /* after slipway-trainer; n 0 = section->command instead */
};

/* Where modules are that come from the registry, and where the Job puts programs. */
#define COMPILE_CACHE "/neff"
#define COMPILE_TOOLS "/slipway"
/* On the nodes that compile, as a taint; and the name of their pool, after the fleet's. */
#define COMPILE_LABEL "slipway/compile"

/* One target, resolved: one Karpenter pool, one job. */
struct fleet_target {
	const struct target_section *section;
	const char *name; /* "trn1" */
	const struct accelerator *accelerator;
	const char *arch;                        /* "amd64" */
	const struct instance *const *instances; /* the pool's, at least one, as listed */
	size_t n_instances;
	const struct instance *shape; /* the instance a pod is sized for: the first listed */

	const char *pool; /* names of objects: NAME-TARGET */
	const char *job;  /* NAME-TARGET too; the job's object */
	const char *zone;
	const char *capacity[3]; /* Karpenter's values, n_capacity of them */
	size_t n_capacity;
	const char *ami_alias; /* "al2023@latest", or NULL: ami.id or ami.ssm */
	bool brings_plugin;    /* the image (Bottlerocket) runs the device plugin itself */

	const char *resource; /* that pods ask for: the accelerator's, or of its shares */
	int64_t shares;       /* of each device; 1 = a pod has whole ones */

	/* What one pod of the job asks for: requests equal limits. */
	int64_t devices; /* whole node unless the spec says less */
	bool whole_node;
	int64_t efa;           /* vpc.amazonaws.com/efa; 0 = none */
	int64_t hugepages_mib; /* hugepages-2Mi; 0 unless the spec asks: see hugepages_node_mib */
	int64_t hugepages_node_mib; /* the amount that Karpenter expects on a node; 0 = nothing */
	int64_t cpu_milli, memory_mib; /* what DaemonSets leave, in the devices' share */
	int64_t shm_mib;               /* /dev/shm, part of memory_mib */
	int64_t processes;             /* ranks per pod: GPUs or NeuronCores */
	int64_t nodes;                 /* pods of the job */
	struct strlist trainer_args;   /* after the spec's, where the job is slipway-trainer's */
	struct target_compile compile;
	bool gang_needs_scheduler; /* for several but not all devices: part_scheduler */

	/* Limits of the pool. */
	int64_t limit_nodes, limit_devices, limit_cpu, limit_memory_gib;

	/* Of the root volume; 0 = gp3's own. MiB/s. */
	int64_t volume_iops, volume_throughput;
	bool parallel_pull; /* nodes fetch and unpack the layers of an image side by side */

	struct taint taints[2]; /* on nodes; pods tolerate each of them */
	size_t n_taints;
	struct taint startup_taints[2]; /* removed by the storage driver */
	size_t n_startup_taints;
};

/* When deploy gives a target up for the next one; see failover_section. */
struct fleet_failover {
	bool enabled;
	bool reclaimed; /* after a full reclaim too: checkpoints are where every target sees them */
	bool returns;   /* back to a better target once that has capacity again */
	int64_t after_ms, unschedulable_ms, boot_ms, backoff_ms;
	const char *image; /* NULL = none */
};

struct storage_driver; /* k8s/fleet/storage_driver.h */

/* The fleet's file system, whatever its driver; its own files alone look into the section. */
struct fleet_storage {
	const struct storage_section *section;
	const struct storage_driver *driver; /* NULL = no file system, and nothing below is set */
	const char *claim;                   /* PVC's name */
	const char *mount;                   /* where pods see it */
	struct srcpos mount_at;
	const char *id; /* of one that is there; NULL = the driver makes it */
	struct srcpos id_at;
	int64_t size_gib;
	struct srcpos size_at;
	const char *about;  /* "1200 GiB, SCRATCH_2": what diagrams say */
	const char *source; /* data in S3 that it shows, NULL = none */
	const char *zone;   /* that it is bound to; NULL = none, or not known */
	struct srcpos zone_at;
	enum driver_source driver_source;
	const char *driver_role;               /* IAM role's ARN of the controller, NULL = none */
	const struct prepare_section *prepare; /* how it is filled; ->set */
	const char *prepare_job;               /* the Job that fills it or gives it to its user */
};

struct pipeline;
struct scheduler;
struct admission;

struct fleet {
	const char *name; /* the spec's */
	const char *file; /* the spec's file, for comments; base name */
	const struct cluster_section *cluster;
	struct fleet_storage storage;
	const struct job_section *job;     /* job->set */
	const struct scheduler *scheduler; /* of the job: k8s/job/scheduler.h */
	const struct monitoring_section *monitoring;
	struct fleet_target *targets; /* by falling weight, then name */
	size_t n_targets;
	struct fleet_failover failover;

	const char *cluster_name, *namespace, *zone, *node_role, *discovery;
	const char *account;  /* NULL when neither the spec nor an ECR repository gives it */
	struct strlist zones; /* of the control plane, at least two */
	int minor;            /* Kubernetes 1.MINOR */
	const char *version;  /* "1.35" */
	enum karpenter_api karpenter;
	const char *karpenter_version; /* "1.14.1": what the cluster installs */
	int karpenter_minor;           /* of it, with 1.x as 100 + x; 0 = not known */
	const char *image;             /* of the job: repository:tag[@digest] */
	const char *home;              /* HOME of its pods; NULL = the image's */
	const char *queue;             /* Volcano queue */
	const char *service_account;   /* of the job */

	/* Own exporters: only where Container Insights does not bring its own. */
	bool own_exporter[ACCELERATORS];

	const struct pipeline *pipeline; /* pipeline/model.h; NULL = none */

	struct admission *admission; /* k8s/fleet/admission.h; NULL = none */

	const struct patch_section *patches; /* of rendered objects, in the spec's order */
	size_t n_patches;

	const char *compile_pool; /* of nodes that compile; NULL = the cluster's ordinary ones do */

	/* What there is somewhere in the fleet. */
	bool has_efa, has_arm64, has_amd64;
};

/* What the fleet has: which concerns there is something to render for. */
bool fleet_has_cluster(const struct fleet *fleet);
bool fleet_has_targets(const struct fleet *fleet);
bool fleet_has_storage(const struct fleet *fleet);
bool fleet_has_job(const struct fleet *fleet);        /* and targets to run it on */
bool fleet_compiles(const struct fleet *fleet);       /* for some target, ahead of its job */
bool fleet_has_monitoring(const struct fleet *fleet); /* and targets to watch */

bool fleet_has_accelerator(const struct fleet *fleet, enum accelerator_kind kind);

/*
 * Label of nodes on which the shared device plugin does not run, for something else offers their
 * devices; NULL where it may run.
 */
#define OFFER_LABEL  "slipway/devices"
#define OFFER_NODE   "node"                /* the node's image brings a plugin */
#define OFFER_CLAIMS "claims"              /* a driver for resource claims */
#define OFFER_SHARES "shares"              /* a plugin that offers each device several times */
#define SLICES_LABEL "slipway/time-slices" /* how many times */
const char *fleet_target_offer(const struct fleet *fleet, const struct fleet_target *target);

/* Its pods claim devices by DRA instead of asking for the resource. */
bool fleet_target_uses_dra(const struct fleet *fleet, const struct fleet_target *target);

#endif

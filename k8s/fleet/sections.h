/*
 * The sections cluster, fleet, storage, job and monitoring of slipway.yaml as they were written:
 * what the field tables (*_fields.c) decode into. Renderers read the resolved fleet of
 * k8s/fleet/model.h, which points here for plain values. Texts are NULL, numbers 0 where the spec
 * says nothing and there is no default. All memory lives in the spec's arena.
 */
#ifndef SLIPWAY_K8S_FLEET_SECTIONS_H
#define SLIPWAY_K8S_FLEET_SECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/doc/fields.h"
#include "base/srcpos.h"
#include "base/strlist.h"
#include "base/strmap.h"
#include "karpenter/catalogue/catalogue.h"

/* A list of texts each of which a check may complain about. */
struct placed_list {
	const char **at;
	const char **written; /* before variables: what messages show */
	struct srcpos *pos;
	size_t n;
};

/* An environment variable: a text, or where its value comes from. One of the four is there. */
struct env_variable {
	struct srcpos at;
	const char *name, *value;
	const char *secret, *config_map, *key; /* an object of the namespace, and its key */
	const char *field;                     /* of the pod: "status.podIP" */
	bool optional;                         /* without the object, there is no variable */
};

struct env_list {
	struct env_variable *at;
	size_t n;
};

/* Every key of an object as a variable; one of the two is there. */
struct env_source {
	struct srcpos at;
	const char *secret, *config_map, *prefix;
	bool optional;
};

/* What stands beside the job's own container, or runs before it. */
struct container_section {
	struct srcpos at;
	const char *name;
	struct srcpos name_at;
	const char *image; /* NULL = the job's */
	struct strlist command, args;
	struct env_list env;
	struct env_source *env_from;
	size_t n_env_from;
	int64_t cpu_milli, memory_mib; /* requests, and the limit of memory */
	struct srcpos cpu_milli_at, memory_mib_at;
};

/* A volume of the job's pods, and where they see it. One of the kinds is there. */
struct volume_mount {
	struct srcpos at;
	const char *name;
	const char *claim, *config_map, *secret; /* of the namespace */
	const char *host;                        /* a folder of the node */
	struct srcpos host_at;
	int64_t scratch_gib; /* empty, on the node's disk */
	int64_t memory_gib;  /* empty, in memory: part of the pod's */
	struct srcpos memory_gib_at;
	const char *mount, *sub_path;
	struct srcpos mount_at;
	bool read_only;
};

struct toleration {
	struct srcpos at;
	const char *key, *value; /* NULL = any */
	unsigned effect;         /* of toleration_effects; 0 = any */
	int64_t seconds;         /* of NoExecute: how long; 0 = for ever */
};

enum device_mode { DEVICES_PLUGIN, DEVICES_DRA, DEVICES_NONE, DEVICE_MODES };
enum pod_access { ACCESS_POD_IDENTITY, ACCESS_IRSA, POD_ACCESSES };

/* What EKS does when a version's standard support ends: upgrade the cluster, or bill for more. */
enum eks_support { SUPPORT_STANDARD, SUPPORT_EXTENDED, EKS_SUPPORTS };

/* The level of the Pod Security Standards that the namespace enforces; 0 = the cluster's own. */
enum pod_security {
	POD_SECURITY_DEFAULT,
	POD_SECURITY_BASELINE,
	POD_SECURITY_RESTRICTED,
	POD_SECURITIES
};

/* Room on every node for DaemonSets that slipway does not render. */
struct reserve_section {
	int64_t cpu_milli, memory_mib;
	struct srcpos cpu_milli_at, memory_mib_at;
};

struct cluster_section {
	struct srcpos at;
	bool set;
	const char *name; /* default: the spec's name */
	struct srcpos name_at;
	const char *region;
	struct srcpos region_at;
	const char *zone; /* where file system and pools are */
	struct srcpos zone_at;
	struct srcpos zones_at;
	struct placed_list zones; /* the control plane's; default: zone and a neighbour */
	const char *version;      /* "1.35" */
	struct srcpos version_at;
	enum eks_support support;
	const char *karpenter; /* "v1", "v1beta1", "v1alpha5" or a version as "1.14" */
	struct srcpos karpenter_at;
	const char *namespace; /* of jobs and claims; default: the spec's name */
	struct srcpos namespace_at;
	enum pod_security pod_security;
	struct srcpos pod_security_at;
	enum device_mode devices;
	struct srcpos devices_at;
	enum pod_access access; /* how pods get AWS roles */
	struct srcpos access_at;
	const char *account; /* 12 digits; default: of an ECR image.repository */
	struct srcpos account_at;
	const char *role;         /* of nodes; default KarpenterNodeRole-CLUSTER */
	const char *discovery;    /* karpenter.sh/discovery tag; default: the cluster's name */
	struct strmap subnets;    /* tags besides it that the nodes' subnets have */
	struct srcpos subnets_at; /* no file = default: those of private subnets */
	struct reserve_section reserve;
	struct strmap tags; /* on every AWS resource */
	struct srcpos tags_at;
	struct strmap labels, annotations; /* on every object */
	struct srcpos labels_at, annotations_at;
};

enum { CAPACITY_SPOT = 1, CAPACITY_ON_DEMAND = 2, CAPACITY_RESERVED = 4 };

/* AUTO: in parallel, where the nodes' machine image is known to be able to. */
enum pull_mode { PULL_AUTO, PULL_PARALLEL, PULL_SERIAL, PULL_MODES };

struct volume_section {
	int64_t size_gib; /* root volume, default 200 */
	struct srcpos size_gib_at;
	int64_t iops, throughput; /* gp3: 3000..80000, 125..2000; 0 = AWS's default */
	struct srcpos iops_at, throughput_at;
	const char *kms_key; /* NULL = the account's default key; always encrypted */
	struct srcpos kms_key_at;
};

struct reservation_section {
	struct srcpos at;
	struct strlist ids; /* cr-... */
	struct strmap tags;
	const char *owner; /* account */
	bool set;
};

struct ami_section {
	const char *alias; /* "al2023@v20261101", "bottlerocket@latest"; default al2023@latest */
	const char *id;    /* ami-... */
	const char *ssm;   /* an SSM parameter's name */
	struct srcpos at;
	bool set;
};

struct limits_section {
	int64_t nodes, devices, cpu; /* 0 = default: what the job needs, see model.h */
	int64_t memory_gib;
	struct srcpos at, nodes_at, devices_at, cpu_at, memory_gib_at;
	bool set;
};

/* Who compiles what the devices run, ahead of the job. */
struct compiler_section {
	struct srcpos at;
	bool set;
	const char *image; /* has the compiler */
	struct srcpos image_at;
	bool compiled;       /* elsewhere: only looked for */
	const char *slipway; /* image with slipway, which carries modules through the registry */
	struct srcpos slipway_at;
	struct strlist command;        /* in place of the trainer's own */
	int64_t cpu_milli, memory_mib; /* of the compiler */
	struct srcpos cpu_milli_at, memory_mib_at;
};

struct target_section {
	struct srcpos at;
	int64_t weight; /* 1..100 */
	struct srcpos weight_at;
	const char *reason;           /* why two weights are equal; NULL = none */
	struct placed_list instances; /* empty = every size of the family */
	struct srcpos instances_at;
	unsigned capacity; /* CAPACITY_* bits */
	struct srcpos capacity_at;
	struct reservation_section reservation;
	const char *zone; /* default cluster.zone */
	struct srcpos zone_at;
	int64_t devices; /* per pod; 0 = all of the first instance */
	struct srcpos devices_at;
	int64_t time_slices; /* pods that share a device in turns; 0 = none share */
	struct srcpos time_slices_at;
	const char *mig; /* profile of the parts of a device, "3g.20gb"; NULL = whole devices */
	struct srcpos mig_at;
	int64_t efa; /* per pod; EFA_AUTO, EFA_ALL, 0 = off */
	struct srcpos efa_at;
	bool has_efa;  /* efa was written */
	int64_t nodes; /* pods of the job; 0 = job.nodes */
	struct srcpos nodes_at;
	struct limits_section limits;
	struct volume_section volume;
	struct ami_section ami;
	enum pull_mode pull; /* how nodes fetch images */
	struct srcpos pull_at;
	bool hugepages; /* ask for huge pages beside EFA */
	struct srcpos hugepages_at;
	const char *placement_group;
	struct srcpos placement_group_at;
	const char *expire_after;      /* "720h", "Never" (default) */
	const char *consolidate_after; /* "5m" (default) */
	bool taint; /* default true: only pods that ask for the accelerator land there */
	struct strmap labels, annotations; /* on nodes */
	struct srcpos labels_at, annotations_at;
	struct env_list env; /* added to the job's on this target */
	struct strlist args; /* added after job.args on this target */
	struct compiler_section compiler;
};

enum { EFA_AUTO = -1, EFA_ALL = -2 };

/* When deploy gives a target up for the next one. */
struct failover_section {
	bool enabled;              /* default true */
	bool reclaimed;            /* move a job that lost all its nodes, too */
	bool has_reclaimed;        /* the spec says it; default: there is storage */
	const char *after;         /* "3m": lack of capacity was reported for this long */
	const char *unschedulable; /* "10m": pods had no node for this long */
	const char *boot;          /* "20m": nodes that come are not ready, pods do not start */
	const char *backoff;       /* "1m": first pause of --keep-trying */
	const char *image;         /* slipway and kubectl, for deploy --in-cluster; NULL = none */
	struct srcpos image_at;
};

struct fleet_section {
	struct srcpos at;
	bool set;
	struct failover_section failover;
	bool has[FLEET_TARGETS]; /* by enum fleet_target_id */
	struct target_section target[FLEET_TARGETS];
};

/* Where a CSI driver comes from: rendered here, the managed add-on, or it exists already. */
enum driver_source { DRIVER_MANIFESTS, DRIVER_ADDON, DRIVER_NONE, DRIVER_SOURCES };

struct prepare_section {
	bool set;
	struct srcpos at;
	const char *from;  /* s3://bucket/prefix; default: storage.fsx.import */
	const char *image; /* default: the job's image runs `slipway-trainer prepare` */
	struct strlist command, args;
	const char *service_account_role; /* IAM role's ARN for reading S3 */
	struct srcpos service_account_role_at;
};

struct fsx_section {
	struct srcpos at;
	bool set;
	int64_t size_gib;
	struct srcpos size_gib_at;
	const char *deployment; /* SCRATCH_1 | SCRATCH_2 | PERSISTENT_1 | PERSISTENT_2 */
	struct srcpos deployment_at;
	int64_t throughput; /* MB/s/TiB; 0 = none */
	struct srcpos throughput_at;
	const char *storage_type; /* SSD | HDD */
	struct srcpos storage_type_at;
	const char *drive_cache; /* NONE | READ, HDD only */
	struct srcpos drive_cache_at;
	const char *compression;     /* NONE | LZ4 (default) */
	const char *import, *export; /* s3://... */
	struct srcpos import_at, export_at;
	const char *auto_import; /* NONE | NEW | NEW_CHANGED | NEW_CHANGED_DELETED */
	struct srcpos auto_import_at;
	const char *subnet; /* subnet-...; needed to create a file system */
	struct placed_list security_groups;
	struct srcpos subnet_at, security_groups_at;
	const char *zone; /* of the subnet; default cluster.zone */
	struct srcpos zone_at;
	const char *kms_key;
	struct srcpos kms_key_at;
	int64_t backup_days;
	struct srcpos backup_days_at;
	const char *version; /* Lustre: 2.15 */
	struct srcpos version_at;
	const char *metadata; /* AUTOMATIC | USER_PROVISIONED */
	struct srcpos metadata_at;
	int64_t metadata_iops;
	struct srcpos metadata_iops_at;
	bool efa;
	struct srcpos efa_at;
	const char *id; /* fs-...: an existing file system (static volume) */
	struct srcpos id_at;
	const char *dns;        /* default ID.fsx.REGION.amazonaws.com */
	const char *mount_name; /* Lustre mount name of the existing file system */
	struct srcpos mount_name_at;
	const char *mount; /* path in pods: /data */
	struct srcpos mount_at;
	struct strlist mount_options; /* default [flock] */
	const char *reclaim;          /* Retain (default) | Delete */
	enum driver_source driver;
	const char *driver_role; /* IAM role's ARN of the controller (irsa) */
	struct srcpos driver_role_at;
	struct strmap tags;
	struct srcpos tags_at;
	struct prepare_section prepare;
};

struct storage_section {
	struct srcpos at;
	bool set;
	struct fsx_section fsx;
};

struct nettest_section {
	bool set;
	struct srcpos at;
	int64_t nodes; /* default 2 */
	struct srcpos nodes_at;
	const char *image;  /* default public.ecr.aws/hpc-cloud/nccl-tests:latest */
	int64_t floor_gbps; /* GB/s at the largest size; 0 = by instance */
};

struct job_section {
	struct srcpos at;
	bool set;
	int64_t nodes; /* pods, default 1 */
	struct srcpos nodes_at;
	unsigned scheduler; /* row of schedulers[]: k8s/job/scheduler.h */
	struct srcpos scheduler_at;
	const char *queue; /* Volcano queue, default "default" ... */
	struct srcpos queue_at;
	bool create_queue;     /* render the queue too, or take it as there */
	bool has_create_queue; /* the spec says which */
	const char *image;     /* default: image.repository:image.tags[0] */
	struct srcpos image_at;
	const char *digest; /* sha256:... pins the image */
	struct strlist command, args;
	struct env_list env;
	struct env_source *env_from;
	size_t n_env_from;
	struct srcpos env_from_at;
	struct strlist pull_secrets;
	struct volume_mount *volumes;
	size_t n_volumes;
	struct container_section *init, *sidecars;
	size_t n_init, n_sidecars;
	struct srcpos sidecars_at;
	struct toleration *tolerations;
	size_t n_tolerations;
	const char *root, *writable_root; /* why; NULL = no */
	struct srcpos root_at, writable_root_at;
	const char *home;      /* HOME; NULL = see resolve_job */
	bool returns;          /* to a better target once that has capacity again */
	int64_t retries;       /* restarts of the whole job, default 3 */
	int64_t grace_seconds; /* SIGTERM to SIGKILL, default 120: the trainer's checkpoint */
	int64_t shm_gib;       /* /dev/shm; 0 = a quarter of the pod's memory */
	struct srcpos shm_gib_at;
	int64_t ttl_seconds;         /* kept after the end, default 86400 */
	int64_t deadline_seconds;    /* 0 = none */
	const char *service_account; /* default: the spec's name */
	struct srcpos service_account_at;
	const char *role; /* IAM role's ARN for the job's service account; NULL = none */
	struct srcpos role_at;
	const char *priority_class;
	int64_t user, group;  /* default 65532 */
	int64_t metrics_port; /* the trainer's Prometheus endpoint, default 9090 */
	struct srcpos metrics_port_at;
	struct strmap labels, annotations; /* on pods */
	struct srcpos labels_at, annotations_at;
	struct nettest_section network_test;
};

struct alarms_section {
	bool set;
	struct srcpos at;
	const char *topic; /* SNS topic's ARN */
	struct srcpos topic_at;
	int64_t idle_percent; /* utilisation below this is idle, default 5 */
	int64_t idle_minutes; /* default 30 */
};

enum insights_mode { INSIGHTS_ADDON, INSIGHTS_MANIFESTS, INSIGHTS_MODES };

struct monitoring_section {
	struct srcpos at;
	bool set;
	bool container_insights;
	struct srcpos container_insights_at;
	enum insights_mode insights;
	bool exporter[ACCELERATORS]; /* of the devices' metrics */
	struct srcpos exporter_at[ACCELERATORS];
	bool trainer; /* a Service with scrape annotations for the trainer's metrics */
	struct alarms_section alarms;
};

/* One operation of JSON Patch on rendered objects; see base/doc/json_patch.h. */
struct patch_step {
	struct srcpos at;
	unsigned op; /* enum json_op */
	const char *path, *from;
	struct srcpos path_at, from_at;
	const char *value; /* JSON text */
};

/* A change to the rendered objects of a kind and a name; one of merge and json is there. */
struct patch_section {
	struct srcpos at;
	const char *kind, *name; /* `*` in the name stands for any letters */
	struct srcpos kind_at, name_at;
	const char *api_version; /* NULL = any */
	const char *merge;       /* JSON text of an object */
	struct srcpos merge_at;
	struct patch_step *json;
	size_t n_json;
};

struct fleet_sections {
	struct cluster_section cluster;
	struct fleet_section fleet;
	struct storage_section storage;
	struct job_section job;
	struct monitoring_section monitoring;
	struct patch_section *patches;
	size_t n_patches;
};

/* The other sections' tables stand with their concerns: cluster, storage, job, monitoring. */
extern const struct field_table fleet_fields;
extern const struct field_table compiler_fields;

#endif

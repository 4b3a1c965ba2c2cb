/*
 * Workloads and their rights: what DaemonSets, Deployments and roles of the fleet have in common.
 * On top of k8s/object/object.h; nothing here fails. For renderers only.
 */
#ifndef SLIPWAY_K8S_OBJECT_WORKLOAD_H
#define SLIPWAY_K8S_OBJECT_WORKLOAD_H

#include "k8s/object/object.h"

#define PRIORITY_NODE    "system-node-critical"
#define PRIORITY_CLUSTER "system-cluster-critical"

/* A workload under construction: its pod's spec and first container. */
struct workload {
	cJSON *object, *spec; /* the DaemonSet or Deployment */
	cJSON *pod_metadata;
	cJSON *pod;                           /* the pod's spec */
	cJSON *container;                     /* the first one: name and image are set */
	cJSON *env, *args, *mounts, *volumes; /* NULL until first used: see the adders below */
};

struct workload_opts {
	const char *namespace, *name;
	const char *account;   /* service account; NULL = default, and no token is mounted */
	const char *container; /* name of the first container; NULL = the workload's */
	const char *image;
	const char *priority; /* NULL = none */
	int64_t replicas;     /* of a Deployment */
};

/*
 * A DaemonSet that is rolled out ten percent at a time, or a Deployment. The selector is the two
 * labels of k8s_selector, the pod's labels are those of k8s_labels.
 */
void k8s_daemonset(struct k8s_output *out, const struct workload_opts *opts, struct workload *w);
void k8s_deployment(struct k8s_output *out, const struct workload_opts *opts, struct workload *w);

/* Adders to the first container and its pod. `type` is hostPath's, NULL = unchecked. */
void workload_env(struct workload *w, const char *name, const char *value);
void workload_env_field(struct workload *w, const char *name, const char *field_path);
void workload_arg(struct workload *w, const char *arg);
void workload_port(struct workload *w, const char *name, int64_t port);
void workload_host_path(struct workload *w, const char *volume, const char *path, const char *type);
void workload_host_read(struct workload *w, const char *volume, const char *path,
                        const char *mount); /* read-only */
void workload_config_map(struct workload *w, const char *volume, const char *config_map,
                         const char *mount);

/* GET path at a named port, every ten seconds. */
void workload_liveness(struct workload *w, const char *path, const char *port);

/* Tolerates every taint there is, now and later: drivers that every node needs. */
void workload_tolerate_all(struct workload *w);

/* Another mount of a volume; of any container. */
void k8s_mount(cJSON *mounts, const char *volume, const char *path, bool read_only);

/* allowPrivilegeEscalation false, all capabilities dropped; root stays: the kubelet's sockets are
 * root's. */
void k8s_drop_all(cJSON *container);
void k8s_privileged(cJSON *container);

/* requests {cpu, memory} and limits {memory} of a part that runs on the system nodes. */
void k8s_small_resources(cJSON *container, const char *cpu, const char *memory);

/* Architecture of the system nodes, where operators, launchers and preparation run: amd64 unless
 * the whole fleet is arm64, so that the job's image always has a platform for them. */
const char *k8s_system_arch(const struct fleet *fleet);

/* ---- rights ---- */

/* Comma-separated lists; "" in groups is the core group. */
struct rbac_rule {
	const char *groups, *resources, *verbs;
};

cJSON *k8s_service_account(struct k8s_output *out, const char *namespace, const char *name);
void k8s_cluster_role(struct k8s_output *out, const char *name, const struct rbac_rule *rules,
                      size_t n);
void k8s_role(struct k8s_output *out, const char *namespace, const char *name,
              const struct rbac_rule *rules, size_t n);

/* Gives a ClusterRole to a service account. */
void k8s_bind(struct k8s_output *out, const char *name, const char *cluster_role,
              const char *namespace, const char *account);
/* Gives a Role of `namespace` to a service account of `account_namespace`. */
struct role_binding {
	const char *namespace, *name, *role, *account_namespace, *account;
};
void k8s_bind_role(struct k8s_output *out, const struct role_binding *b);

/* A ClusterIP Service for the pods of `name`, of the same name. */
cJSON *k8s_service(struct k8s_output *out, const char *namespace, const char *name,
                   const char *port_name, int64_t port);

/* A ConfigMap with one text. */
void k8s_config_map(struct k8s_output *out, const char *namespace, const char *name,
                    const char *key, const char *text);

#endif

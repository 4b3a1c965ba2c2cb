/*
 * Building Kubernetes objects: a cJSON tree per object, gathered per file and folder by an
 * `output`. Renderers add objects and members; nothing here fails and nothing is written to disk
 * (k8s/object/emit.h does that).
 *
 *   k8s_file(out, "nvidia.yaml", "The NVIDIA device plugin.");
 *   cJSON *ds = k8s_add(out, "apps/v1", "DaemonSet", "kube-system", "nvidia-device-plugin");
 *   cJSON *spec = json_add_object(ds, "spec");
 *   json_add_int(spec, "minReadySeconds", 5);
 *   k8s_note(out, spec, "minReadySeconds", fleet->job->nodes_at);
 *
 * Thread rule: one output belongs to one thread.
 */
#ifndef SLIPWAY_K8S_OBJECT_OBJECT_H
#define SLIPWAY_K8S_OBJECT_OBJECT_H

#include "base/arena.h"
#include "base/doc/json.h"
#include "k8s/fleet/model.h"

/* A remark on one member: which line of the spec made it. */
struct k8s_note {
	const cJSON *item;
	const char *text;
};

struct k8s_document {
	cJSON *doc;   /* owned by the output */
	bool foreign; /* not for kubectl: eksctl, CloudFormation; kept out of streams and
	                 kustomizations */
};

struct k8s_renderer;

struct k8s_output_file {
	const struct k8s_renderer *renderer; /* whose file it is */
	const char *folder;                  /* "10-karpenter" */
	const char *name;                    /* "trn1.yaml" */
	const char *about;                   /* leading comment, one or more lines; NULL = none */
	const char *
		choice; /* of one target: it is applied when it is that one's turn; NULL = always */
	const char
		*part; /* what of the cluster its objects are: see k8s_share; NULL = the fleet's */
	struct k8s_document *at;
	size_t n, cap;
};

struct k8s_output {
	const struct fleet *fleet;
	struct arena arena;
	struct k8s_output_file *files;
	size_t n, cap;
	struct k8s_note *notes;
	size_t n_notes, cap_notes;
	const struct k8s_renderer *renderer; /* at work */
	const char *folder;                  /* its folder */
	bool partial;                        /* not every concern was asked for */
};

void k8s_output_done(struct k8s_output *out); /* for AUTO(k8s_output) */

/* ---- for renderers ---- */

/* The following objects go to this file of the renderer's folder; `about` is its leading comment.
 */
void k8s_file(struct k8s_output *out, const char *name, const char *about);

/* The file just begun is of one target, and stands beside those of others as a choice: a stream and
 * a kustomization hold one of them, for all of them at once would all start. */
void k8s_choice(struct k8s_output *out, const char *target);

/*
 * The objects of the file just begun are the cluster's and not the fleet's: one installation,
 * called `part`, that all fleets of a cluster use together. They are labelled for SHARED_OWNER, and
 * each fleet that uses them has an annotation of its own (k8s/object/shared.h). What they hold must
 * not depend on the fleet, so cluster.labels and .annotations are left out.
 */
void k8s_share(struct k8s_output *out, const char *part);

/*
 * A new object with apiVersion, kind and metadata {name, namespace, labels, annotations}: the
 * common labels (app.kubernetes.io/name, instance, component, part-of, managed-by, and
 * slipway/owner) and cluster.labels / .annotations. namespace NULL = cluster-scoped. Returns the
 * object.
 */
cJSON *k8s_add(struct k8s_output *out, const char *api_version, const char *kind,
               const char *namespace, const char *name);

/* A document that is not for kubectl (eksctl, CloudFormation): no metadata, no labels. */
cJSON *k8s_add_foreign(struct k8s_output *out);

/* A remark at member `key` of object: "slipway.yaml:12 fleet.trn1.weight" is made of pos and path;
 * nothing when pos.file is NULL (a default). In YAML it stands behind the value. */
void k8s_note(struct k8s_output *out, const cJSON *object, const char *key, struct srcpos pos,
              const char *path);

/* Where a value comes from: "slipway.yaml:12 fleet.trn1", or "--set fleet.trn1" as it was given.
 * pos has a file. */
const char *k8s_origin(struct k8s_output *out, struct srcpos pos, const char *path);

/* The common labels of a thing called `name`, added to `labels` (pod templates). */
void k8s_labels(const struct k8s_output *out, cJSON *labels, const char *name);

/* The two labels that select exactly the pods of `name` in this fleet, or of the cluster's one in a
 * shared file: app.kubernetes.io/name and app.kubernetes.io/instance; the pod template's k8s_labels
 * hold both. */
void k8s_selector(const struct k8s_output *out, cJSON *match_labels, const char *name);

/* ---- pieces that many objects share ---- */

/* {"key": value} adders with a printf'd value. */
void k8s_addf(cJSON *object, const char *key, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* A string under key, in place of the one that may be there: no object has a key twice. */
void k8s_put_string(cJSON *object, const char *key, const char *value);

/* Puts every pair of the map: the spec's own takes the place of ours. */
void k8s_add_map(cJSON *object, const struct strmap *map);

/* metadata.annotations of an object that has metadata. */
void k8s_annotate(cJSON *object, const char *key, const char *value);

/* The annotations by which Prometheus' scrapers find /metrics at a port of the object. */
void k8s_scrape(struct k8s_output *out, cJSON *object, int64_t port);

/* An array of strings under key. */
cJSON *k8s_add_strings(cJSON *object, const char *key, const char *const *at, size_t n);

/* env entries {name, value}; {name, valueFrom.fieldRef.fieldPath}. */
void k8s_env(cJSON *env, const char *name, const char *value);
void k8s_env_field(cJSON *env, const char *name, const char *field_path);

/* A new object pushed to an array. */
cJSON *k8s_push_object(cJSON *array);

/* tolerations for every taint of the target's nodes; its startup taints are none of a pod's. */
void k8s_tolerate_target(cJSON *tolerations, const struct fleet_target *target);

/* "karpenter.sh/nodepool", or "karpenter.sh/provisioner-name" with the legacy API; likewise the
 * annotation that keeps a pod's node. */
const char *k8s_pool_label(const struct fleet *fleet);
const char *k8s_do_not_disrupt(const struct fleet *fleet);

/* requests of a DaemonSet's container, and limits.memory (equal, unless its row says more): of an
 * accelerator's row or of the table in k8s/fleet/overhead.c. */
void k8s_daemon_resources(cJSON *container, const struct node_daemon *daemon);
void k8s_overhead_resources(cJSON *container, const char *overhead);

/* "runAsNonRoot: true, allowPrivilegeEscalation: false, drop ALL, read-only root" for a container.
 */
void k8s_restricted(cJSON *container);

#endif

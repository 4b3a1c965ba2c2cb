/*
 * Pieces that many objects share: tolerations, affinity to pools, requests, security contexts.
 */
#include <string.h>

#include "base/attr.h"
#include "k8s/fleet/overhead.h"
#include "k8s/object/object.h"

const char *k8s_pool_label(const struct fleet *fleet)
{
	return fleet->karpenter == KARPENTER_V1ALPHA5 ? "karpenter.sh/provisioner-name"
	                                              : "karpenter.sh/nodepool";
}

const char *k8s_do_not_disrupt(const struct fleet *fleet)
{
	return fleet->karpenter == KARPENTER_V1ALPHA5 ? "karpenter.sh/do-not-evict"
	                                              : "karpenter.sh/do-not-disrupt";
}

void k8s_annotate(cJSON *object, const char *key, const char *value)
{
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(object, "metadata");
	cJSON *annotations = cJSON_GetObjectItemCaseSensitive(metadata, "annotations");

	if (annotations == NULL)
		annotations = json_add_object(metadata, "annotations");
	k8s_put_string(annotations, key, value);
}

static void tolerate(cJSON *tolerations, const char *key, const char *effect)
{
	cJSON *toleration = k8s_push_object(tolerations);

	json_add_string(toleration, "key", key);
	json_add_string(toleration, "operator", "Exists");
	json_add_string(toleration, "effect", effect);
}

void k8s_tolerate_target(cJSON *tolerations, const struct fleet_target *target)
{
	for (size_t i = 0; i < target->n_taints; i++)
		tolerate(tolerations, target->taints[i].key, target->taints[i].effect);
}

void k8s_daemon_resources(cJSON *container, const struct node_daemon *daemon)
{
	cJSON *resources = json_add_object(container, "resources");
	cJSON *requests = json_add_object(resources, "requests");

	k8s_addf(requests, "cpu", "%lldm", (long long)daemon->cpu_milli);
	k8s_addf(requests, "memory", "%lldMi", (long long)daemon->memory_mib);
	k8s_addf(json_add_object(resources, "limits"), "memory", "%lldMi",
	         (long long)(daemon->limit_mib > 0 ? daemon->limit_mib : daemon->memory_mib));
}

void k8s_overhead_resources(cJSON *container, const char *overhead)
{
	const struct overhead *row = overhead_find(overhead);
	struct node_daemon daemon = {row->name, row->cpu_milli, row->memory_mib, row->limit_mib};

	k8s_daemon_resources(container, &daemon);
}

void k8s_restricted(cJSON *container)
{
	cJSON *context = json_add_object(container, "securityContext");

	json_add_bool(context, "allowPrivilegeEscalation", false);
	json_add_bool(context, "readOnlyRootFilesystem", true);
	json_push_string(json_add_array(json_add_object(context, "capabilities"), "drop"), "ALL");
}

void k8s_scrape(struct k8s_output *out, cJSON *object, int64_t port)
{
	k8s_annotate(object, "prometheus.io/scrape", "true");
	k8s_annotate(object, "prometheus.io/path", "/metrics");
	k8s_annotate(object, "prometheus.io/port",
	             arena_printf(&out->arena, "%lld", (long long)port));
}

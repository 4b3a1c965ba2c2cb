#include "k8s/devices/nodes.h"

#include "base/attr.h"

static cJSON *add_expression(cJSON *expressions, const char *key, const char *operator)
{
	cJSON *expression = k8s_push_object(expressions);

	json_add_string(expression, "key", key);
	json_add_string(expression, "operator", operator);
	return json_add_array(expression, "values");
}

static void add_affinity(cJSON *pod, const struct device_nodes *nodes)
{
	cJSON *affinity = json_add_object(json_add_object(pod, "affinity"), "nodeAffinity");
	cJSON *required =
		json_add_object(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
	cJSON *term = k8s_push_object(json_add_array(required, "nodeSelectorTerms"));
	cJSON *expressions = json_add_array(term, "matchExpressions");
	cJSON *owned = k8s_push_object(expressions);

	/* Nodes that some fleet's pools made: those of others have plugins of their own. */
	json_add_string(owned, "key", "slipway/owner");
	json_add_string(owned, "operator", "Exists");
	cJSON *types = add_expression(expressions, "node.kubernetes.io/instance-type", "In");

	for (size_t i = 0; i < n_instances; i++)
		if (nodes->wanted(&instances[i]))
			json_push_string(types, instances[i].type);
	if (nodes->offer == NULL)
		return;
	cJSON *offers = add_expression(expressions, OFFER_LABEL, nodes->offer);

	for (size_t i = 0; i < ARRAY_LEN(nodes->offers) && nodes->offers[i] != NULL; i++)
		json_push_string(offers, nodes->offers[i]);
}

/* Has some wanted type this accelerator? */
static bool has_accelerator(const struct device_nodes *nodes, size_t kind)
{
	for (size_t i = 0; i < n_instances; i++)
		if (nodes->wanted(&instances[i]) && instances[i].accelerator->kind == kind)
			return true;
	return false;
}

void workload_on_devices(struct workload *w, const struct device_nodes *nodes)
{
	cJSON *tolerations = json_add_array(w->pod, "tolerations");

	add_affinity(w->pod, nodes);
	for (size_t i = 0; i < ACCELERATORS; i++) {
		if (!has_accelerator(nodes, i))
			continue;
		cJSON *toleration = k8s_push_object(tolerations);

		json_add_string(toleration, "key", accelerators[i].resource);
		json_add_string(toleration, "operator", "Exists");
		json_add_string(toleration, "effect", "NoSchedule");
	}
}

/*
 * What Volcano needs beside its own installation.
 *
 * Its stock configuration holds a job back ("enqueue") until the cluster has the resources
 * that it asks for. With pools that start at zero nodes that moment never comes: no pod is made, so
 * Karpenter sees nothing to make a node for. Without that action the pods are made at once, wait
 * unscheduled, and nodes come. The plugins `overcommit` and `proportion` are left out for the same
 * reason: both reckon with the devices that are there now.
 */
#include "base/attr.h"
#include "k8s/job/scheduler.h"
#include "k8s/object/emit.h"
#include "k8s/object/object.h"

#define VOLCANO_NAMESPACE "volcano-system"

static void add_tier(cJSON *tiers, const char *const *plugins, size_t n)
{
	cJSON *array = json_add_array(k8s_push_object(tiers), "plugins");

	for (size_t i = 0; i < n; i++)
		json_add_string(k8s_push_object(array), "name", plugins[i]);
}

static void render_configuration(struct k8s_output *out)
{
	static const char *const first[] = {"priority", "gang", "conformance"};
	static const char *const second[] = {"drf", "predicates", "nodeorder", "binpack"};
	AUTO(json) cJSON *config = cJSON_CreateObject();
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 16);

	json_add_string(config, "actions", "allocate, backfill");
	cJSON *tiers = json_add_array(config, "tiers");

	add_tier(tiers, first, ARRAY_LEN(first));
	add_tier(tiers, second, ARRAY_LEN(second));
	k8s_yaml(config, NULL, 0, &text);
	k8s_file(
		out, "volcano.yaml",
		"A patch of Volcano's scheduler: without the action `enqueue`, which keeps a job\n"
		"without pods until there are nodes, and so keeps Karpenter from making them. The\n"
		"configuration is that of whoever installed Volcano; deploy reads it and says "
		"what\n"
		"must change. The stock one, where nothing else was changed in it:\n"
		"  kubectl patch configmap -n " VOLCANO_NAMESPACE " " VOLCANO_CONFIG
		" --patch-file volcano.yaml");
	json_add_string(json_add_object(k8s_add_foreign(out), "data"), "volcano-scheduler.conf",
	                strbuf_str(&text));
}

static void render_queue(const struct fleet *fleet, struct k8s_output *out)
{
	k8s_file(out, "queue.yaml",
	         "The job's queue. What it may use at most are the limits of the pools.");
	k8s_share(out, arena_printf(&out->arena, "queue-%s", fleet->queue));
	cJSON *queue = k8s_add(out, "scheduling.volcano.sh/v1beta1", "Queue", NULL, fleet->queue);
	cJSON *spec = json_add_object(queue, "spec");

	json_add_int(spec, "weight", 1);
	json_add_bool(spec, "reclaimable", true);
}

void render_volcano_setup(const struct fleet *fleet, struct k8s_output *out)
{
	render_configuration(out);
	if (fleet->job->create_queue)
		render_queue(fleet, out);
}

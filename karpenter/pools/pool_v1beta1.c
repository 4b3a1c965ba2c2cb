#include <string.h>

#include "karpenter/pools/pools.h"
#include "karpenter/pools/pull.h"

static void node_class(const struct fleet *fleet, const struct fleet_target *t,
                       struct k8s_output *out)
{
	const struct ami_section *ami = &t->section->ami;
	cJSON *doc = k8s_add(out, "karpenter.k8s.aws/v1beta1", "EC2NodeClass", NULL, t->pool);
	cJSON *spec = json_add_object(doc, "spec");

	json_add_string(spec, "amiFamily", pool_ami_family(t));
	k8s_note(out, spec, "amiFamily", ami->at, pool_path(t, "ami", out));
	if (t->ami_alias == NULL)
		json_add_string(k8s_push_object(json_add_array(spec, "amiSelectorTerms")), "id",
		                ami->id);
	json_add_string(spec, "role", fleet->node_role);
	pool_network(spec, fleet, out);
	pool_volumes(spec, t, out);
	pool_user_data(spec, t, out);
	if (t->shape->nvme_gb > 0 && fleet->karpenter_minor >= KARPENTER_BUDGETS)
		json_add_string(spec, "instanceStorePolicy", "RAID0");
	pool_metadata_options(spec);
	pool_tags(spec, fleet, t, out);
}

static void template(const struct fleet *fleet, const struct fleet_target *t, cJSON *spec,
                     struct k8s_output *out)
{
	cJSON *template = json_add_object(spec, "template");
	cJSON *metadata = json_add_object(template, "metadata");

	pool_node_labels(json_add_object(metadata, "labels"), fleet, t);
	if (t->section->annotations.n > 0)
		k8s_add_map(json_add_object(metadata, "annotations"), &t->section->annotations);
	cJSON *node = json_add_object(template, "spec");
	cJSON *ref = json_add_object(node, "nodeClassRef");

	json_add_string(ref, "apiVersion", "karpenter.k8s.aws/v1beta1");
	json_add_string(ref, "kind", "EC2NodeClass");
	json_add_string(ref, "name", t->pool);
	pool_requirements(node, t, out);
	pool_taints(node, t);
}

void pool_v1beta1(const struct fleet *fleet, const struct fleet_target *t, struct k8s_output *out)
{
	node_class(fleet, t, out);
	cJSON *doc = k8s_add(out, "karpenter.sh/v1beta1", "NodePool", NULL, t->pool);
	cJSON *spec = json_add_object(doc, "spec");

	json_add_int(spec, "weight", t->section->weight);
	k8s_note(out, spec, "weight", t->section->weight_at, pool_path(t, "weight", out));
	template(fleet, t, spec, out);
	cJSON *disruption = json_add_object(spec, "disruption");

	json_add_string(disruption, "consolidationPolicy", "WhenEmpty");
	json_add_string(disruption, "consolidateAfter", t->section->consolidate_after);
	json_add_string(disruption, "expireAfter", t->section->expire_after);
	if (fleet->karpenter_minor >= KARPENTER_BUDGETS)
		json_add_string(k8s_push_object(json_add_array(disruption, "budgets")), "nodes",
		                "10%");
	pool_limits(json_add_object(spec, "limits"), t, false, out);
}

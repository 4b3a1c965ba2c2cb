#include <string.h>

#include "karpenter/pools/pools.h"

static void ami_terms(cJSON *spec, const struct fleet_target *t, struct k8s_output *out)
{
	const struct ami_section *ami = &t->section->ami;
	cJSON *term;

	if (t->ami_alias == NULL)
		json_add_string(spec, "amiFamily", pool_ami_family(t));
	term = k8s_push_object(json_add_array(spec, "amiSelectorTerms"));
	json_add_string(term, "alias", t->ami_alias);
	json_add_string(term, "id", t->ami_alias == NULL ? ami->id : NULL);
	json_add_string(term, "ssmParameter", t->ami_alias == NULL ? ami->ssm : NULL);
	if (ami->set)
		k8s_note(out, spec, "amiSelectorTerms", ami->at, pool_path(t, "ami", out));
}

static void reservations(cJSON *spec, const struct fleet_target *t, struct k8s_output *out)
{
	const struct reservation_section *r = &t->section->reservation;

	if (!r->set)
		return;
	cJSON *terms = json_add_array(spec, "capacityReservationSelectorTerms");

	for (size_t i = 0; i < r->ids.n; i++)
		json_add_string(k8s_push_object(terms), "id", r->ids.at[i]);
	if (r->tags.n > 0) {
		cJSON *term = k8s_push_object(terms);

		k8s_add_map(json_add_object(term, "tags"), &r->tags);
		json_add_string(term, "ownerID", r->owner);
	}
	k8s_note(out, spec, "capacityReservationSelectorTerms", r->at,
	         pool_path(t, "reservation", out));
}

static void node_class(const struct fleet *fleet, const struct fleet_target *t,
                       struct k8s_output *out)
{
	const struct target_section *s = t->section;
	cJSON *doc = k8s_add(out, "karpenter.k8s.aws/v1", "EC2NodeClass", NULL, t->pool);
	cJSON *spec = json_add_object(doc, "spec");

	ami_terms(spec, t, out);
	json_add_string(spec, "role", fleet->node_role);
	pool_network(spec, fleet, out);
	reservations(spec, t, out);
	if (s->placement_group != NULL) {
		json_add_string(json_add_object(spec, "placementGroupSelector"), "name",
		                s->placement_group);
		k8s_note(out, spec, "placementGroupSelector", s->placement_group_at,
		         pool_path(t, "placement_group", out));
	}
	pool_volumes(spec, t, out);
	if (t->shape->nvme_gb > 0)
		json_add_string(spec, "instanceStorePolicy", "RAID0");
	pool_metadata_options(spec);
	json_add_bool(spec, "detailedMonitoring", false);
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

	json_add_string(ref, "group", "karpenter.k8s.aws");
	json_add_string(ref, "kind", "EC2NodeClass");
	json_add_string(ref, "name", t->pool);
	pool_requirements(node, t, out);
	pool_taints(node, t);
	json_add_string(node, "expireAfter", t->section->expire_after);
}

/* Karpenter knows no huge pages of itself; the machine image sets them aside on types with EFA. */
static void overlay(const struct fleet_target *t, struct k8s_output *out)
{
	cJSON *doc = k8s_add(out, "karpenter.sh/v1alpha1", "NodeOverlay", NULL, t->pool);
	cJSON *spec = json_add_object(doc, "spec");
	cJSON *requirement = k8s_push_object(json_add_array(spec, "requirements"));

	json_add_string(requirement, "key", "node.kubernetes.io/instance-type");
	json_add_string(requirement, "operator", "In");
	cJSON *values = json_add_array(requirement, "values");

	for (size_t i = 0; i < t->n_instances; i++)
		if (t->instances[i]->efa > 0)
			json_push_string(values, t->instances[i]->type);
	k8s_addf(json_add_object(spec, "capacity"), "hugepages-2Mi", "%lldMi",
	         (long long)t->hugepages_node_mib);
	k8s_note(out, spec, "capacity", t->section->hugepages_at, pool_path(t, "hugepages", out));
}

void pool_v1(const struct fleet *fleet, const struct fleet_target *t, struct k8s_output *out)
{
	node_class(fleet, t, out);
	cJSON *doc = k8s_add(out, "karpenter.sh/v1", "NodePool", NULL, t->pool);
	cJSON *spec = json_add_object(doc, "spec");

	json_add_int(spec, "weight", t->section->weight);
	k8s_note(out, spec, "weight", t->section->weight_at, pool_path(t, "weight", out));
	template(fleet, t, spec, out);
	cJSON *disruption = json_add_object(spec, "disruption");

	json_add_string(disruption, "consolidationPolicy", "WhenEmpty");
	json_add_string(disruption, "consolidateAfter", t->section->consolidate_after);
	json_add_string(k8s_push_object(json_add_array(disruption, "budgets")), "nodes", "10%");
	pool_limits(json_add_object(spec, "limits"), t, true, out);
	if (t->hugepages_node_mib > 0)
		overlay(t, out);
}

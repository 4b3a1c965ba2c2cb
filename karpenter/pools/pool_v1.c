#include <string.h>

#include "karpenter/pools/pools.h"
#include "karpenter/pools/pull.h"

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
	pool_user_data(spec, t, out);
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

/* ---- what Karpenter cannot know of nodes ---- */

static cJSON *require(cJSON *requirements, const char *key)
{
	cJSON *requirement = k8s_push_object(requirements);

	json_add_string(requirement, "key", key);
	json_add_string(requirement, "operator", "In");
	return json_add_array(requirement, "values");
}

/* The capacity of nodes of this pool and of the types that `fits` names. */
static cJSON *overlay(const struct fleet_target *t, struct k8s_output *out, const char *name,
                      bool (*fits)(const struct instance *i, int64_t n), int64_t n)
{
	cJSON *doc = k8s_add(out, "karpenter.sh/v1alpha1", "NodeOverlay", NULL, name);
	cJSON *spec = json_add_object(doc, "spec");
	cJSON *requirements = json_add_array(spec, "requirements");
	cJSON *types = require(requirements, "node.kubernetes.io/instance-type");

	/* Types may be in pools of other fleets, too. */
	json_push_string(require(requirements, "karpenter.sh/nodepool"), t->pool);
	for (size_t i = 0; i < t->n_instances; i++)
		if (fits(t->instances[i], n))
			json_push_string(types, t->instances[i]->type);
	return spec;
}

static bool has_efa(const struct instance *i, int64_t n)
{
	return i->efa >= n;
}

/* The machine image sets them aside on types with EFA. */
static void hugepages_overlay(const struct fleet_target *t, struct k8s_output *out)
{
	cJSON *spec = overlay(t, out, t->pool, has_efa, 1);

	k8s_addf(json_add_object(spec, "capacity"), "hugepages-2Mi", "%lldMi",
	         (long long)t->hugepages_node_mib);
	k8s_note(out, spec, "capacity", t->section->hugepages_at, pool_path(t, "hugepages", out));
}

static bool has_devices(const struct instance *i, int64_t n)
{
	return i->devices == n;
}

/* One for each count of devices. */
static void share_overlays(const struct fleet_target *t, struct k8s_output *out)
{
	const struct target_section *s = t->section;
	bool sliced = s->time_slices > 0;

	for (size_t i = 0; i < t->n_instances; i++) {
		int64_t devices = t->instances[i]->devices;
		bool first = true;

		for (size_t k = 0; k < i; k++)
			first = first && t->instances[k]->devices != devices;
		if (!first)
			continue;
		cJSON *spec = overlay(
			t, out,
			arena_printf(&out->arena, "%s-shares-%lld", t->pool, (long long)devices),
			has_devices, devices);

		k8s_addf(json_add_object(spec, "capacity"), t->resource, "%lld",
		         (long long)(devices * t->shares));
		k8s_note(out, spec, "capacity", sliced ? s->time_slices_at : s->mig_at,
		         pool_path(t, sliced ? "time_slices" : "mig", out));
	}
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
		hugepages_overlay(t, out);
	if (strcmp(t->resource, t->accelerator->resource) != 0)
		share_overlays(t, out);
}

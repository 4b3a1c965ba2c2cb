#include "karpenter/pools/pools.h"

#include <string.h>

#include "base/text.h"

const char *pool_path(const struct fleet_target *t, const char *key, struct k8s_output *out)
{
	return arena_printf(&out->arena, "fleet.%s.%s", t->name, key);
}

/* ---- requirements ---- */

static cJSON *requirement(cJSON *requirements, const char *key)
{
	cJSON *r = k8s_push_object(requirements);

	json_add_string(r, "key", key);
	json_add_string(r, "operator", "In");
	return r;
}

static void require_one(cJSON *requirements, const char *key, const char *value)
{
	k8s_add_strings(requirement(requirements, key), "values", &value, 1);
}

void pool_requirements(cJSON *spec, const struct fleet_target *t, struct k8s_output *out)
{
	const struct target_section *s = t->section;
	cJSON *requirements = json_add_array(spec, "requirements");
	cJSON *types = requirement(requirements, "node.kubernetes.io/instance-type");
	cJSON *values = json_add_array(types, "values");

	for (size_t i = 0; i < t->n_instances; i++)
		json_push_string(values, t->instances[i]->type);
	k8s_note(out, types, "values", s->instances_at, pool_path(t, "instances", out));
	require_one(requirements, "kubernetes.io/arch", t->arch);
	require_one(requirements, "kubernetes.io/os", "linux");
	if (t->zone != NULL) {
		struct srcpos at =
			s->zone_at.file != NULL ? s->zone_at : out->fleet->cluster->zone_at;
		cJSON *zone = requirement(requirements, "topology.kubernetes.io/zone");

		k8s_add_strings(zone, "values", &t->zone, 1);
		k8s_note(out, zone, "values", at,
		         s->zone != NULL ? pool_path(t, "zone", out) : "cluster.zone");
	}
	cJSON *capacity = requirement(requirements, "karpenter.sh/capacity-type");

	k8s_add_strings(capacity, "values", t->capacity, t->n_capacity);
	k8s_note(out, capacity, "values", s->capacity_at, pool_path(t, "capacity", out));
}

static void taints(cJSON *spec, const char *key, const struct taint *at, size_t n)
{
	if (n == 0)
		return;
	cJSON *array = json_add_array(spec, key);

	for (size_t i = 0; i < n; i++) {
		cJSON *taint = k8s_push_object(array);

		json_add_string(taint, "key", at[i].key);
		if (at[i].value[0] != '\0')
			json_add_string(taint, "value", at[i].value);
		json_add_string(taint, "effect", at[i].effect);
	}
}

void pool_taints(cJSON *spec, const struct fleet_target *t)
{
	taints(spec, "taints", t->taints, t->n_taints);
	taints(spec, "startupTaints", t->startup_taints, t->n_startup_taints);
}

void pool_node_labels(cJSON *labels, const struct fleet *fleet, const struct fleet_target *t)
{
	json_add_string(labels, "slipway/owner", fleet->name);
	json_add_string(labels, "slipway/target", t->name);
	if (t->accelerator->node_label != NULL)
		json_add_string(labels, t->accelerator->node_label, "true");
	json_add_string(labels, OFFER_LABEL, fleet_target_offer(fleet, t));
	if (t->section->time_slices > 0)
		k8s_addf(labels, SLICES_LABEL, "%lld", (long long)t->section->time_slices);
	/* What NVIDIA's MIG manager goes by. */
	if (t->section->mig != NULL)
		k8s_addf(labels, "nvidia.com/mig.config", "all-%s", t->section->mig);
	k8s_add_map(labels, &t->section->labels);
}

void pool_limits(cJSON *limits, const struct fleet_target *t, bool nodes, struct k8s_output *out)
{
	const struct limits_section *l = &t->section->limits;

	k8s_addf(limits, "cpu", "%lld", (long long)t->limit_cpu);
	k8s_note(out, limits, "cpu", l->cpu_at, pool_path(t, "limits.cpu", out));
	k8s_addf(limits, "memory", "%lldGi", (long long)t->limit_memory_gib);
	k8s_note(out, limits, "memory", l->memory_gib_at, pool_path(t, "limits.memory", out));
	k8s_addf(limits, t->accelerator->resource, "%lld", (long long)t->limit_devices);
	k8s_note(out, limits, t->accelerator->resource, l->devices_at,
	         pool_path(t, "limits.devices", out));
	if (nodes) {
		k8s_addf(limits, "nodes", "%lld", (long long)t->limit_nodes);
		k8s_note(out, limits, "nodes", l->nodes_at, pool_path(t, "limits.nodes", out));
	}
}

/* ---- node class ---- */

static cJSON *tags_of_term(cJSON *spec, const char *key)
{
	return json_add_object(k8s_push_object(json_add_array(spec, key)), "tags");
}

void pool_subnet_tags(cJSON *tags, const struct fleet *fleet, struct k8s_output *out)
{
	const struct cluster_section *cluster = fleet->cluster;

	json_add_string(tags, "karpenter.sh/discovery", fleet->discovery);
	k8s_add_map(tags, &cluster->subnets);
	if (cluster->subnets_at.file == NULL)
		json_add_string(tags, "kubernetes.io/role/internal-elb", "*");
	for (size_t i = 0; i < cluster->subnets.n; i++)
		k8s_note(out, tags, cluster->subnets.at[i].key, cluster->subnets_at,
		         "cluster.subnets");
}

void pool_network(cJSON *spec, const struct fleet *fleet, struct k8s_output *out)
{
	pool_subnet_tags(tags_of_term(spec, "subnetSelectorTerms"), fleet, out);
	json_add_string(tags_of_term(spec, "securityGroupSelectorTerms"), "karpenter.sh/discovery",
	                fleet->discovery);
}

static cJSON *volume(cJSON *mappings, const char *device)
{
	cJSON *mapping = k8s_push_object(mappings);

	json_add_string(mapping, "deviceName", device);
	cJSON *ebs = json_add_object(mapping, "ebs");

	json_add_string(ebs, "volumeType", "gp3");
	json_add_bool(ebs, "encrypted", true);
	json_add_bool(ebs, "deleteOnTermination", true);
	return ebs;
}

void pool_volumes(cJSON *spec, const struct fleet_target *t, struct k8s_output *out)
{
	const struct volume_section *v = &t->section->volume;
	cJSON *mappings = json_add_array(spec, "blockDeviceMappings");
	bool bottlerocket = strcmp(pool_ami_family(t), "Bottlerocket") == 0;

	if (bottlerocket)
		json_add_string(volume(mappings, "/dev/xvda"), "volumeSize", "4Gi");
	cJSON *ebs = volume(mappings, bottlerocket ? "/dev/xvdb" : "/dev/xvda");

	k8s_addf(ebs, "volumeSize", "%lldGi", (long long)v->size_gib);
	k8s_note(out, ebs, "volumeSize", v->size_gib_at, pool_path(t, "volume.size", out));
	if (t->volume_iops > 0)
		json_add_int(ebs, "iops", t->volume_iops);
	k8s_note(out, ebs, "iops", v->iops > 0 ? v->iops_at : v->throughput_at,
	         pool_path(t, v->iops > 0 ? "volume.iops" : "volume.throughput", out));
	if (t->volume_throughput > 0)
		json_add_int(ebs, "throughput", t->volume_throughput);
	k8s_note(out, ebs, "throughput", v->throughput_at, pool_path(t, "volume.throughput", out));
	json_add_string(ebs, "kmsKeyID", v->kms_key);
}

void pool_metadata_options(cJSON *spec)
{
	cJSON *options = json_add_object(spec, "metadataOptions");

	json_add_string(options, "httpEndpoint", "enabled");
	json_add_string(options, "httpProtocolIPv6", "disabled");
	json_add_int(options, "httpPutResponseHopLimit", 1);
	json_add_string(options, "httpTokens", "required");
}

void pool_tags(cJSON *spec, const struct fleet *fleet, const struct fleet_target *t,
               struct k8s_output *out)
{
	cJSON *tags = json_add_object(spec, "tags");

	k8s_addf(tags, "Name", "%s", t->pool);
	json_add_string(tags, "slipway/owner", fleet->name);
	k8s_add_map(tags, &fleet->cluster->tags);
	k8s_note(out, spec, "tags", fleet->cluster->tags_at, "cluster.tags");
}

const char *pool_ami_family(const struct fleet_target *t)
{
	static const struct {
		const char *prefix, *family;
	} families[] = {{"al2023@", "AL2023"}, {"al2@", "AL2"}, {"bottlerocket@", "Bottlerocket"}};

	for (size_t i = 0; t->ami_alias != NULL && i < ARRAY_LEN(families); i++)
		if (text_has_prefix(t->ami_alias, families[i].prefix))
			return families[i].family;
	return "AL2023"; /* an own image is one of Amazon Linux 2023 with more in it */
}

/* ---- all pools ---- */

/* What the file says of its target, in words. */
static const char *about(const struct fleet_target *t, struct k8s_output *out)
{
	return arena_printf(
		&out->arena,
		"%s: %lld x %s on %s, weight %lld.\n"
		"Made from %s.",
		t->name, (long long)t->shape->devices, t->shape->device, t->shape->type,
		(long long)t->section->weight,
		k8s_origin(out, t->section->at, arena_printf(&out->arena, "fleet.%s", t->name)));
}

static void render_karpenter(const struct fleet *fleet, struct k8s_output *out)
{
	static void (*const pools[])(const struct fleet *, const struct fleet_target *,
	                             struct k8s_output *) = {[KARPENTER_V1] = pool_v1,
	                                                     [KARPENTER_V1BETA1] = pool_v1beta1,
	                                                     [KARPENTER_V1ALPHA5] = pool_v1alpha5};

	for (size_t i = 0; i < fleet->n_targets; i++) {
		const struct fleet_target *t = &fleet->targets[i];

		k8s_file(out, arena_printf(&out->arena, "%s.yaml", t->name), about(t, out));
		pools[fleet->karpenter](fleet, t, out);
	}
	if (fleet->compile_pool != NULL)
		pool_compile(fleet, out);
}

const struct k8s_renderer karpenter_renderer = {
	.number = "10",
	.name = "karpenter",
	.summary = "one node pool per target",
	.deployed = true,
	.wanted = fleet_has_targets,
	.render = render_karpenter,
};

/*
 * The API before pools: a Provisioner and an AWSNodeTemplate, which selects by one tag and counts
 * in seconds.
 */
#include <stdlib.h>
#include <string.h>

#include "karpenter/pools/pools.h"
#include "karpenter/pools/pull.h"

/* "1h30m" in seconds; -1 for "Never". The grammar was checked. */
static int64_t seconds(const char *duration)
{
	int64_t sum = 0;

	if (strcmp(duration, "Never") == 0)
		return -1;
	while (*duration != '\0') {
		char *unit;
		int64_t n = strtol(duration, &unit, 10);

		sum += n * (*unit == 'h' ? 3600 : *unit == 'm' ? 60 : 1);
		duration = unit + 1;
	}
	return sum;
}

static void node_template(const struct fleet *fleet, const struct fleet_target *t,
                          struct k8s_output *out)
{
	const struct ami_section *ami = &t->section->ami;
	cJSON *doc = k8s_add(out, "karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate", NULL, t->pool);
	cJSON *spec = json_add_object(doc, "spec");

	json_add_string(spec, "amiFamily", pool_ami_family(t));
	k8s_note(out, spec, "amiFamily", ami->at, pool_path(t, "ami", out));
	if (t->ami_alias == NULL)
		json_add_string(json_add_object(spec, "amiSelector"), "aws::ids", ami->id);
	if (fleet->cluster->role != NULL)
		json_add_string(spec, "instanceProfile", fleet->cluster->role);
	else
		k8s_addf(spec, "instanceProfile", "KarpenterNodeInstanceProfile-%s",
		         fleet->cluster_name);
	pool_subnet_tags(json_add_object(spec, "subnetSelector"), fleet, out);
	json_add_string(json_add_object(spec, "securityGroupSelector"), "karpenter.sh/discovery",
	                fleet->discovery);
	pool_volumes(spec, t, out);
	pool_user_data(spec, t, out);
	pool_metadata_options(spec);
	pool_tags(spec, fleet, t, out);
}

void pool_v1alpha5(const struct fleet *fleet, const struct fleet_target *t, struct k8s_output *out)
{
	node_template(fleet, t, out);
	cJSON *doc = k8s_add(out, "karpenter.sh/v1alpha5", "Provisioner", NULL, t->pool);
	cJSON *spec = json_add_object(doc, "spec");
	int64_t empty = seconds(t->section->consolidate_after);
	int64_t expired = seconds(t->section->expire_after);

	json_add_int(spec, "weight", t->section->weight);
	k8s_note(out, spec, "weight", t->section->weight_at, pool_path(t, "weight", out));
	json_add_string(json_add_object(spec, "providerRef"), "name", t->pool);
	pool_node_labels(json_add_object(spec, "labels"), fleet, t);
	if (t->section->annotations.n > 0)
		k8s_add_map(json_add_object(spec, "annotations"), &t->section->annotations);
	pool_requirements(spec, t, out);
	pool_taints(spec, t);
	if (empty >= 0)
		json_add_int(spec, "ttlSecondsAfterEmpty", empty);
	if (expired >= 0)
		json_add_int(spec, "ttlSecondsUntilExpired", expired);
	pool_limits(json_add_object(json_add_object(spec, "limits"), "resources"), t, false, out);
}

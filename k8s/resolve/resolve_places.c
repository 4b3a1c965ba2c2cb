/*
 * Where things are: the region and its zones, and that roles, keys and topics belong to the
 * cluster's part of AWS.
 */
#include <string.h>

#include "base/text.h"
#include "k8s/fleet/arn.h"
#include "k8s/fleet/grammar.h"
#include "k8s/fleet/regions.h"
#include "k8s/resolve/resolve_internal.h"

bool resolve_sound(const char *text, field_check check)
{
	const char *hint;

	return text != NULL && check(text, &hint) == NULL;
}

void resolve_check_region(struct resolver *r)
{
	const struct cluster_section *cluster = &r->sections->cluster;

	if (!resolve_sound(cluster->region, check_region) || region_zones(cluster->region) != NULL)
		return;
	const char *near = region_nearest(cluster->region);

	resolve_problem(r, cluster->region_at,
	                near != NULL ? arena_printf(r->arena, "did you mean '%s'?", near)
	                             : "`aws ec2 describe-regions` lists them",
	                "cluster.region: AWS has no region '%s'", cluster->region);
}

/* "us-west-2a to us-west-2d" in words: the region's letters. */
static const char *zones_of(struct resolver *r, const char *region)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(256);
	const char *zones = region_zones(region);

	for (const char *z = zones; *z != '\0'; z++)
		strbuf_addf(&sb, "%s%s%c",
		            z == zones     ? ""
		            : z[1] == '\0' ? " and "
		                           : ", ",
		            region, *z);
	return arena_printf(r->arena, "its zones are %s", strbuf_str(&sb));
}

void resolve_check_zone(struct resolver *r, const char *zone, struct srcpos at, const char *what)
{
	const char *region = r->sections->cluster.region;

	if (!resolve_sound(zone, check_zone) || !resolve_sound(region, check_region) ||
	    region_zones(region) == NULL || region_has_zone(region, zone))
		return;
	resolve_problem(r, at, zones_of(r, region), "%s: %s is not a zone of %s", what, zone,
	                region);
}

/* ---- ARNs ---- */

void resolve_check_arns(struct resolver *r)
{
	const struct fleet_sections *s = r->sections;
	const struct placed_arn job = {s->job.role, s->job.role_at, "job.role", false};
	const struct placed_arn topic = {s->monitoring.alarms.topic, s->monitoring.alarms.topic_at,
	                                 "monitoring.alarms.topic", true};

	arn_check(&job, s->cluster.region, r->arena, r->diags);
	arn_check(&topic, s->cluster.region, r->arena, r->diags);
	for (size_t i = 0; i < FLEET_TARGETS; i++) {
		const struct volume_section *v = &s->fleet.target[i].volume;
		struct placed_arn key = {
			v->kms_key, v->kms_key_at,
			arena_printf(r->arena, "fleet.%s.volume.kms_key", fleet_target_names[i]),
			true};

		if (s->fleet.has[i])
			arn_check(&key, s->cluster.region, r->arena, r->diags);
	}
}

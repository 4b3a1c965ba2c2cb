/*
 * How the nodes fetch images. Sources: nodeadm (gate of its own: 4 vCPU and 7 GiB; images before
 * v20250821 refuse to start on a gate they do not know), Bottlerocket 1.44.0, and AWS on volumes:
 * below 600 MiB/s a parallel pull is slower than a plain one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "k8s/resolve/resolve_internal.h"

enum {
	PULL_VCPU = 4,
	PULL_MEMORY_MIB = 7 << 10,
	VOLUME_MIB_S_MIN = 600,
	VOLUME_MIB_S = 1000,
	IOPS_PER_MIB_S = 4,
	BOTTLEROCKET_MINOR = 44 /* of 1 */
};

/* "latest", or a version since which it can. */
static bool al2023_can(const char *version)
{
	return strcmp(version, "latest") == 0 || strcmp(version, "v20250821") >= 0;
}

static bool bottlerocket_can(const char *version)
{
	if (strcmp(version, "latest") == 0)
		return true;
	return text_has_prefix(version, "v1.") &&
	       strtol(version + 3, NULL, 10) >= BOTTLEROCKET_MINOR;
}

/* The machine image; false too for an own one, of which nothing is known. */
static bool image_can(const struct fleet_target *t)
{
	static const struct {
		const char *prefix;
		bool (*can)(const char *version);
	} families[] = {{"al2023@", al2023_can}, {"bottlerocket@", bottlerocket_can}};

	for (size_t i = 0; t->ami_alias != NULL && i < ARRAY_LEN(families); i++)
		if (text_has_prefix(t->ami_alias, families[i].prefix))
			return families[i].can(t->ami_alias + strlen(families[i].prefix));
	return false;
}

/* Every type of the pool is large enough: on a smaller one the setting would do nothing. */
static bool nodes_can(const struct fleet_target *t)
{
	for (size_t i = 0; i < t->n_instances; i++)
		if (t->instances[i]->vcpu < PULL_VCPU ||
		    t->instances[i]->memory_mib < PULL_MEMORY_MIB)
			return false;
	return true;
}

/* Some type has no disks of its own: its images lie on the root volume. */
static bool needs_volume(const struct fleet_target *t)
{
	for (size_t i = 0; i < t->n_instances; i++)
		if (t->instances[i]->nvme_gb == 0)
			return true;
	return false;
}

/* MiB/s as written, or as the IOPS that are written allow. */
static int64_t volume_mib_s(const struct fleet_target *t)
{
	const struct volume_section *v = &t->section->volume;

	if (v->throughput > 0)
		return v->throughput;
	return v->iops > 0 && v->iops < VOLUME_MIB_S * IOPS_PER_MIB_S ? v->iops / IOPS_PER_MIB_S
	                                                              : VOLUME_MIB_S;
}

static bool volume_can(const struct fleet_target *t)
{
	return volume_mib_s(t) >= VOLUME_MIB_S_MIN || !needs_volume(t);
}

static bool checked_parallel(struct resolver *r, const struct fleet_target *t)
{
	struct srcpos at = t->section->pull_at;
	bool own = t->ami_alias == NULL;

	if (!own && !image_can(t))
		resolve_problem(
			r, at, "write ami: al2023@latest, or leave pull out",
			"fleet.%s.pull: the nodes' machine image %s cannot pull in parallel",
			t->name, t->ami_alias);
	if (!nodes_can(t))
		resolve_problem(
			r, at, "leave pull out, or take larger instances",
			"fleet.%s.pull: nodes of less than %d vCPU and 7 GiB do not pull in "
			"parallel",
			t->name, PULL_VCPU);
	if (!volume_can(t))
		resolve_problem(
			r, at, "raise volume.throughput and volume.iops, or leave pull out",
			"fleet.%s.pull: with a root volume of less than %d MiB/s pulling in "
			"parallel is slower than one layer after the other",
			t->name, VOLUME_MIB_S_MIN);
	return true;
}

void resolve_pull(struct resolver *r, struct fleet_target *t)
{
	const struct target_section *s = t->section;

	t->volume_throughput = s->volume.throughput;
	if (s->pull == PULL_AUTO)
		t->parallel_pull = r->fleet->karpenter == KARPENTER_V1 && image_can(t) &&
		                   nodes_can(t) && volume_can(t);
	else
		t->parallel_pull = s->pull == PULL_PARALLEL && checked_parallel(r, t);
	if (t->parallel_pull && s->volume.throughput == 0 && needs_volume(t))
		t->volume_throughput = volume_mib_s(t);
}

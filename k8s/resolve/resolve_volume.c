/*
 * The nodes' root volume: what gp3 allows together. Source: EC2 user guide, "General Purpose SSD
 * volumes", read 2026-11-22.
 */
#include "k8s/resolve/resolve_internal.h"

/* 3000 IOPS come with a volume, at most 500 for each GiB can be had, and MiB/s at most a quarter of
 * them. */
enum { IOPS_INCLUDED = 3000, IOPS_PER_GIB = 500, IOPS_PER_MIB_S = 4 };

static void check_size(struct resolver *r, const struct fleet_target *t)
{
	const struct volume_section *v = &t->section->volume;

	if (v->size_gib < 20 || v->size_gib > 16384)
		resolve_problem(r, v->size_gib_at, "write a size between them, as in 200Gi",
		                "fleet.%s.volume: a root volume must have 20Gi to 16Ti", t->name);
}

void resolve_volume(struct resolver *r, struct fleet_target *t)
{
	const struct volume_section *v = &t->section->volume;
	int64_t needed = t->volume_throughput * IOPS_PER_MIB_S;

	check_size(r, t);
	t->volume_iops = v->iops;
	if (v->iops == 0 && needed > IOPS_INCLUDED)
		t->volume_iops = needed;
	if (v->iops > 0 && needed > v->iops)
		resolve_problem(r, v->throughput_at,
		                arena_printf(r->arena, "write iops: %lld, or leave iops out",
		                             (long long)needed),
		                "fleet.%s.volume.throughput: %lld MiB/s need %lld IOPS, and iops "
		                "is %lld",
		                t->name, (long long)t->volume_throughput, (long long)needed,
		                (long long)v->iops);
	else if (t->volume_iops > v->size_gib * IOPS_PER_GIB && v->size_gib > 0)
		resolve_problem(r, v->iops > 0 ? v->iops_at : v->throughput_at,
		                "make the volume larger, or ask for less",
		                "fleet.%s.volume: %lld IOPS are more than the %lld of %lldGi",
		                t->name, (long long)t->volume_iops,
		                (long long)(v->size_gib * IOPS_PER_GIB), (long long)v->size_gib);
}

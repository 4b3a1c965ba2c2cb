/*
 * The targets: which instances a pool has, and what one pod asks of a node. A pod is sized for the
 * first instance listed and must fit every listed one that has as many devices.
 */
#include <string.h>

#include "base/text.h"
#include "k8s/fleet/grammar.h"
#include "k8s/fleet/overhead.h"
#include "k8s/fleet/storage_driver.h"
#include "k8s/resolve/resolve_internal.h"

/* EFA-enabled machine images set aside 5128 huge pages of 2 MiB; a pod asks for half of them. */
enum { HUGEPAGES_NODE_MIB = 10256, HUGEPAGES_POD_MIB = 5120 };

/* ---- instances ---- */

static bool add_instance(struct resolver *r, struct fleet_target *t, size_t i,
                         const struct instance **list)
{
	const struct placed_list *wanted = &t->section->instances;
	const struct instance *row = instance_find(wanted->at[i]);

	for (size_t k = 0; k < i; k++)
		if (strcmp(wanted->at[k], wanted->at[i]) == 0) {
			resolve_problem(r, wanted->pos[i], "remove one of the two",
			                "fleet.%s.instances: '%s' appears twice", t->name,
			                wanted->written[i]);
			return false;
		}
	if (row == NULL) {
		const char *near = instance_nearest(wanted->at[i]);

		resolve_problem(r, wanted->pos[i],
		                near != NULL ? arena_printf(r->arena, "did you mean '%s'?", near)
		                             : "`slipway instances` lists what there is",
		                "fleet.%s.instances: '%s' is not in the instance catalogue",
		                t->name, wanted->written[i]);
		return false;
	}
	if (strcmp(row->target, t->name) != 0) {
		resolve_problem(r, wanted->pos[i],
		                arena_printf(r->arena, "it belongs under fleet.%s", row->target),
		                "fleet.%s.instances: %s is not of the family %s", t->name,
		                row->type, t->name);
		return false;
	}
	list[t->n_instances++] = row;
	return true;
}

/* Without a list: every size of the family that bears the target's own name. */
static void add_family(struct fleet_target *t, const struct instance **list)
{
	for (size_t i = 0; i < n_instances; i++)
		if (strcmp(instances[i].family, t->name) == 0)
			list[t->n_instances++] = &instances[i];
}

static bool resolve_instances(struct resolver *r, struct fleet_target *t)
{
	const struct placed_list *wanted = &t->section->instances;
	size_t most = wanted->n > n_instances ? wanted->n : n_instances;
	const struct instance **list = arena_calloc(r->arena, most, sizeof(struct instance *));

	if (t->section->instances_at.file == NULL)
		add_family(t, list);
	for (size_t i = 0; i < wanted->n; i++)
		add_instance(r, t, i, list);
	t->instances = list;
	if (t->n_instances == 0)
		return false;
	t->shape = list[0];
	t->accelerator = t->shape->accelerator;
	t->arch = t->shape->arch;
	return true;
}

/* ---- what a pod asks for ---- */

static void resolve_devices(struct resolver *r, struct fleet_target *t)
{
	const struct target_section *s = t->section;

	resolve_shares(r, t);
	t->devices = s->devices > 0 ? s->devices : t->shares > 1 ? 1 : t->shape->devices;
	if (t->devices > t->shape->devices) {
		resolve_problem(
			r, s->devices_at, "the first instance of the list gives the pod its size",
			"fleet.%s.devices: %lld is more than the %lld of %s", t->name,
			(long long)t->devices, (long long)t->shape->devices, t->shape->type);
		t->devices = t->shape->devices;
	}
	t->whole_node = t->shares == 1 && t->devices == t->shape->devices;
	t->gang_needs_scheduler =
		t->accelerator->part_scheduler != NULL && !t->whole_node && t->devices > 1;
	t->processes = t->devices * instance_processes(t->shape);
	for (size_t i = 0; i < t->n_instances; i++)
		if (t->instances[i]->devices < t->devices && s->instances.n == t->n_instances)
			diag_hint(r->diags,
			          diags_add(r->diags, DIAG_WARNING, s->instances.pos[i],
			                    "fleet.%s.instances: %s is never chosen: a pod "
			                    "requests %lld devices, but it has %lld",
			                    t->name, t->instances[i]->type, (long long)t->devices,
			                    (long long)t->instances[i]->devices),
			          "list the smallest first, or set devices");
}

/* The instance can hold a pod. */
static bool holds(const struct fleet_target *t, const struct instance *i)
{
	return i->devices >= t->devices;
}

static void resolve_efa(struct resolver *r, struct fleet_target *t)
{
	const struct target_section *s = t->section;
	int64_t least = t->shape->efa;
	const struct instance *poorest = t->shape;

	for (size_t i = 0; i < t->n_instances; i++)
		if (holds(t, t->instances[i]) && t->instances[i]->efa < least) {
			poorest = t->instances[i];
			least = poorest->efa;
		}
	if (s->efa == EFA_AUTO)
		t->efa = t->nodes > 1 && t->whole_node ? least : 0;
	else
		t->efa = s->efa == EFA_ALL ? least : s->efa;
	if ((s->efa > 0 || s->efa == EFA_ALL) && least == 0)
		resolve_problem(r, s->efa_at,
		                "`slipway instances --efa` lists the types that have it",
		                "fleet.%s.efa: %s has no EFA", t->name, poorest->type);
	else if (s->efa > least)
		resolve_problem(r, s->efa_at, "write `all`, or a smaller number",
		                "fleet.%s.efa: %lld interfaces are more than the %lld of %s",
		                t->name, (long long)s->efa, (long long)least, poorest->type);
}

/* Karpenter counts no huge pages: a pod that asks for them gets a node only where an overlay says
 * that instances have them. */
static void resolve_hugepages(struct resolver *r, struct fleet_target *t)
{
	const struct target_section *s = t->section;

	if (!s->hugepages)
		return;
	if (t->efa == 0)
		resolve_problem(
			r, s->hugepages_at, "leave it out, or set efa",
			"fleet.%s.hugepages: huge pages are for EFA, and its pods request none",
			t->name);
	if (r->karpenter_minor > 0 && r->karpenter_minor < 107)
		resolve_problem(r, s->hugepages_at, "it came with Karpenter 1.7; leave it out",
		                "fleet.%s.hugepages: Karpenter %s has no NodeOverlay to learn of "
		                "them",
		                t->name, r->fleet->karpenter_version);
	t->hugepages_mib = HUGEPAGES_POD_MIB;
	t->hugepages_node_mib = HUGEPAGES_NODE_MIB;
}

/* What DaemonSets and huge pages leave of the node, in the share of the pod's devices; the least of
 * all instances that hold the pod. */
static void resolve_room(struct resolver *r, struct fleet_target *t)
{
	int64_t over_cpu, over_memory;
	const struct instance *least = t->shape;

	overhead_sum(r->fleet, t, &over_cpu, &over_memory);
	t->cpu_milli = t->memory_mib = INT64_MAX;
	for (size_t i = 0; i < t->n_instances; i++) {
		const struct instance *row = t->instances[i];
		int64_t pages = row->efa > 0 ? HUGEPAGES_NODE_MIB : 0;
		int64_t parts = row->devices * t->shares;
		int64_t cpu = (row->cpu_milli - over_cpu) * t->devices / parts;
		int64_t memory = (row->allocatable_mib - over_memory - pages) * t->devices / parts;

		if (!holds(t, row))
			continue;
		if (memory < t->memory_mib)
			least = row;
		t->cpu_milli = cpu < t->cpu_milli ? cpu : t->cpu_milli;
		t->memory_mib = memory < t->memory_mib ? memory : t->memory_mib;
	}
	resolve_sidecars(r, t);
	t->cpu_milli = t->cpu_milli / 100 * 100;
	t->memory_mib = t->memory_mib / 64 * 64;
	int64_t shm = r->sections->job.shm_gib * 1024;

	t->shm_mib = shm > 0 ? shm : t->memory_mib / 4 / 64 * 64;
	if (shm > 0 && t->shm_mib > t->memory_mib / 2)
		resolve_problem(r, r->sections->job.shm_gib_at,
		                "it counts as memory of the pod, and half must stay",
		                "job.shm: %lld Gi do not fit in the %lld MiB that a pod has on %s",
		                (long long)r->sections->job.shm_gib, (long long)t->memory_mib,
		                least->type);
}

/* ---- the pool ---- */

static void resolve_capacity(struct resolver *r, struct fleet_target *t)
{
	static const struct {
		unsigned bit;
		const char *name;
	} kinds[] = {{CAPACITY_RESERVED, "reserved"},
	             {CAPACITY_SPOT, "spot"},
	             {CAPACITY_ON_DEMAND, "on-demand"}};
	const struct target_section *s = t->section;
	bool reserved = (s->capacity & CAPACITY_RESERVED) != 0;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if ((s->capacity & kinds[i].bit) != 0)
			t->capacity[t->n_capacity++] = kinds[i].name;
	if (reserved && s->reservation.ids.n == 0 && s->reservation.tags.n == 0)
		resolve_problem(r, srcpos_or(s->capacity_at, s->at),
		                "add reservation: {ids: [cr-...]} or reservation: {tags: {...}}",
		                "fleet.%s.capacity: reserved, but nothing selects a reservation",
		                t->name);
	if (!reserved && s->reservation.set)
		resolve_problem(r, s->reservation.at, "add reserved to capacity",
		                "fleet.%s.reservation: capacity does not name reserved", t->name);
	if (reserved && r->karpenter_minor > 0 && r->karpenter_minor < 103)
		resolve_problem(
			r, srcpos_or(s->capacity_at, s->at),
			"it came with Karpenter 1.3; write cluster.karpenter: v1",
			"fleet.%s.capacity: Karpenter %s does not support reserved capacity",
			t->name, r->fleet->karpenter_version);
}

static void resolve_taints(struct resolver *r, struct fleet_target *t)
{
	const struct fleet_storage *storage = &r->fleet->storage;

	if (t->section->taint)
		t->taints[t->n_taints++] =
			(struct taint){t->accelerator->resource, "present", "NoSchedule"};
	if (storage->driver != NULL && storage->driver_source != DRIVER_NONE &&
	    storage->driver->startup_taint != NULL)
		t->startup_taints[t->n_startup_taints++] =
			(struct taint){storage->driver->startup_taint, "", "NoExecute"};
}

static void resolve_zone(struct resolver *r, struct fleet_target *t)
{
	const struct target_section *s = t->section;
	const struct cluster_section *cluster = &r->sections->cluster;
	const struct fleet_storage *storage = &r->fleet->storage;

	t->zone = s->zone != NULL ? s->zone : cluster->zone;
	resolve_check_zone(r, s->zone, s->zone_at,
	                   arena_printf(r->arena, "fleet.%s.zone", t->name));
	if (storage->zone != NULL && t->zone != NULL && strcmp(storage->zone, t->zone) != 0)
		resolve_problem(r, srcpos_or(s->zone_at, srcpos_or(storage->zone_at, s->at)),
		                storage->driver->one_zone_hint,
		                "fleet.%s: its pool is in %s, the file system in %s", t->name,
		                t->zone, storage->zone);
	if (t->zone == NULL && t->efa > 0)
		resolve_problem(r, srcpos_or(s->efa_at, s->at), "set cluster.zone",
		                "fleet.%s: EFA needs all nodes in one zone, and none is named",
		                t->name);
}

static bool has_architecture(const struct resolver *r, const char *arch)
{
	for (size_t i = 0; i < r->image->architectures.n; i++)
		if (strcmp(r->image->architectures.at[i], arch) == 0)
			return true;
	return false;
}

static void check_platform(struct resolver *r, const struct fleet_target *t)
{
	if (r->sections->job.image != NULL || r->image->architectures.n == 0 ||
	    has_architecture(r, t->arch))
		return;
	resolve_problem(r, srcpos_or(t->section->instances_at, t->section->at),
	                arena_printf(r->arena, "add linux/%s to image.platforms", t->arch),
	                "fleet.%s: %s needs an image for linux/%s, which is not among "
	                "image.platforms (line %u)",
	                t->name, t->shape->type, t->arch, r->image->at.line);
}

static void resolve_target(struct resolver *r, size_t i)
{
	const struct job_section *job = &r->sections->job;
	const struct target_section *s = &r->sections->fleet.target[i];
	struct fleet_target *t = &r->fleet->targets[r->fleet->n_targets];

	*t = (struct fleet_target){.section = s, .name = fleet_target_names[i]};
	t->pool = t->job = arena_printf(r->arena, "%s-%s", r->fleet->name, t->name);
	t->nodes = s->nodes > 0 ? s->nodes : job->nodes;
	if (t->nodes < 1)
		t->nodes = 1;
	if (!resolve_instances(r, t))
		return;
	resolve_devices(r, t);
	resolve_efa(r, t);
	resolve_hugepages(r, t);
	resolve_room(r, t);
	resolve_capacity(r, t);
	resolve_taints(r, t);
	resolve_zone(r, t);
	resolve_ami(r, t);
	resolve_pull(r, t);
	resolve_volume(r, t);
	resolve_limits(r, t);
	check_platform(r, t);
	r->fleet->n_targets++;
}

/* ---- all of them ---- */

static bool before(const struct fleet_target *a, const struct fleet_target *b)
{
	if (a->section->weight != b->section->weight)
		return a->section->weight > b->section->weight;
	return strcmp(a->name, b->name) < 0;
}

static void sort_targets(struct fleet *fleet)
{
	for (size_t i = 1; i < fleet->n_targets; i++)
		for (size_t k = i; k > 0 && before(&fleet->targets[k], &fleet->targets[k - 1]);
		     k--) {
			struct fleet_target swap = fleet->targets[k];

			fleet->targets[k] = fleet->targets[k - 1];
			fleet->targets[k - 1] = swap;
		}
}

/* Pools of equal weight are ordered by name, which nobody means. */
static void check_weights(struct resolver *r)
{
	const struct fleet *fleet = r->fleet;

	for (size_t i = 1; i < fleet->n_targets; i++) {
		const struct fleet_target *a = &fleet->targets[i - 1], *b = &fleet->targets[i];

		if (a->section->weight != b->section->weight || a->section->reason != NULL ||
		    b->section->reason != NULL)
			continue;
		resolve_problem(r, srcpos_or(b->section->weight_at, b->section->at),
		                "give one of them another weight, or say why in reason",
		                "fleet.%s.weight: %lld is also the weight of fleet.%s; only their "
		                "names would decide the order",
		                b->name, (long long)b->section->weight, a->name);
	}
}

void resolve_targets(struct resolver *r)
{
	const struct fleet_section *fleet = &r->sections->fleet;

	r->fleet->targets = arena_calloc(r->arena, FLEET_TARGETS, sizeof(*r->fleet->targets));
	for (size_t i = 0; i < FLEET_TARGETS; i++)
		if (fleet->has[i])
			resolve_target(r, i);
	sort_targets(r->fleet);
	check_weights(r);
}

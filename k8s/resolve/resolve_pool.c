/*
 * What bounds a pool: its limits, its machine image, its placement.
 */
#include <string.h>

#include "base/text.h"
#include "k8s/fleet/grammar.h"
#include "k8s/resolve/resolve_internal.h"

static int64_t max_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* A limit as it was written, and what is needed of it. */
struct demand {
	const char *what;
	struct srcpos at;
	int64_t limit, need;
};

static void check_limit(struct resolver *r, const struct fleet_target *t, const struct demand *d,
                        const char *who)
{
	if (d->at.file != NULL && d->limit > 0 && d->limit < d->need)
		resolve_problem(
			r, d->at, arena_printf(r->arena, "raise the limit, or shrink %s", who),
			"fleet.%s.limits.%s: %s needs %lld, but the pool may have only %lld",
			t->name, d->what, who, (long long)d->need, (long long)d->limit);
}

/* Nodes of the network test on this pool, 0 = it does not run there. */
static int64_t nodes_of_test(const struct resolver *r, const struct fleet_target *t)
{
	const struct nettest_section *test = &r->sections->job.network_test;

	return test->set && t->accelerator->nccl && t->efa > 0 && t->whole_node ? test->nodes : 0;
}

/*
 * By default a pool may hold its job twice: a new attempt starts while the old one's nodes go; and
 * the network test. CPU and memory count whole instances, as Karpenter does.
 */
void resolve_limits(struct resolver *r, struct fleet_target *t)
{
	const struct limits_section *l = &t->section->limits;
	int64_t cpu = 0, memory = 0, devices = 0, tested = nodes_of_test(r, t);
	int64_t nodes = max_of(t->nodes, tested);

	for (size_t i = 0; i < t->n_instances; i++) {
		cpu = max_of(cpu, t->instances[i]->vcpu);
		memory = max_of(memory, t->instances[i]->memory_mib / 1024);
		devices = max_of(devices, t->instances[i]->devices);
	}
	const char *who = tested > t->nodes ? "the network test" : "the job";
	const struct demand rows[] = {
		{"nodes", l->nodes_at, l->nodes, nodes},
		{"devices", l->devices_at, l->devices, nodes * t->shape->devices},
		{"cpu", l->cpu_at, l->cpu, nodes * t->shape->vcpu},
		{"memory", l->memory_gib_at, l->memory_gib, nodes * t->shape->memory_mib / 1024},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check_limit(r, t, &rows[i], who);
	t->limit_nodes = l->nodes > 0 ? l->nodes : max_of(2 * t->nodes, tested);
	t->limit_devices = l->devices > 0 ? l->devices : t->limit_nodes * devices;
	t->limit_cpu = l->cpu > 0 ? l->cpu : t->limit_nodes * cpu;
	t->limit_memory_gib = l->memory_gib > 0 ? l->memory_gib : t->limit_nodes * memory;
}

/* Amazon Linux 2023 with drivers: for amd64 since Karpenter 1.0, for arm64 since 1.4. */
static bool knows_al2023(const struct resolver *r, const struct fleet_target *t)
{
	return r->karpenter_minor >= (strcmp(t->arch, "amd64") == 0 ? 100 : 104);
}

static void check_alias(struct resolver *r, const struct fleet_target *t, const char *alias)
{
	const char *version = strchr(alias, '@') + 1;
	struct srcpos at = t->section->ami.at;

	if (text_has_prefix(alias, "al2@") && r->fleet->minor >= 33)
		resolve_problem(r, at, "write ami: al2023@latest",
		                "fleet.%s.ami: there is no Amazon Linux 2 image for Kubernetes %s",
		                t->name, r->fleet->version);
	if (text_has_prefix(alias, "al2@") && strcmp(t->arch, "arm64") == 0)
		resolve_problem(r, at, "write ami: al2023@latest",
		                "fleet.%s.ami: Amazon Linux 2 has no arm64 image with NVIDIA's "
		                "driver",
		                t->name);
	if (r->karpenter_minor > 0 && text_has_prefix(alias, "al2023@") && !knows_al2023(r, t))
		resolve_problem(r, at, "write bottlerocket@latest, or give an ami.id",
		                "fleet.%s.ami: Karpenter %s has no Amazon Linux 2023 image with "
		                "drivers for %s",
		                t->name, r->fleet->karpenter_version, t->arch);
	if (r->fleet->karpenter != KARPENTER_V1 && strcmp(version, "latest") != 0)
		resolve_problem(r, at, "write @latest, or name the image in ami.id",
		                "fleet.%s.ami: Karpenter %s cannot pin a version by alias", t->name,
		                r->fleet->karpenter_version);
}

/* Before, Amazon Linux 2 has drivers for amd64, and Bottlerocket for both. */
static const char *default_alias(const struct resolver *r, const struct fleet_target *t)
{
	if (knows_al2023(r, t))
		return "al2023@latest";
	return strcmp(t->arch, "amd64") == 0 ? "al2@latest" : "bottlerocket@latest";
}

void resolve_ami(struct resolver *r, struct fleet_target *t)
{
	const struct ami_section *ami = &t->section->ami;
	const char *hint;
	bool older = r->fleet->karpenter != KARPENTER_V1;

	t->ami_alias = ami->set ? ami->alias : default_alias(r, t);
	t->brings_plugin = t->accelerator->in_bottlerocket && t->ami_alias != NULL &&
	                   text_has_prefix(t->ami_alias, "bottlerocket");
	if (ami->alias != NULL && check_ami_alias(ami->alias, &hint) == NULL)
		check_alias(r, t, ami->alias);
	if (ami->ssm != NULL && r->karpenter_minor > 0 && r->karpenter_minor < 103)
		resolve_problem(r, ami->at, "write its value in ami.id",
		                "fleet.%s.ami: Karpenter %s does not read SSM parameters", t->name,
		                r->fleet->karpenter_version);
	if (t->section->placement_group != NULL && (older || r->karpenter_minor < 111) &&
	    r->karpenter_minor > 0)
		resolve_problem(
			r, t->section->placement_group_at,
			"leave it out, or write cluster.karpenter: v1",
			"fleet.%s.placement_group: Karpenter %s does not support placement groups",
			t->name, r->fleet->karpenter_version);
}

#include <string.h>

#include "k8s/resolve/resolve_internal.h"

/* A section that stands on another which is not there. */
static void check_presence(struct resolver *r)
{
	const struct fleet_sections *s = r->sections;
	const struct {
		bool set, base;
		struct srcpos at;
		const char *name, *base_name;
	} pairs[] = {
		{s->fleet.set, s->cluster.set, s->fleet.at, "fleet", "cluster"},
		{s->storage.set, s->cluster.set, s->storage.at, "storage", "cluster"},
		{s->job.set, s->fleet.set, s->job.at, "job", "fleet"},
		{s->monitoring.set, s->fleet.set, s->monitoring.at, "monitoring", "fleet"},
	};

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		if (pairs[i].set && !pairs[i].base)
			resolve_problem(
				r, pairs[i].at,
				arena_printf(r->arena, "add the section `%s:`, beside image",
			                     pairs[i].base_name),
				"%s needs the section %s", pairs[i].name, pairs[i].base_name);
}

static void sum_up(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n_targets; i++) {
		const struct fleet_target *t = &fleet->targets[i];

		fleet->has_efa = fleet->has_efa || t->efa > 0;
		fleet->has_arm64 = fleet->has_arm64 || strcmp(t->arch, "arm64") == 0;
		fleet->has_amd64 = fleet->has_amd64 || strcmp(t->arch, "amd64") == 0;
	}
}

/* The last part of a path: what remarks show. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

bool fleet_resolve(const struct fleet_sections *sections, const struct fleet_names *names,
                   const struct fleet_image *image, struct arena *a, struct diags *diags,
                   struct fleet *fleet)
{
	struct resolver r = {.sections = sections,
	                     .image = image,
	                     .name_at = names->name_at,
	                     .fleet = fleet,
	                     .arena = a,
	                     .diags = diags};
	size_t before = diags->n_errors;

	*fleet = (struct fleet){.name = names->name != NULL ? names->name : "",
	                        .file = base_name(names->file),
	                        .cluster = &sections->cluster,
	                        .job = &sections->job,
	                        .monitoring = &sections->monitoring,
	                        .patches = sections->patches,
	                        .n_patches = sections->n_patches};
	check_presence(&r);
	resolve_cluster(&r);
	resolve_monitoring(&r);
	resolve_storage(&r);
	resolve_targets(&r);
	resolve_job(&r);
	resolve_failover(&r);
	resolve_check_arns(&r);
	resolve_inside(&r);
	sum_up(fleet);
	return diags->n_errors == before;
}

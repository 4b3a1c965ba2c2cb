/*
 * What a job's pods have beside its own container: volumes, other containers, and the rights that
 * they ask for.
 */
#include <string.h>

#include "k8s/fleet/grammar.h"
#include "k8s/job/job.h"
#include "k8s/job/scheduler.h"
#include "k8s/resolve/resolve_internal.h"

/* ---- volumes ---- */

/* Volumes that every job has, and where; and that of the fleet's file system. */
static const struct {
	const char *name, *mount;
} own_volumes[] = {{"tmp", "/tmp"}, {"shm", "/dev/shm"}, {"data", NULL}};

static const char *mount_of(const struct resolver *r, size_t i)
{
	return own_volumes[i].mount != NULL ? own_volumes[i].mount : r->fleet->storage.mount;
}

static void check_free(struct resolver *r, const struct volume_mount *v, const char *mount)
{
	for (size_t i = 0; i < ARRAY_LEN(own_volumes); i++) {
		const char *taken = mount_of(r, i);

		if (strcmp(v->name, own_volumes[i].name) == 0)
			resolve_problem(r, v->at, "choose another name",
			                "job.volumes.%s: every job has a volume of this name",
			                v->name);
		if (taken != NULL && strcmp(resolve_plain_path(taken, r->arena), mount) == 0)
			resolve_problem(r, v->mount_at, "choose a folder of its own, as in /work",
			                "job.volumes.%s.mount: at %s there is the volume '%s'",
			                v->name, mount, own_volumes[i].name);
	}
}

/* A part of a volume may be one file: that hides nothing else. */
static void check_hidden(struct resolver *r, const struct volume_mount *v, const char *mount)
{
	const struct strlist *command = &r->sections->job.command;
	const char *folder, *what = resolve_hidden(mount, &folder);

	if (what == NULL && command->n > 0 && command->at[0][0] == '/') {
		folder = resolve_plain_path(command->at[0], r->arena);
		what = v->sub_path == NULL && resolve_is_in(folder, mount) ? "the job's program"
		                                                           : NULL;
	}
	if (what != NULL)
		resolve_problem(r, v->mount_at, "choose a folder of its own, as in /work",
		                "job.volumes.%s.mount: %s is in the way of %s (%s)", v->name,
		                v->mount, what, folder);
}

static void check_volumes(struct resolver *r)
{
	const struct job_section *job = &r->sections->job;

	for (size_t i = 0; i < job->n_volumes; i++) {
		const struct volume_mount *v = &job->volumes[i];

		if (!resolve_sound(v->mount, check_path))
			continue;
		const char *mount = resolve_plain_path(v->mount, r->arena);

		check_free(r, v, mount);
		if (strcmp(mount, "/tmp") != 0 && strcmp(mount, "/dev/shm") != 0)
			check_hidden(r, v, mount);
		for (size_t k = 0; k < i; k++)
			if (job->volumes[k].mount != NULL &&
			    strcmp(resolve_plain_path(job->volumes[k].mount, r->arena), mount) == 0)
				resolve_problem(r, v->mount_at, "choose a folder of its own",
				                "job.volumes.%s.mount: at %s there is the volume "
				                "'%s'",
				                v->name, mount, job->volumes[k].name);
	}
}

/* ---- memory ---- */

/* Folders in memory count as the pod's, and half of that must stay. */
static void check_memory(struct resolver *r, const struct fleet_target *t)
{
	const struct job_section *job = &r->sections->job;
	int64_t mib = t->shm_mib;

	for (size_t i = 0; i < job->n_volumes; i++) {
		mib += job->volumes[i].memory_gib * 1024;
		if (job->volumes[i].memory_gib > 0 && mib > t->memory_mib / 2) {
			resolve_problem(r, job->volumes[i].memory_gib_at,
			                "ask for less, or set job.shm",
			                "job.volumes.%s: with /dev/shm they are %lld MiB of the "
			                "%lld MiB that a pod has on %s, and half must stay",
			                job->volumes[i].name, (long long)mib,
			                (long long)t->memory_mib, t->name);
			return;
		}
	}
}

void resolve_sidecars(struct resolver *r, struct fleet_target *t)
{
	const struct job_section *job = &r->sections->job;

	for (size_t i = 0; i < job->n_sidecars; i++) {
		t->cpu_milli -= job->sidecars[i].cpu_milli;
		t->memory_mib -= job->sidecars[i].memory_mib;
	}
}

/* An init container must fit where the job's will. */
static void check_init(struct resolver *r, const struct fleet_target *t)
{
	const struct job_section *job = &r->sections->job;

	for (size_t i = 0; i < job->n_init; i++) {
		const struct container_section *c = &job->init[i];

		if (c->cpu_milli > t->cpu_milli || c->memory_mib > t->memory_mib)
			resolve_problem(
				r, srcpos_or(c->memory_mib_at, srcpos_or(c->cpu_milli_at, c->at)),
				"ask for less",
				"job.init: '%s' does not fit on %s: a pod has %lldm of CPU and "
				"%lld MiB",
				c->name, t->name, (long long)t->cpu_milli,
				(long long)t->memory_mib);
	}
}

/* ---- containers ---- */

enum { SIDECARS_SINCE = 29 };

static void check_name(struct resolver *r, const struct container_section *c,
                       const char *const *taken, size_t n)
{
	for (size_t i = 0; c->name != NULL && i < n; i++)
		if (taken[i] != NULL && strcmp(taken[i], c->name) == 0)
			resolve_problem(r, c->name_at, "choose another name",
			                "job: two containers of a pod are called '%s'", c->name);
}

static void check_containers(struct resolver *r)
{
	const struct job_section *job = &r->sections->job;
	const char **taken =
		arena_calloc(r->arena, 2 + job->n_init + job->n_sidecars, sizeof(*taken));
	size_t n = 0;

	taken[n++] = JOB_CONTAINER;
	taken[n++] = "launcher";
	for (size_t i = 0; i < job->n_sidecars; i++) {
		check_name(r, &job->sidecars[i], taken, n);
		taken[n++] = job->sidecars[i].name;
	}
	for (size_t i = 0; i < job->n_init; i++) {
		check_name(r, &job->init[i], taken, n);
		taken[n++] = job->init[i].name;
	}
	if (job->n_sidecars > 0 && r->fleet->minor > 0 && r->fleet->minor < SIDECARS_SINCE)
		resolve_problem(
			r, job->sidecars_at, "choose a newer cluster.version",
			"job.sidecars: Kubernetes %s would wait for their end; they came with "
			"1.%d",
			r->fleet->version, (int)SIDECARS_SINCE);
}

/* ---- rights ---- */

static void check_rights(struct resolver *r)
{
	const struct job_section *job = &r->sections->job;
	enum pod_security level = r->sections->cluster.pod_security;

	if (job->root != NULL && level == POD_SECURITY_RESTRICTED)
		resolve_problem(r, job->root_at, "write pod_security: baseline, or leave root out",
		                "job.root: cluster.pod_security: restricted refuses pods of root");
	for (size_t i = 0; i < job->n_volumes; i++)
		if (job->volumes[i].host != NULL && level != POD_SECURITY_DEFAULT)
			resolve_problem(
				r, job->volumes[i].host_at,
				"leave pod_security out, or take another kind of volume",
				"job.volumes.%s: cluster.pod_security refuses folders of the "
				"node",
				job->volumes[i].name);
	if (job->n_env_from > 0 && r->fleet->scheduler->needs_command)
		resolve_problem(r, job->env_from_at, "name each of them in job.env",
		                "job.env_from: mpirun passes on only variables that are named");
}

void resolve_beside(struct resolver *r)
{
	check_volumes(r);
	check_containers(r);
	check_rights(r);
	for (size_t i = 0; i < r->fleet->n_targets; i++) {
		check_memory(r, &r->fleet->targets[i]);
		check_init(r, &r->fleet->targets[i]);
	}
}

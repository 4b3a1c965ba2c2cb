/*
 * The job and the monitoring: names, image, queue, and what the targets allow.
 */
#include <string.h>

#include "k8s/job/scheduler.h"
#include "k8s/resolve/resolve_internal.h"

static void resolve_image(struct resolver *r)
{
	const struct job_section *job = &r->sections->job;
	const char *image = job->image;

	if (image == NULL && r->image->repository == NULL)
		resolve_problem(r, job->at, "set image.repository, or job.image",
		                "job: the image has no repository to be pulled from");
	if (image == NULL && r->image->tag == NULL && job->digest == NULL)
		resolve_problem(r, job->at, "set image.tags, job.digest or job.image",
		                "job: the image has no tag to be pulled by");
	if (image == NULL)
		image = r->image->tag != NULL
		                ? arena_printf(r->arena, "%s:%s",
		                               r->image->repository != NULL ? r->image->repository
		                                                            : "",
		                               r->image->tag)
		                : r->image->repository;
	else if (strchr(image, '@') != NULL && job->digest != NULL)
		resolve_problem(r, job->image_at, "leave one of them out",
		                "job.image has a digest, and so has job.digest");
	r->fleet->image = job->digest != NULL && image != NULL
	                          ? arena_printf(r->arena, "%s@%s", image, job->digest)
	                          : image;
}

/* Where a program may write that was not made for us: the root is read-only, and the user has no
 * folder in the image. */
static const char *home_of(const struct job_section *job)
{
	if (job->home != NULL)
		return job->home;
	return job->image != NULL && job->root == NULL && job->writable_root == NULL ? "/tmp"
	                                                                             : NULL;
}

static void check_queue(struct resolver *r)
{
	const struct job_section *job = &r->sections->job;

	if (job->queue_at.file != NULL && !r->fleet->scheduler->queues)
		resolve_problem(r, job->queue_at, "write scheduler: volcano, or leave it out",
		                "job.queue: only Volcano has queues");
	else if (strcmp(job->queue, "default") != 0 && !job->has_create_queue)
		resolve_problem(r, job->queue_at,
		                "write create_queue: true to render it, false when the cluster has "
		                "it",
		                "job.queue: nothing creates the queue '%s'", job->queue);
	if (job->create_queue && strcmp(job->queue, "default") == 0)
		resolve_problem(r, srcpos_or(job->queue_at, job->at), "name a queue of your own",
		                "job.create_queue: Volcano creates the queue 'default' itself");
}

/* Digits of the highest index of n pods. */
static size_t digits(int64_t n)
{
	size_t count = 1;

	for (n--; n >= 10; n /= 10)
		count++;
	return count;
}

/* Pods are named after the job: JOB-worker-INDEX, JOB-workers-0-INDEX-xxxxx, ... */
static void check_names(struct resolver *r)
{
	const size_t suffix = strlen(r->fleet->scheduler->pod_suffix);
	const struct job_section *job = &r->sections->job;

	if (r->fleet->name[0] >= '0' && r->fleet->name[0] <= '9')
		resolve_problem(
			r, srcpos_or(r->name_at, job->at), "let it start with a letter",
			"name: services are named after it, and may not start with a digit");
	for (size_t i = 0; strlen(r->fleet->name) <= NAME_MAX_LEN && i < r->fleet->n_targets; i++) {
		const struct fleet_target *t = &r->fleet->targets[i];
		size_t len = strlen(t->job) + suffix + digits(t->nodes);

		if (len > 63) {
			resolve_problem(r, srcpos_or(r->name_at, job->at), "choose a shorter name",
			                "name: pods of %s would have names of %zu characters, at "
			                "most 63 are allowed",
			                t->job, len);
			return;
		}
	}
}

static void check_target(struct resolver *r, const struct fleet_target *t)
{
	if (t->gang_needs_scheduler && r->fleet->scheduler->places_pods)
		resolve_problem(r, srcpos_or(t->section->devices_at, t->section->at),
		                "take whole nodes, one device, or scheduler: job",
		                "fleet.%s.devices: %lld of %lld %s devices need the %s scheduler, "
		                "which cannot run beside Volcano's",
		                t->name, (long long)t->devices, (long long)t->shape->devices,
		                t->accelerator->maker, t->accelerator->maker);
	if (t->cpu_milli < 500 || t->memory_mib < 1024)
		resolve_problem(r, t->section->at,
		                "list larger instances, or keep less in cluster.reserve",
		                "fleet.%s: DaemonSets%s leave a pod %lldm of CPU and %lld MiB on "
		                "%s",
		                t->name, r->sections->job.n_sidecars > 0 ? " and job.sidecars" : "",
		                (long long)(t->cpu_milli > 0 ? t->cpu_milli : 0),
		                (long long)(t->memory_mib > 0 ? t->memory_mib : 0), t->shape->type);
}

static void check_nettest(struct resolver *r)
{
	const struct nettest_section *test = &r->sections->job.network_test;

	if (!test->set)
		return;
	for (size_t i = 0; i < r->fleet->n_targets; i++) {
		const struct fleet_target *t = &r->fleet->targets[i];

		if (t->shape->efa > 0 && t->accelerator->nccl && t->whole_node)
			return;
	}
	resolve_problem(r, test->at, "leave it out, or add p4d or a g5 of 8xlarge and more",
	                "job.network_test: no target has NVIDIA devices and EFA");
}

static void check_dra(struct resolver *r)
{
	const struct cluster_section *cluster = &r->sections->cluster;
	const char *why = NULL;

	if (cluster->devices != DEVICES_DRA)
		return;
	for (size_t i = 0; i < r->fleet->n_targets; i++) {
		if (r->fleet->targets[i].accelerator->device_class != NULL)
			return;
		why = r->fleet->targets[i].accelerator->no_claims;
	}
	if (why == NULL)
		return;
	resolve_problem(r, cluster->devices_at, "write devices: plugin",
	                "cluster.devices: no target of this fleet has a driver for resource "
	                "claims: %s",
	                why);
}

void resolve_job(struct resolver *r)
{
	const struct job_section *job = &r->sections->job;
	struct fleet *fleet = r->fleet;

	fleet->service_account = job->service_account != NULL ? job->service_account : fleet->name;
	fleet->scheduler = &schedulers[job->scheduler];
	fleet->queue = job->queue;
	fleet->home = home_of(job);
	check_dra(r);
	if (!job->set)
		return;
	resolve_image(r);
	check_queue(r);
	check_names(r);
	if (fleet->scheduler->needs_command && job->command.n == 0)
		resolve_problem(r, srcpos_or(job->scheduler_at, job->at),
		                "set job.command: mpirun does not start an image's entrypoint",
		                "job.scheduler: an MPIJob needs the program that mpirun starts");
	for (size_t i = 0; i < fleet->n_targets; i++) {
		check_target(r, &fleet->targets[i]);
		resolve_compile(r, &fleet->targets[i]);
		resolve_trainer(r, &fleet->targets[i]);
	}
	check_nettest(r);
}

/* ---- monitoring ---- */

static bool any_target(const struct resolver *r, size_t kind)
{
	for (size_t i = 0; i < FLEET_TARGETS; i++)
		if (r->sections->fleet.has[i] &&
		    accelerator_of(fleet_target_names[i]) == &accelerators[kind])
			return true;
	return false;
}

void resolve_monitoring(struct resolver *r)
{
	const struct monitoring_section *m = &r->sections->monitoring;

	for (size_t i = 0; i < ACCELERATORS; i++)
		r->fleet->own_exporter[i] = m->exporter[i] && !m->container_insights;
	if (!m->set || !r->sections->fleet.set)
		return;
	for (size_t i = 0; i < ACCELERATORS; i++)
		if (m->exporter[i] && !any_target(r, i))
			resolve_problem(r, m->exporter_at[i], "leave it out",
			                "monitoring.%s: no target has %s devices",
			                accelerator_exporter_keys[i], accelerators[i].maker);
	if (m->alarms.set && !m->container_insights)
		resolve_problem(
			r, m->alarms.at, "write container_insights: true",
			"monitoring.alarms watch metrics of Container Insights, which is off");
}

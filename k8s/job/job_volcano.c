/*
 * The job as a Volcano Job: all pods or none, and all start again when one dies. The svc plugin
 * gives the pods their names in DNS, env their index.
 */
#include "base/attr.h"
#include "base/run_exit.h"
#include "k8s/job/job.h"
#include "k8s/job/scheduler.h"

#define TASK "worker"

/* Every pod's pod group: Volcano names it after the Job and its UID. */
#define GROUP_ANNOTATION "metadata.annotations['scheduling.k8s.io/group-name']"

static void add_policy(cJSON *policies, const char *event, const char *action)
{
	cJSON *policy = k8s_push_object(policies);

	json_add_string(policy, "event", event);
	json_add_string(policy, "action", action);
}

/* Exit statuses after which another try would end the same way: a policy each. */
static void add_hopeless(cJSON *policies)
{
	for (unsigned i = 0; run_exit_at(i) != NULL; i++) {
		cJSON *policy;

		if (!run_exit_at(i)->hopeless)
			continue;
		policy = k8s_push_object(policies);
		json_add_int(policy, "exitCode", run_exit_at(i)->status);
		json_add_string(policy, "action", "TerminateJob");
	}
}

static void add_plugins(cJSON *spec)
{
	cJSON *plugins = json_add_object(spec, "plugins");
	cJSON *svc;

	json_add_array(plugins, "env");
	svc = json_add_array(plugins, "svc");
	/* Ranks look each other up before they are ready. */
	json_push_string(svc, "--publish-not-ready-addresses=true");
	/* The plugin's own policy would let no scraper in from outside the job. */
	json_push_string(svc, "--disable-network-policy=true");
}

static void add_task(const struct fleet *fleet, const struct fleet_target *target,
                     struct k8s_output *out, cJSON *spec)
{
	const char *master =
		arena_printf(&out->arena, "%s-" TASK "-0.%s", target->job, target->job);
	struct job_pod_opts opts = {.master = master, .token_field = GROUP_ANNOTATION};
	cJSON *task = k8s_push_object(json_add_array(spec, "tasks"));
	struct job_pod pod;

	json_add_string(task, "name", TASK);
	json_add_int(task, "replicas", target->nodes);
	json_add_int(task, "minAvailable", target->nodes);
	add_policy(json_add_array(task, "policies"), "TaskCompleted", "CompleteJob");
	job_pod(fleet, target, out, json_add_object(task, "template"), &opts, &pod);
	/* A Volcano Job has no deadline of its own. */
	if (fleet->job->deadline_seconds > 0)
		json_add_int(pod.spec, "activeDeadlineSeconds", fleet->job->deadline_seconds);
}

void render_volcano_job(const struct fleet *fleet, const struct fleet_target *target,
                        struct k8s_output *out)
{
	const struct job_section *job = fleet->job;
	cJSON *object =
		k8s_add(out, "batch.volcano.sh/v1alpha1", "Job", fleet->namespace, target->job);
	cJSON *spec = json_add_object(object, "spec");

	json_add_string(spec, "schedulerName", "volcano");
	json_add_string(spec, "queue", fleet->queue);
	k8s_note(out, spec, "queue", job->queue_at, "job.queue");
	json_add_int(spec, "minAvailable", target->nodes);
	job_note_nodes(fleet, target, out, spec, "minAvailable");
	json_add_int(spec, "maxRetry", job->retries);
	json_add_int(spec, "ttlSecondsAfterFinished", job->ttl_seconds);
	json_add_string(spec, "priorityClassName", job->priority_class);
	add_plugins(spec);
	cJSON *policies = json_add_array(spec, "policies");

	/* The first policy that fits is taken. */
	add_hopeless(policies);
	/* A lost spot node or a dead rank: the rest waits for it in vain. */
	add_policy(policies, "PodEvicted", "RestartJob");
	add_policy(policies, "PodFailed", "RestartJob");
	add_task(fleet, target, out, spec);
}

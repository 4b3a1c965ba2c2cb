/*
 * The job as a plain indexed Job with a headless Service: nothing to install, no gang. Pods wait
 * for each other at the rendezvous; Karpenter makes room for all that are pending.
 */
#include "base/attr.h"
#include "base/run_exit.h"
#include "k8s/job/job.h"
#include "k8s/job/scheduler.h"

static void add_failure_policy(cJSON *spec)
{
	cJSON *rules = json_add_array(json_add_object(spec, "podFailurePolicy"), "rules");
	cJSON *hopeless = k8s_push_object(rules);

	json_add_string(hopeless, "action", "FailJob");
	cJSON *codes = json_add_object(hopeless, "onExitCodes");

	json_add_string(codes, "containerName", JOB_CONTAINER);
	json_add_string(codes, "operator", "In");
	cJSON *values = json_add_array(codes, "values");

	for (unsigned i = 0; run_exit_at(i) != NULL; i++)
		if (run_exit_at(i)->hopeless)
			json_push(values, cJSON_CreateNumber(run_exit_at(i)->status));
	/* A lost spot node is nobody's failure. */
	cJSON *disruption = k8s_push_object(rules);

	json_add_string(disruption, "action", "Ignore");
	cJSON *condition = k8s_push_object(json_add_array(disruption, "onPodConditions"));

	json_add_string(condition, "type", "DisruptionTarget");
	json_add_string(condition, "status", "True");
}

void job_indexed_spec(const struct fleet *fleet, const struct fleet_target *target,
                      struct k8s_output *out, cJSON *spec, const struct indexed_opts *opts)
{
	const struct job_section *job = fleet->job;
	struct job_pod_opts pod_opts = {.master = opts->master,
	                                .rank_field = INDEX_ANNOTATION,
	                                .token_field = JOB_UID_LABEL};
	struct job_pod pod;

	json_add_string(spec, "completionMode", "Indexed");
	json_add_int(spec, "completions", target->nodes);
	json_add_int(spec, "parallelism", target->nodes);
	job_note_nodes(fleet, target, out, spec, "parallelism");
	json_add_int(spec, "backoffLimit", opts->backoff);
	if (job->deadline_seconds > 0)
		json_add_int(spec, "activeDeadlineSeconds", job->deadline_seconds);
	if (opts->ttl)
		json_add_int(spec, "ttlSecondsAfterFinished", job->ttl_seconds);
	add_failure_policy(spec);
	job_pod(fleet, target, out, json_add_object(spec, "template"), &pod_opts, &pod);
}

static void render_service(const struct fleet *fleet, const struct fleet_target *target,
                           struct k8s_output *out)
{
	cJSON *service = k8s_add(out, "v1", "Service", fleet->namespace, target->job);
	cJSON *spec = json_add_object(service, "spec");

	json_add_string(spec, "clusterIP", "None");
	/* Ranks look each other up before they are ready. */
	json_add_bool(spec, "publishNotReadyAddresses", true);
	k8s_selector(out, json_add_object(spec, "selector"), target->job);
	cJSON *port = k8s_push_object(json_add_array(spec, "ports"));

	json_add_string(port, "name", "rendezvous");
	json_add_int(port, "port", MASTER_PORT);
	json_add_string(port, "protocol", "TCP");
}

void render_indexed_job(const struct fleet *fleet, const struct fleet_target *target,
                        struct k8s_output *out)
{
	/* One rank's death takes the others with it: a retry of the whole job fails every pod. */
	struct indexed_opts opts = {
		.master = arena_printf(&out->arena, "%s-0.%s", target->job, target->job),
		.backoff = fleet->job->retries * target->nodes,
		.ttl = true,
	};

	render_service(fleet, target, out);
	cJSON *job = k8s_add(out, "batch/v1", "Job", fleet->namespace, target->job);
	cJSON *spec = json_add_object(job, "spec");

	job_indexed_spec(fleet, target, out, spec, &opts);
	cJSON *pod = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(spec, "template"), "spec");

	json_add_string(pod, "subdomain", target->job);
}

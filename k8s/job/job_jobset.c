/*
 * The job as a JobSet of one replicated Job: the set starts all pods again when one has failed, and
 * counts restarts of the whole.
 */
#include "k8s/job/job.h"
#include "k8s/job/scheduler.h"

#define REPLICATED "workers"

void render_jobset(const struct fleet *fleet, const struct fleet_target *target,
                   struct k8s_output *out)
{
	const struct job_section *job = fleet->job;
	/* Named SET-REPLICATED-JOB-POD in the set's own subdomain. */
	struct indexed_opts opts = {.master = arena_printf(&out->arena, "%s-" REPLICATED "-0-0.%s",
	                                                   target->job, target->job)};
	cJSON *object =
		k8s_add(out, "jobset.x-k8s.io/v1alpha2", "JobSet", fleet->namespace, target->job);
	cJSON *spec = json_add_object(object, "spec");
	cJSON *network = json_add_object(spec, "network");

	json_add_bool(network, "enableDNSHostnames", true);
	json_add_bool(network, "publishNotReadyAddresses", true);
	json_add_string(network, "subdomain", target->job);
	json_add_int(json_add_object(spec, "failurePolicy"), "maxRestarts", job->retries);
	json_add_string(json_add_object(spec, "successPolicy"), "operator", "All");
	json_add_int(spec, "ttlSecondsAfterFinished", job->ttl_seconds);
	cJSON *replicated = k8s_push_object(json_add_array(spec, "replicatedJobs"));

	json_add_string(replicated, "name", REPLICATED);
	json_add_int(replicated, "replicas", 1);
	job_indexed_spec(fleet, target, out,
	                 json_add_object(json_add_object(replicated, "template"), "spec"), &opts);
}

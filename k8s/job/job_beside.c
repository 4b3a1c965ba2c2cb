/*
 * The containers beside the job's own.
 */
#include "base/attr.h"
#include "k8s/job/compile.h"
#include "k8s/job/job_internal.h"

static void add_words(cJSON *container, const char *key, const struct strlist *words)
{
	if (words->n > 0)
		k8s_add_strings(container, key, words->at, words->n);
}

/* A request of CPU without a limit, and of memory with one. */
static void add_resources(const struct container_section *c, cJSON *container)
{
	cJSON *resources = json_add_object(container, "resources");
	cJSON *requests = json_add_object(resources, "requests");

	k8s_addf(requests, "cpu", "%lldm", (long long)c->cpu_milli);
	k8s_addf(requests, "memory", "%lldMi", (long long)c->memory_mib);
	k8s_addf(json_add_object(resources, "limits"), "memory", "%lldMi",
	         (long long)c->memory_mib);
}

static cJSON *add_container(const struct fleet *fleet, const struct container_section *c,
                            const struct job_pod *pod, cJSON *array)
{
	cJSON *container = k8s_push_object(array);

	json_add_string(container, "name", c->name);
	json_add_string(container, "image", c->image != NULL ? c->image : fleet->image);
	json_add_string(container, "imagePullPolicy", "IfNotPresent");
	add_words(container, "command", &c->command);
	add_words(container, "args", &c->args);
	cJSON *env = json_add_array(container, "env");

	if (fleet->home != NULL)
		k8s_env(env, "HOME", fleet->home);
	job_put_env(env, &c->env);
	job_env_from(container, c->env_from, c->n_env_from);
	add_resources(c, container);
	job_container_rights(fleet->job, container);
	cJSON_AddItemToObject(container, "volumeMounts",
	                      cJSON_Duplicate(json_get(pod->container, "volumeMounts"), true));
	return container;
}

void job_beside(const struct fleet *fleet, const struct fleet_target *target,
                const struct job_pod *pod)
{
	const struct job_section *job = fleet->job;
	bool any = target->compile.carried || job->n_init + job->n_sidecars > 0;
	cJSON *array = any ? json_add_array(pod->spec, "initContainers") : NULL;

	/* Sidecars first: what prepares the job may need them. */
	for (size_t i = 0; i < job->n_sidecars; i++)
		json_add_string(add_container(fleet, &job->sidecars[i], pod, array),
		                "restartPolicy", "Always");
	compile_fetch(fleet, target, array, false);
	for (size_t i = 0; i < job->n_init; i++)
		add_container(fleet, &job->init[i], pod, array);
}

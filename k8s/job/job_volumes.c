/*
 * The volumes of a job's pods: scratch, shared memory, the fleet's file system, and the spec's own.
 */
#include "base/attr.h"
#include "k8s/job/compile.h"
#include "k8s/job/job_internal.h"
#include "k8s/object/workload.h"

void job_scratch(cJSON *volumes, cJSON *mounts)
{
	cJSON *volume = k8s_push_object(volumes);

	json_add_string(volume, "name", "tmp");
	json_add_object(volume, "emptyDir");
	k8s_mount(mounts, "tmp", "/tmp", false);
}

void job_data(const struct fleet *fleet, cJSON *volumes, cJSON *mounts)
{
	if (fleet->storage.claim == NULL)
		return;
	cJSON *volume = k8s_push_object(volumes);

	json_add_string(volume, "name", "data");
	json_add_string(json_add_object(volume, "persistentVolumeClaim"), "claimName",
	                fleet->storage.claim);
	k8s_mount(mounts, "data", fleet->storage.mount, false);
}

/* Shared memory between the pod's processes: the runtime's 64 MiB are too few for collectives. */
static void add_shared_memory(const struct fleet *fleet, const struct fleet_target *target,
                              struct k8s_output *out, cJSON *volumes, cJSON *mounts)
{
	cJSON *volume = k8s_push_object(volumes);

	json_add_string(volume, "name", "shm");
	cJSON *memory = json_add_object(volume, "emptyDir");

	json_add_string(memory, "medium", "Memory");
	k8s_addf(memory, "sizeLimit", "%lldMi", (long long)target->shm_mib);
	k8s_note(out, memory, "sizeLimit", fleet->job->shm_gib_at, "job.shm");
	k8s_mount(mounts, "shm", "/dev/shm", false);
}

/* ---- of the spec ---- */

static void add_empty(cJSON *volume, const char *medium, int64_t gib)
{
	cJSON *empty = json_add_object(volume, "emptyDir");

	json_add_string(empty, "medium", medium);
	k8s_addf(empty, "sizeLimit", "%lldGi", (long long)gib);
}

static void add_kind(cJSON *volume, const struct volume_mount *v)
{
	if (v->claim != NULL)
		json_add_string(json_add_object(volume, "persistentVolumeClaim"), "claimName",
		                v->claim);
	else if (v->config_map != NULL)
		json_add_string(json_add_object(volume, "configMap"), "name", v->config_map);
	else if (v->secret != NULL)
		json_add_string(json_add_object(volume, "secret"), "secretName", v->secret);
	else if (v->host != NULL)
		json_add_string(json_add_object(volume, "hostPath"), "path", v->host);
	else
		add_empty(volume, v->memory_gib > 0 ? "Memory" : NULL,
		          v->memory_gib > 0 ? v->memory_gib : v->scratch_gib);
}

static void add_volume(const struct volume_mount *v, cJSON *volumes, cJSON *mounts)
{
	cJSON *volume = k8s_push_object(volumes);
	bool given = v->config_map != NULL || v->secret != NULL;

	json_add_string(volume, "name", v->name);
	add_kind(volume, v);
	k8s_mount(mounts, v->name, v->mount, v->read_only || given);
	json_add_string(cJSON_GetArrayItem(mounts, cJSON_GetArraySize(mounts) - 1), "subPath",
	                v->sub_path);
}

void job_volumes(const struct fleet *fleet, const struct fleet_target *target,
                 struct k8s_output *out, const struct job_pod *pod)
{
	cJSON *mounts = json_add_array(pod->container, "volumeMounts");
	cJSON *volumes = json_add_array(pod->spec, "volumes");

	add_shared_memory(fleet, target, out, volumes, mounts);
	job_scratch(volumes, mounts);
	job_data(fleet, volumes, mounts);
	compile_cache(fleet, target, volumes, mounts);
	for (size_t i = 0; i < fleet->job->n_volumes; i++)
		add_volume(&fleet->job->volumes[i], volumes, mounts);
}

/*
 * The job as an MPIJob: a launcher on a system node runs mpirun over ssh to the workers. The image
 * must bring an ssh daemon and Open MPI, as the MPI operator's base images do.
 */
#include <string.h>

#include "base/attr.h"
#include "k8s/job/job_internal.h"
#include "k8s/job/scheduler.h"
#include "k8s/object/workload.h"

/* As the operator's base images have it; root's daemon is that of the system. */
#define USER_HOME "/home/mpiuser"
#define ROOT_HOME "/root"

static cJSON *add_replicas(cJSON *specs, const char *kind, int64_t replicas)
{
	cJSON *spec = json_add_object(specs, kind);

	json_add_int(spec, "replicas", replicas);
	json_add_string(spec, "restartPolicy",
	                strcmp(kind, "Launcher") == 0 ? "OnFailure" : "Never");
	return json_add_object(spec, "template");
}

static void add_mpirun(const struct fleet *fleet, const struct fleet_target *target,
                       const cJSON *worker_env, cJSON *container)
{
	const struct job_section *job = fleet->job;
	const struct strlist words[] = {job->command, job->args, target->section->args,
	                                target->trainer_args};
	cJSON *command = json_add_array(container, "command");
	AUTO(strbuf) struct strbuf count = STRBUF_INIT(32);
	int64_t ranks = target->nodes * target->processes;

	json_push_string(command, "mpirun");
	json_push_string(command, "-np");
	strbuf_addf(&count, "%lld", (long long)ranks);
	json_push_string(command, strbuf_str(&count));
	json_push_string(command, "--bind-to");
	json_push_string(command, "none");
	/* mpirun passes on only the variables that are named. */
	for (const cJSON *entry = worker_env->child; entry != NULL; entry = entry->next) {
		json_push_string(command, "-x");
		json_push_string(command, json_string(entry, "name"));
	}
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		for (size_t k = 0; k < words[i].n; k++)
			json_push_string(command, words[i].at[k]);
}

/* Open MPI's mpirun wants to be told twice. */
static void allow_root(const struct job_section *job, cJSON *env)
{
	if (job->root == NULL)
		return;
	k8s_env(env, "OMPI_ALLOW_RUN_AS_ROOT", "1");
	k8s_env(env, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
}

/* The launcher asks for no device: it waits on a system node. */
static void add_launcher(const struct fleet *fleet, const struct fleet_target *target,
                         struct k8s_output *out, const struct job_pod *worker, cJSON *template)
{
	const char *name = arena_printf(&out->arena, "%s-launcher", target->job);
	cJSON *metadata = json_add_object(template, "metadata");

	k8s_labels(out, json_add_object(metadata, "labels"), name);
	cJSON *annotations = json_add_object(metadata, "annotations");

	json_add_string(annotations, k8s_do_not_disrupt(fleet), "true");
	job_note_rights(fleet->job, annotations);
	cJSON *pod = json_add_object(template, "spec");

	json_add_string(pod, "serviceAccountName", fleet->service_account);
	json_add_bool(pod, "automountServiceAccountToken", false);
	/* mpirun hands SIGTERM on to the ranks and waits for them. */
	json_add_int(pod, "terminationGracePeriodSeconds", fleet->job->grace_seconds);
	json_add_string(json_add_object(pod, "nodeSelector"), "kubernetes.io/arch",
	                k8s_system_arch(fleet));
	job_pull_secrets(fleet->job, pod);
	if (fleet->job->n_tolerations > 0)
		job_tolerate(fleet->job, json_add_array(pod, "tolerations"));
	job_pod_rights(fleet, pod);
	cJSON *container = k8s_push_object(json_add_array(pod, "containers"));

	json_add_string(container, "name", "launcher");
	json_add_string(container, "image", fleet->image);
	json_add_string(container, "imagePullPolicy", "IfNotPresent");
	add_mpirun(fleet, target, worker->env, container);
	cJSON *env = cJSON_Duplicate(worker->env, true);

	cJSON_AddItemToObject(container, "env", env);
	allow_root(fleet->job, env);
	k8s_small_resources(container, "500m", "1Gi");
	job_container_rights(fleet->job, container);
	job_scratch(json_add_array(pod, "volumes"), json_add_array(container, "volumeMounts"));
}

static void add_daemon(const struct job_section *job, const struct job_pod *worker)
{
	static const char *const daemon[] = {"/usr/sbin/sshd", "-De", "-f",
	                                     USER_HOME "/.sshd_config"};
	enum { WITHOUT_FILE = 2 };

	cJSON_DeleteItemFromObjectCaseSensitive(worker->container, "command");
	cJSON_DeleteItemFromObjectCaseSensitive(worker->container, "args");
	k8s_add_strings(worker->container, "command", daemon,
	                job->root != NULL ? WITHOUT_FILE : ARRAY_LEN(daemon));
}

static void add_run_policy(const struct job_section *job, cJSON *spec)
{
	cJSON *policy = json_add_object(spec, "runPolicy");

	json_add_string(policy, "cleanPodPolicy", "Running");
	json_add_int(policy, "backoffLimit", job->retries);
	json_add_int(policy, "ttlSecondsAfterFinished", job->ttl_seconds);
	if (job->deadline_seconds > 0)
		json_add_int(policy, "activeDeadlineSeconds", job->deadline_seconds);
}

void render_mpi_job(const struct fleet *fleet, const struct fleet_target *target,
                    struct k8s_output *out)
{
	cJSON *object =
		k8s_add(out, "kubeflow.org/v2beta1", "MPIJob", fleet->namespace, target->job);
	cJSON *spec = json_add_object(object, "spec");
	struct job_pod_opts opts = {0};
	struct job_pod worker;

	json_add_int(spec, "slotsPerWorker", target->processes);
	json_add_string(spec, "mpiImplementation", "OpenMPI");
	json_add_string(spec, "sshAuthMountPath",
	                fleet->job->root != NULL ? ROOT_HOME "/.ssh" : USER_HOME "/.ssh");
	json_add_string(spec, "launcherCreationPolicy", "WaitForWorkersReady");
	add_run_policy(fleet->job, spec);
	cJSON *replicas = json_add_object(spec, "mpiReplicaSpecs");
	cJSON *launcher = add_replicas(replicas, "Launcher", 1);

	job_pod(fleet, target, out, add_replicas(replicas, "Worker", target->nodes), &opts,
	        &worker);
	add_launcher(fleet, target, out, &worker, launcher);
	add_daemon(fleet->job, &worker);
}

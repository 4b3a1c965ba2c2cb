/*
 * What makes a file system fit for the job, on a system node, before any accelerator is paid for:
 * its root is given to the job's user (Lustre's is root's, and fsGroup does not change shared
 * volumes), and data is brought in where the spec says so.
 */
#include <limits.h>
#include <stdio.h>

#include "base/attr.h"
#include "k8s/fleet/pins.h"
#include "k8s/job/job.h"
#include "k8s/object/workload.h"
#include "k8s/storage/storage.h"

static const struct prepare_section *section(const struct fleet *fleet)
{
	return fleet->storage.prepare;
}

/* Only the root directory: what is below may be terabytes. */
static void add_owner(const struct fleet *fleet, cJSON *containers)
{
	cJSON *container = k8s_push_object(containers);
	cJSON *command;

	json_add_string(container, "name", "owner");
	json_add_string(container, "image", pins[PIN_SHELL].image);
	json_add_string(container, "imagePullPolicy", "IfNotPresent");
	command = json_add_array(container, "command");
	json_push_string(command, "chown");
	AUTO(strbuf) struct strbuf owner = STRBUF_INIT(64);

	strbuf_addf(&owner, "%lld:%lld", (long long)fleet->job->user, (long long)fleet->job->group);
	json_push_string(command, strbuf_str(&owner));
	json_push_string(command, fleet->storage.mount);
	k8s_restricted(container);
	cJSON *context = cJSON_GetObjectItemCaseSensitive(container, "securityContext");

	json_add_bool(context, "runAsNonRoot", false);
	json_add_int(context, "runAsUser", 0);
	json_push_string(
		json_add_array(cJSON_GetObjectItemCaseSensitive(context, "capabilities"), "add"),
		"CHOWN");
	k8s_small_resources(container, "50m", "64Mi");
	k8s_mount(json_add_array(container, "volumeMounts"), "data", fleet->storage.mount, false);
}

/* From S3 by the AWS CLI, or by the trainer, or as the spec says. */
static void add_words(const struct fleet *fleet, cJSON *container)
{
	const struct prepare_section *p = section(fleet);
	bool copies = p->image == NULL && p->from != NULL;
	const char *const copy[] = {"s3", "sync", "--no-progress", p->from, fleet->storage.mount};
	char shards[PATH_MAX];
	const char *const prepare[] = {"prepare", "--source", fleet->storage.mount, "--out",
	                               shards};

	snprintf(shards, sizeof(shards), "%s/prepared", fleet->storage.mount);
	if (p->command.n > 0)
		k8s_add_strings(container, "command", p->command.at, p->command.n);
	if (p->args.n > 0)
		k8s_add_strings(container, "args", p->args.at, p->args.n);
	else if (p->command.n > 0)
		return;
	else if (copies)
		k8s_add_strings(container, "args", copy, ARRAY_LEN(copy));
	else
		k8s_add_strings(container, "args", prepare, ARRAY_LEN(prepare));
}

static const char *image_of(const struct fleet *fleet)
{
	const struct prepare_section *p = section(fleet);

	if (p->image != NULL)
		return p->image;
	return p->from != NULL ? pins[PIN_AWS_CLI].image : fleet->image;
}

static void add_preparation(const struct fleet *fleet, cJSON *pod, cJSON *volumes)
{
	cJSON *container = k8s_push_object(json_add_array(pod, "containers"));

	json_add_string(container, "name", "prepare");
	json_add_string(container, "image", image_of(fleet));
	json_add_string(container, "imagePullPolicy", "IfNotPresent");
	add_words(fleet, container);
	cJSON *env = json_add_array(container, "env");

	/* The CLI's caches: the root file system is read-only. */
	k8s_env(env, "HOME", "/tmp");
	k8s_env(env, "AWS_REGION", fleet->cluster->region);
	k8s_env(env, "DATA_DIR", fleet->storage.mount);
	if (section(fleet)->from != NULL)
		k8s_env(env, "DATA_SOURCE", section(fleet)->from);
	k8s_small_resources(container, "1", "4Gi");
	k8s_restricted(container);
	cJSON *mounts = json_add_array(container, "volumeMounts");

	job_scratch(volumes, mounts);
	job_data(fleet, volumes, mounts);
}

static const char *account_of(const struct fleet *fleet, struct k8s_output *out)
{
	const struct prepare_section *p = section(fleet);
	const char *name = fleet->storage.prepare_job;

	if (!p->set || p->service_account_role == NULL)
		return fleet->service_account;
	cJSON *account = k8s_service_account(out, fleet->namespace, name);

	if (fleet->cluster->access == ACCESS_IRSA)
		k8s_annotate(account, "eks.amazonaws.com/role-arn", p->service_account_role);
	json_add_bool(account, "automountServiceAccountToken", false);
	return name;
}

static void add_pod(const struct fleet *fleet, struct k8s_output *out, const char *account,
                    cJSON *template)
{
	cJSON *metadata = json_add_object(template, "metadata");

	k8s_labels(out, json_add_object(metadata, "labels"), fleet->storage.prepare_job);
	json_add_string(json_add_object(metadata, "annotations"), k8s_do_not_disrupt(fleet),
	                "true");
	cJSON *pod = json_add_object(template, "spec");

	json_add_string(pod, "restartPolicy", "OnFailure");
	json_add_string(pod, "serviceAccountName", account);
	json_add_bool(pod, "automountServiceAccountToken", false);
	job_pull_secrets(fleet->job, pod);
	json_add_string(json_add_object(pod, "nodeSelector"), "kubernetes.io/arch",
	                k8s_system_arch(fleet));
	job_security(fleet, pod);
	cJSON *volumes = cJSON_CreateArray();

	if (!section(fleet)->set) {
		AUTO(json) cJSON *mounts = cJSON_CreateArray();

		add_owner(fleet, json_add_array(pod, "containers"));
		job_data(fleet, volumes, mounts);
	} else {
		/* Whose a file system is that was there before is not ours to change. */
		if (fleet->storage.id == NULL)
			add_owner(fleet, json_add_array(pod, "initContainers"));
		add_preparation(fleet, pod, volumes);
	}
	cJSON_AddItemToObject(pod, "volumes", volumes);
}

void render_prepare(const struct fleet *fleet, struct k8s_output *out)
{
	const char *name = fleet->storage.prepare_job;

	k8s_file(out, section(fleet)->set ? "prepare.yaml" : "owner.yaml",
	         section(fleet)->set
	                 ? "Fills the file system; a new one is given to the job's user first."
	                 : "Gives the new file system to the job's user: its root is root's.");
	const char *account = account_of(fleet, out);
	cJSON *spec =
		json_add_object(k8s_add(out, "batch/v1", "Job", fleet->namespace, name), "spec");

	json_add_int(spec, "backoffLimit", 6);
	json_add_int(spec, "ttlSecondsAfterFinished", fleet->job->ttl_seconds);
	add_pod(fleet, out, account, json_add_object(spec, "template"));
}

/*
 * What a job's pods may do, and where they come from and go to.
 */
#include "base/attr.h"
#include "k8s/job/job_internal.h"
#include "k8s/job/pod_fields.h"

void job_security(const struct fleet *fleet, cJSON *pod_spec)
{
	cJSON *context = json_add_object(pod_spec, "securityContext");

	json_add_bool(context, "runAsNonRoot", true);
	json_add_int(context, "runAsUser", fleet->job->user);
	json_add_int(context, "runAsGroup", fleet->job->group);
	json_add_int(context, "fsGroup", fleet->job->group);
	json_add_string(json_add_object(context, "seccompProfile"), "type", "RuntimeDefault");
}

void job_pod_rights(const struct fleet *fleet, cJSON *pod_spec)
{
	if (fleet->job->root == NULL) {
		job_security(fleet, pod_spec);
		return;
	}
	cJSON *context = json_add_object(pod_spec, "securityContext");

	/* No fsGroup: root reads everything without, and ssh takes no key that a group may read. */
	json_add_int(context, "runAsUser", 0);
	json_add_int(context, "runAsGroup", 0);
	json_add_string(json_add_object(context, "seccompProfile"), "type", "RuntimeDefault");
}

void job_note_rights(const struct job_section *job, cJSON *annotations)
{
	json_add_string(annotations, "slipway/root", job->root);
	json_add_string(annotations, "slipway/writable-root", job->writable_root);
}

/* Root without the capabilities that runtimes leave it could not even read others' files. */
void job_container_rights(const struct job_section *job, cJSON *container)
{
	cJSON *context = json_add_object(container, "securityContext");

	json_add_bool(context, "allowPrivilegeEscalation", false);
	if (job->writable_root == NULL)
		json_add_bool(context, "readOnlyRootFilesystem", true);
	if (job->root == NULL)
		json_push_string(json_add_array(json_add_object(context, "capabilities"), "drop"),
		                 "ALL");
}

void job_pull_secrets(const struct job_section *job, cJSON *pod_spec)
{
	cJSON *array =
		job->pull_secrets.n > 0 ? json_add_array(pod_spec, "imagePullSecrets") : NULL;

	for (size_t i = 0; i < job->pull_secrets.n; i++)
		json_add_string(k8s_push_object(array), "name", job->pull_secrets.at[i]);
}

void job_tolerate(const struct job_section *job, cJSON *tolerations)
{
	for (size_t i = 0; i < job->n_tolerations; i++) {
		const struct toleration *t = &job->tolerations[i];
		cJSON *entry = k8s_push_object(tolerations);

		json_add_string(entry, "key", t->key);
		json_add_string(entry, "operator", t->value != NULL ? "Equal" : "Exists");
		json_add_string(entry, "value", t->value);
		if (t->effect > 0)
			json_add_string(entry, "effect",
			                choices_name(&toleration_effects, t->effect));
		if (t->seconds > 0)
			json_add_int(entry, "tolerationSeconds", t->seconds);
	}
}

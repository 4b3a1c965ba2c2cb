#include <string.h>

#include "base/attr.h"
#include "k8s/devices/devices.h"
#include "k8s/job/job_internal.h"

/* ---- what it asks for ---- */

static void add_amounts(const struct fleet *fleet, const struct fleet_target *target,
                        cJSON *amounts)
{
	if (!fleet_target_uses_dra(fleet, target))
		k8s_addf(amounts, target->resource, "%lld", (long long)target->devices);
	if (target->efa > 0)
		k8s_addf(amounts, "vpc.amazonaws.com/efa", "%lld", (long long)target->efa);
	if (target->hugepages_mib > 0)
		k8s_addf(amounts, "hugepages-2Mi", "%lldMi", (long long)target->hugepages_mib);
	k8s_addf(amounts, "cpu", "%lldm", (long long)target->cpu_milli);
	k8s_addf(amounts, "memory", "%lldMi", (long long)target->memory_mib);
}

void job_resources(const struct fleet *fleet, const struct fleet_target *target, cJSON *container)
{
	cJSON *resources = json_add_object(container, "resources");

	add_amounts(fleet, target, json_add_object(resources, "requests"));
	add_amounts(fleet, target, json_add_object(resources, "limits"));
	if (fleet_target_uses_dra(fleet, target))
		json_add_string(k8s_push_object(json_add_array(resources, "claims")), "name",
		                "devices");
}

/* "fleet.p4d.devices" */
static const char *target_path(const struct fleet_target *target, const char *key, struct arena *a)
{
	return arena_printf(a, "fleet.%s.%s", target->name, key);
}

void job_note_nodes(const struct fleet *fleet, const struct fleet_target *target,
                    struct k8s_output *out, const cJSON *object, const char *key)
{
	if (target->section->nodes > 0)
		k8s_note(out, object, key, target->section->nodes_at,
		         target_path(target, "nodes", &out->arena));
	else
		k8s_note(out, object, key, fleet->job->nodes_at, "job.nodes");
}

static void note_resources(const struct fleet_target *target, struct k8s_output *out,
                           const cJSON *requests)
{
	const struct target_section *s = target->section;

	k8s_note(out, requests, target->resource, s->devices_at,
	         target_path(target, "devices", &out->arena));
	k8s_note(out, requests, "vpc.amazonaws.com/efa", s->efa_at,
	         target_path(target, "efa", &out->arena));
	k8s_note(out, requests, "hugepages-2Mi", s->hugepages_at,
	         target_path(target, "hugepages", &out->arena));
}

void job_claim(const struct fleet_target *target, struct k8s_output *out, cJSON *pod)
{
	cJSON *claim = k8s_push_object(json_add_array(pod, "resourceClaims"));

	json_add_string(claim, "name", "devices");
	json_add_string(claim, "resourceClaimTemplateName", dra_template_name(target, &out->arena));
}

/* ---- the pod ---- */

/* One pod per node: two of them on one would share its interfaces. */
static void spread(const struct k8s_output *out, const struct fleet_target *target, cJSON *pod)
{
	if (target->nodes < 2 || !target->whole_node)
		return;
	cJSON *term = k8s_push_object(
		json_add_array(json_add_object(json_add_object(pod, "affinity"), "podAntiAffinity"),
	                       "requiredDuringSchedulingIgnoredDuringExecution"));

	json_add_string(term, "topologyKey", "kubernetes.io/hostname");
	k8s_selector(out, json_add_object(json_add_object(term, "labelSelector"), "matchLabels"),
	             target->job);
}

static void add_metadata(const struct fleet *fleet, const struct fleet_target *target,
                         struct k8s_output *out, cJSON *metadata)
{
	cJSON *labels = json_add_object(metadata, "labels");

	k8s_labels(out, labels, target->job);
	json_add_string(labels, "slipway/target", target->name);
	if (fleet->job->metrics_port > 0)
		json_add_string(labels, JOB_METRICS_LABEL, JOB_METRICS_VALUE);
	k8s_add_map(labels, &fleet->job->labels);
	cJSON *annotations = json_add_object(metadata, "annotations");

	json_add_string(annotations, k8s_do_not_disrupt(fleet), "true");
	job_note_rights(fleet->job, annotations);
	k8s_add_map(annotations, &fleet->job->annotations);
}

static void place_pod(const struct fleet *fleet, const struct fleet_target *target,
                      struct k8s_output *out, cJSON *pod)
{
	cJSON *selector = json_add_object(pod, "nodeSelector");

	json_add_string(selector, k8s_pool_label(fleet), target->pool);
	json_add_string(selector, "kubernetes.io/arch", target->arch);
	cJSON *tolerations = json_add_array(pod, "tolerations");

	k8s_tolerate_target(tolerations, target);
	job_tolerate(fleet->job, tolerations);
	spread(out, target, pod);
	if (target->gang_needs_scheduler)
		json_add_string(pod, "schedulerName", target->accelerator->part_scheduler);
	if (fleet_target_uses_dra(fleet, target))
		job_claim(target, out, pod);
}

static void add_args(const struct job_section *job, const struct fleet_target *target,
                     cJSON *container)
{
	const struct strlist lists[] = {job->args, target->section->args, target->trainer_args};
	cJSON *array = NULL;

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (size_t k = 0; k < lists[i].n; k++) {
			array = array != NULL ? array : json_add_array(container, "args");
			json_push_string(array, lists[i].at[k]);
		}
}

static void add_container(const struct fleet *fleet, const struct fleet_target *target,
                          struct k8s_output *out, struct job_pod *p)
{
	const struct job_section *job = fleet->job;
	cJSON *container = k8s_push_object(json_add_array(p->spec, "containers"));

	p->container = container;
	json_add_string(container, "name", JOB_CONTAINER);
	json_add_string(container, "image", fleet->image);
	k8s_note(out, container, "image", job->image_at, "job.image");
	json_add_string(container, "imagePullPolicy", "IfNotPresent");
	if (job->command.n > 0)
		k8s_add_strings(container, "command", job->command.at, job->command.n);
	add_args(job, target, container);
	p->env = json_add_array(container, "env");
	if (job->metrics_port > 0) {
		cJSON *port = k8s_push_object(json_add_array(container, "ports"));

		json_add_string(port, "name", "metrics");
		json_add_int(port, "containerPort", job->metrics_port);
		k8s_note(out, port, "containerPort", job->metrics_port_at, "job.metrics_port");
		json_add_string(port, "protocol", "TCP");
	}
	job_resources(fleet, target, container);
	note_resources(target, out, json_get(json_get(container, "resources"), "requests"));
	job_container_rights(fleet->job, container);
}

void job_pod(const struct fleet *fleet, const struct fleet_target *target, struct k8s_output *out,
             cJSON *template, const struct job_pod_opts *opts, struct job_pod *ret)
{
	const struct job_section *job = fleet->job;
	struct job_pod p = {.metadata = json_add_object(template, "metadata")};

	add_metadata(fleet, target, out, p.metadata);
	p.spec = json_add_object(template, "spec");
	json_add_string(p.spec, "restartPolicy", "Never");
	json_add_string(p.spec, "serviceAccountName", fleet->service_account);
	k8s_note(out, p.spec, "serviceAccountName", job->service_account_at, "job.service_account");
	json_add_bool(p.spec, "automountServiceAccountToken", false);
	json_add_bool(p.spec, "enableServiceLinks", false);
	json_add_int(p.spec, "terminationGracePeriodSeconds", job->grace_seconds);
	json_add_string(p.spec, "priorityClassName", job->priority_class);
	job_pull_secrets(fleet->job, p.spec);
	place_pod(fleet, target, out, p.spec);
	job_pod_rights(fleet, p.spec);
	add_container(fleet, target, out, &p);
	job_env(fleet, target, opts, p.env);
	job_env_from(p.container, fleet->job->env_from, fleet->job->n_env_from);
	job_volumes(fleet, target, out, &p);
	job_beside(fleet, target, &p);
	*ret = p;
}

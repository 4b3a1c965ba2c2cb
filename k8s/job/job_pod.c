#include <string.h>

#include "base/attr.h"
#include "k8s/devices/devices.h"
#include "k8s/job/job.h"
#include "k8s/object/workload.h"

/* ---- what it asks for ---- */

static void add_amounts(const struct fleet *fleet, const struct fleet_target *target,
                        cJSON *amounts)
{
	if (!fleet_target_uses_dra(fleet, target))
		k8s_addf(amounts, target->accelerator->resource, "%lld",
		         (long long)target->devices);
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

	k8s_note(out, requests, target->accelerator->resource, s->devices_at,
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

/* ---- volumes ---- */

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

/* ---- environment ---- */

struct network_env {
	const char *name, *value;
	bool (*wanted)(const struct fleet_target *target);
};

static bool over_efa(const struct fleet_target *target)
{
	return target->efa > 0;
}

/* Libfabric takes huge pages when the node has them; Karpenter does not know of them, so no pod
 * asks unless the spec says so. */
static bool without_huge_pages(const struct fleet_target *target)
{
	return over_efa(target) && target->hugepages_mib == 0;
}

static bool over_rdma(const struct fleet_target *target)
{
	return target->efa > 0 && target->shape->rdma;
}

/* Ranks of several nodes that talk through NCCL. */
static bool nccl_over_efa(const struct fleet_target *target)
{
	return target->efa > 0 && target->nodes > 1 && target->accelerator->nccl;
}

/*
 * Without EFA a collective falls back to sockets, and a job runs at a hundredth of its speed. Named
 * transports end it instead: libfabric knows no provider but FI_PROVIDER's, and NCCL no network but
 * NCCL_NET's. aws-ofi-nccl calls itself "AWS Libfabric" up to 1.11; later versions take that name
 * when NCCL_NET asks for it, so that one value fits all of them. What came of it is in the log's
 * first lines, where `slipway status` reads it.
 */
static const struct network_env job_env[] = {
	{"NCCL_NET", "AWS Libfabric", nccl_over_efa},
	{"NCCL_DEBUG", "INFO", nccl_over_efa},
	{"NCCL_DEBUG_SUBSYS", "INIT", nccl_over_efa},
};

static const struct network_env network_env[] = {
	{"FI_PROVIDER", "efa", over_efa},
	{"FI_EFA_FORK_SAFE", "1", over_efa},
	{"FI_EFA_USE_DEVICE_RDMA", "1", over_rdma},
	{"FI_EFA_USE_HUGE_PAGE", "0", without_huge_pages},
};

static void add_accelerator_env(const struct fleet_target *target, cJSON *env)
{
	const struct accelerator *accelerator = target->accelerator;

	for (size_t i = 0; i < ARRAY_LEN(accelerator->env); i++) {
		const struct accelerator_env *row = &accelerator->env[i];

		if (row->name != NULL && (target->nodes > 1 || !row->several_nodes))
			k8s_env(env, row->name, row->value);
	}
}

/* The network test does without: what its log says of sockets is what it is for. */
static void add_job_env(const struct fleet_target *target, cJSON *env)
{
	for (size_t i = 0; i < ARRAY_LEN(job_env); i++)
		if (job_env[i].wanted(target))
			k8s_env(env, job_env[i].name, job_env[i].value);
}

void job_network_env(const struct fleet_target *target, const char *master, cJSON *env)
{
	const struct accelerator *accelerator = target->accelerator;
	AUTO(strbuf) struct strbuf root = STRBUF_INIT(512);

	for (size_t i = 0; i < ARRAY_LEN(network_env); i++)
		if (network_env[i].wanted(target))
			k8s_env(env, network_env[i].name, network_env[i].value);
	add_accelerator_env(target, env);
	if (master == NULL || accelerator->root_env == NULL || target->nodes < 2)
		return;
	strbuf_addf(&root, "%s:%d", master, accelerator->root_port);
	k8s_env(env, accelerator->root_env, strbuf_str(&root));
}

static void env_number(cJSON *env, const char *name, int64_t value)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(32);

	strbuf_addf(&text, "%lld", (long long)value);
	k8s_env(env, name, strbuf_str(&text));
}

static void add_ranks(const struct fleet_target *target, const struct job_pod_opts *opts,
                      cJSON *env)
{
	if (opts->master == NULL)
		return;
	k8s_env(env, "MASTER_ADDR", opts->master);
	env_number(env, "MASTER_PORT", MASTER_PORT);
	env_number(env, "NNODES", target->nodes);
	env_number(env, "NPROC_PER_NODE", target->processes);
	env_number(env, "WORLD_SIZE", target->nodes * target->processes);
	if (opts->rank_field != NULL)
		k8s_env_field(env, "NODE_RANK", opts->rank_field);
	if (opts->token_field != NULL && target->nodes > 1)
		k8s_env_field(env, "SLIPWAY_RUN_TOKEN", opts->token_field);
}

/* A later pair of the same name wins in a container, but the API server warns of it: the spec's
 * own pairs replace ours, and the target's replace the job's. */
static void add_pairs(cJSON *env, const struct strmap *pairs)
{
	for (size_t i = 0; i < pairs->n; i++) {
		cJSON *entry = env->child;

		while (entry != NULL && strcmp(json_string(entry, "name"), pairs->at[i].key) != 0)
			entry = entry->next;
		if (entry != NULL)
			cJSON_Delete(cJSON_DetachItemViaPointer(env, entry));
		k8s_env(env, pairs->at[i].key, pairs->at[i].value);
	}
}

/* ---- the pod ---- */

void job_security(const struct fleet *fleet, cJSON *pod_spec)
{
	cJSON *context = json_add_object(pod_spec, "securityContext");

	json_add_bool(context, "runAsNonRoot", true);
	json_add_int(context, "runAsUser", fleet->job->user);
	json_add_int(context, "runAsGroup", fleet->job->group);
	json_add_int(context, "fsGroup", fleet->job->group);
	json_add_string(json_add_object(context, "seccompProfile"), "type", "RuntimeDefault");
}

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
	k8s_add_map(annotations, &fleet->job->annotations);
}

static void place_pod(const struct fleet *fleet, const struct fleet_target *target,
                      struct k8s_output *out, cJSON *pod)
{
	cJSON *selector = json_add_object(pod, "nodeSelector");

	json_add_string(selector, k8s_pool_label(fleet), target->pool);
	json_add_string(selector, "kubernetes.io/arch", target->arch);
	k8s_tolerate_target(json_add_array(pod, "tolerations"), target);
	spread(out, target, pod);
	if (target->gang_needs_scheduler)
		json_add_string(pod, "schedulerName", target->accelerator->part_scheduler);
	if (fleet_target_uses_dra(fleet, target))
		job_claim(target, out, pod);
}

static void add_words(cJSON *container, const char *key, const struct strlist *first,
                      const struct strlist *second)
{
	if (first->n + second->n == 0)
		return;
	cJSON *array = k8s_add_strings(container, key, first->at, first->n);

	for (size_t i = 0; i < second->n; i++)
		json_push_string(array, second->at[i]);
}

static void add_container(const struct fleet *fleet, const struct fleet_target *target,
                          struct k8s_output *out, struct job_pod *p)
{
	static const struct strlist nothing;
	const struct job_section *job = fleet->job;
	cJSON *container = k8s_push_object(json_add_array(p->spec, "containers"));

	p->container = container;
	json_add_string(container, "name", JOB_CONTAINER);
	json_add_string(container, "image", fleet->image);
	k8s_note(out, container, "image", job->image_at, "job.image");
	json_add_string(container, "imagePullPolicy", "IfNotPresent");
	add_words(container, "command", &job->command, &nothing);
	add_words(container, "args", &job->args, &target->section->args);
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
	k8s_restricted(container);
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
	place_pod(fleet, target, out, p.spec);
	job_security(fleet, p.spec);
	add_container(fleet, target, out, &p);
	add_ranks(target, opts, p.env);
	job_network_env(target, opts->master, p.env);
	add_job_env(target, p.env);
	if (job->metrics_port > 0)
		env_number(p.env, "METRICS_PORT", job->metrics_port);
	add_pairs(p.env, &job->env);
	add_pairs(p.env, &target->section->env);
	cJSON *mounts = json_add_array(p.container, "volumeMounts");
	cJSON *volumes = json_add_array(p.spec, "volumes");

	add_shared_memory(fleet, target, out, volumes, mounts);
	job_scratch(volumes, mounts);
	job_data(fleet, volumes, mounts);
	*ret = p;
}

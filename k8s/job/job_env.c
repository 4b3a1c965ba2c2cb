/*
 * The environment of a job's pods: ranks, network, and what the spec says.
 */
#include <string.h>

#include "base/attr.h"
#include "k8s/job/job_internal.h"

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
static const struct network_env transport_env[] = {
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
static void add_transport_env(const struct fleet_target *target, cJSON *env)
{
	for (size_t i = 0; i < ARRAY_LEN(transport_env); i++)
		if (transport_env[i].wanted(target))
			k8s_env(env, transport_env[i].name, transport_env[i].value);
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

/* ---- of the spec ---- */

static void add_source(cJSON *from, const char *kind, const char *name,
                       const struct env_variable *v)
{
	cJSON *ref = json_add_object(from, kind);

	json_add_string(ref, "name", name);
	json_add_string(ref, "key", v->key);
	if (v->optional)
		json_add_bool(ref, "optional", true);
}

static void add_variable(cJSON *env, const struct env_variable *v)
{
	cJSON *entry = k8s_push_object(env);

	json_add_string(entry, "name", v->name);
	json_add_string(entry, "value", v->value);
	if (v->value != NULL)
		return;
	cJSON *from = json_add_object(entry, "valueFrom");

	if (v->secret != NULL)
		add_source(from, "secretKeyRef", v->secret, v);
	else if (v->config_map != NULL)
		add_source(from, "configMapKeyRef", v->config_map, v);
	else
		json_add_string(json_add_object(from, "fieldRef"), "fieldPath", v->field);
}

void job_put_env(cJSON *env, const struct env_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		cJSON *entry = env->child;

		while (entry != NULL && strcmp(json_string(entry, "name"), list->at[i].name) != 0)
			entry = entry->next;
		if (entry != NULL)
			cJSON_Delete(cJSON_DetachItemViaPointer(env, entry));
		add_variable(env, &list->at[i]);
	}
}

void job_env_from(cJSON *container, const struct env_source *sources, size_t n)
{
	cJSON *array = n > 0 ? json_add_array(container, "envFrom") : NULL;

	for (size_t i = 0; i < n; i++) {
		const struct env_source *s = &sources[i];
		cJSON *entry = k8s_push_object(array);
		cJSON *ref;

		json_add_string(entry, "prefix", s->prefix);
		ref = json_add_object(entry, s->secret != NULL ? "secretRef" : "configMapRef");
		json_add_string(ref, "name", s->secret != NULL ? s->secret : s->config_map);
		if (s->optional)
			json_add_bool(ref, "optional", true);
	}
}

void job_env(const struct fleet *fleet, const struct fleet_target *target,
             const struct job_pod_opts *opts, cJSON *env)
{
	add_ranks(target, opts, env);
	job_network_env(target, opts->master, env);
	add_transport_env(target, env);
	/* Another program than the trainer is told by its own compiler's variable. */
	if (target->compile.job != NULL && target->compile.words.n == 0)
		k8s_env(env, target->accelerator->cache_env, target->compile.cache);
	if (fleet->job->metrics_port > 0)
		env_number(env, "METRICS_PORT", fleet->job->metrics_port);
	if (fleet->home != NULL)
		k8s_env(env, "HOME", fleet->home);
	job_put_env(env, &fleet->job->env);
	job_put_env(env, &target->section->env);
}

#include "k8s/deploy/collect.h"

#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/owned.h"
#include "k8s/deploy/pod.h"
#include "k8s/deploy/pulls.h"
#include "k8s/job/job.h"

/* They come with the pools. */
#define NODE_POOLS  "nodepools.karpenter.sh"
#define NODE_CLAIMS "nodeclaims.karpenter.sh"

void snapshot_done(struct snapshot *s)
{
	cJSON_Delete(s->resources);
	cJSON_Delete(s->owned);
	cJSON_Delete(s->nodes);
	cJSON_Delete(s->pods);
	cJSON_Delete(s->pulled);
	strbuf_done(&s->log);
	strbuf_done(&s->head);
	*s = (struct snapshot){0};
}

/* ---- pods ---- */

static bool is_of_job(const cJSON *pod, const char *job)
{
	const char *name = object_label(pod, "app.kubernetes.io/name");
	size_t len = strlen(job);

	return name != NULL && strncmp(name, job, len) == 0 &&
	       (name[len] == '\0' || strcmp(name + len, "-launcher") == 0);
}

int job_pods(struct kubectl *k, const struct fleet *fleet, const struct fleet_target *target,
             cJSON **ret_pods, struct err *err)
{
	AUTO(strbuf) struct strbuf selector = STRBUF_INIT(1024);
	cJSON *items, *next;

	strbuf_addf(&selector, OWNER_LABEL "=%s,app.kubernetes.io/component=%s", fleet->name,
	            jobs_renderer.name);
	const char *const args[] = {
		"get", "pods", "-n", fleet->namespace, "-l", strbuf_str(&selector),
		"-o",  "json", NULL};

	if (kubectl_list(k, args, NULL, &items, err) != 0)
		return err_wrap(err, "list the pods of '%s'", target->job);
	for (cJSON *item = items->child; item != NULL; item = next) {
		next = item->next;
		if (!is_of_job(item, target->job) || object_name(item) == NULL)
			cJSON_Delete(cJSON_DetachItemViaPointer(items, item));
	}
	*ret_pods = items;
	return 0;
}

/* ---- the log ---- */

static void read_log(struct kubectl *k, const struct fleet *fleet, const char *job, struct arena *a,
                     struct snapshot *ret)
{
	const cJSON *pod = pod_of_training(ret->pods, job);
	const char *name = pod != NULL ? object_name(pod) : NULL;
	struct kubectl_reply reply;
	struct err err = {0};

	if (name == NULL) {
		ret->log_problem = "there is no pod of rank 0";
		return;
	}
	if (object_says(json_get(pod, "status"), "phase", "Pending")) {
		ret->log_problem = arena_printf(a, "pod %s has not started", name);
		return;
	}
	const char *const args[] = {"logs",
	                            "-n",
	                            fleet->namespace,
	                            name,
	                            "-c",
	                            pod_container(pod),
	                            "--timestamps",
	                            arena_printf(a, "--tail=%d", COLLECT_LOG_LINES),
	                            NULL};

	if (kubectl_run(k, args, NULL, &reply, &err) != 0) {
		ret->log_problem = arena_strdup(a, err.msg);
		return;
	}
	ret->log = reply.out;
	strbuf_done(&reply.err_text);
}

/* By which network the ranks talk is said once, at the beginning; a job without it is as good. */
static void read_head(struct kubectl *k, const struct fleet_target *target, struct arena *a,
                      struct snapshot *ret)
{
	const cJSON *pod = pod_of_training(ret->pods, target->job);
	const char *namespace = object_namespace(pod);
	struct kubectl_reply reply;
	struct err ignored = {0};

	if (!target_talks_over_efa(target) || ret->log_problem != NULL || namespace == NULL)
		return;
	const char *const args[] = {"logs",
	                            "-n",
	                            namespace,
	                            object_name(pod),
	                            "-c",
	                            pod_container(pod),
	                            arena_printf(a, "--limit-bytes=%d", COLLECT_HEAD_BYTES),
	                            NULL};

	if (kubectl_run(k, args, NULL, &reply, &ignored) != 0)
		return;
	ret->head = reply.out;
	strbuf_done(&reply.err_text);
}

/* ---- nodes ---- */

static int read_nodes(struct kubectl *k, const struct fleet *fleet, struct snapshot *ret,
                      struct err *err)
{
	AUTO(strbuf) struct strbuf selector = STRBUF_INIT(4096);

	strbuf_addf(&selector, "%s in (", k8s_pool_label(fleet));
	for (size_t i = 0; i < fleet->n_targets; i++)
		strbuf_addf(&selector, "%s%s", i > 0 ? "," : "", fleet->targets[i].pool);
	strbuf_addc(&selector, ')');
	const char *const args[] = {
		"get",
		resource_is_known(ret->resources, NODE_POOLS) ? "nodes," NODE_CLAIMS : "nodes",
		"-l",
		strbuf_str(&selector),
		"-o",
		"json",
		NULL};

	if (kubectl_list(k, args, NULL, &ret->nodes, err) != 0)
		return err_wrap(err, "list the fleet's nodes");
	return 0;
}

static int read_owned(struct kubectl *k, const struct owned_query *asked, struct snapshot *ret,
                      struct err *err)
{
	struct owned_query query = *asked;
	struct stage_list nothing = {0};

	if (stages_check_kinds(k, &nothing, &ret->resources, err) != 0)
		return -1;
	query.resources = ret->resources;
	return owned_list(k, &query, &ret->owned, NULL, err);
}

int snapshot_jobs(struct kubectl *k, const struct fleet *fleet, struct snapshot *ret,
                  struct err *err)
{
	const char *own[] = {fleet->namespace};
	struct owned_query query = {
		.owner = fleet->name, .namespaces = {own, ARRAY_LEN(own)}, .jobs_only = true};

	*ret = (struct snapshot){0};
	return read_owned(k, &query, ret, err);
}

int snapshot_take(struct kubectl *k, const struct k8s_output *out, struct arena *a,
                  struct snapshot *ret, struct err *err)
{
	const struct fleet *fleet = out->fleet;
	const struct fleet_target *target;
	struct owned_query query = {.owner = fleet->name,
	                            .namespaces = owned_namespaces(fleet, out, a)};

	*ret = (struct snapshot){0};
	if (read_owned(k, &query, ret, err) != 0)
		return -1;
	if (fleet->n_targets > 0 && read_nodes(k, fleet, ret, err) != 0)
		return -1;
	target = status_target(fleet, ret->owned);
	if (target == NULL)
		return 0;
	if (job_pods(k, fleet, target, &ret->pods, err) != 0)
		return -1;
	ret->pulled = pulls_list(k, fleet->namespace);
	read_log(k, fleet, target->job, a, ret);
	read_head(k, target, a, ret);
	return 0;
}

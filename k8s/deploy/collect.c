#include "k8s/deploy/collect.h"

#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/ahead.h"
#include "k8s/deploy/compiling.h"
#include "k8s/deploy/owned.h"
#include "k8s/deploy/pod.h"
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
	strbuf_done(&s->compiling);
	*s = (struct snapshot){0};
}

/* ---- what is asked ---- */

/* A call: its words, and a text that one of them is. */
struct asked_call {
	const char *words[12];
	struct strbuf text;
};

static void asked_call_done(struct asked_call *q)
{
	strbuf_done(&q->text);
}

#define ASKED_CALL                                                                                 \
	{                                                                                          \
		.text = STRBUF_INIT(4096)                                                          \
	}

static void ask_pods(const struct fleet *fleet, struct asked_call *ret)
{
	strbuf_addf(&ret->text, OWNER_LABEL "=%s,app.kubernetes.io/component=%s", fleet->name,
	            jobs_renderer.name);
	const char *const words[] = {
		"get", "pods", "-n", fleet->namespace, "-l", strbuf_str(&ret->text), "-o", "json"};

	memcpy(ret->words, words, sizeof(words));
}

static void ask_nodes(const struct fleet *fleet, const cJSON *resources, struct asked_call *ret)
{
	bool claims = resource_is_known(resources, NODE_POOLS);

	strbuf_addf(&ret->text, "%s in (", k8s_pool_label(fleet));
	for (size_t i = 0; i < fleet->n_targets; i++)
		strbuf_addf(&ret->text, "%s%s", i > 0 ? "," : "", fleet->targets[i].pool);
	if (fleet->compile_pool != NULL)
		strbuf_addf(&ret->text, ",%s", fleet->compile_pool);
	strbuf_addc(&ret->text, ')');
	const char *const words[] = {"get", claims ? "nodes," NODE_CLAIMS : "nodes",
	                             "-l",  strbuf_str(&ret->text),
	                             "-o",  "json"};

	memcpy(ret->words, words, sizeof(words));
}

static void ask_pulls(const struct fleet *fleet, struct asked_call *ret)
{
	const char *const words[] = {
		"get",           "events", "-n",  fleet->namespace, "--field-selector",
		"reason=Pulled", "-o",     "json"};

	memcpy(ret->words, words, sizeof(words));
}

static void ask_log(const struct fleet *fleet, const cJSON *pod, struct asked_call *ret)
{
	strbuf_addf(&ret->text, "--tail=%d", COLLECT_LOG_LINES);
	const char *const words[] = {"logs",
	                             "-n",
	                             fleet->namespace,
	                             object_name(pod),
	                             "-c",
	                             pod_container(pod),
	                             "--timestamps",
	                             strbuf_str(&ret->text)};

	memcpy(ret->words, words, sizeof(words));
}

/* By which network the ranks talk is said once, at the beginning. */
static void ask_head(const struct fleet *fleet, const cJSON *pod, struct asked_call *ret)
{
	strbuf_addf(&ret->text, "--limit-bytes=%d", COLLECT_HEAD_BYTES);
	const char *const words[] = {"logs",
	                             "-n",
	                             fleet->namespace,
	                             object_name(pod),
	                             "-c",
	                             pod_container(pod),
	                             strbuf_str(&ret->text)};

	memcpy(ret->words, words, sizeof(words));
}

/* ---- pods ---- */

static bool is_of_job(const cJSON *pod, const char *job)
{
	const char *name = object_label(pod, "app.kubernetes.io/name");
	size_t len = strlen(job);

	return name != NULL && strncmp(name, job, len) == 0 &&
	       (name[len] == '\0' || strcmp(name + len, "-launcher") == 0);
}

static int list_pods(struct kubectl *k, const struct fleet *fleet, cJSON **ret, struct err *err)
{
	AUTO(asked_call) struct asked_call pods = ASKED_CALL;

	ask_pods(fleet, &pods);
	if (kubectl_list(k, pods.words, NULL, ret, err) != 0)
		return err_wrap(err, "list the pods of '%s'", fleet->name);
	return 0;
}

static void keep_pods(cJSON *items, const char *job)
{
	cJSON *next;

	for (cJSON *item = items != NULL ? items->child : NULL; item != NULL; item = next) {
		next = item->next;
		if (!is_of_job(item, job) || object_name(item) == NULL)
			cJSON_Delete(cJSON_DetachItemViaPointer(items, item));
	}
}

int job_pods(struct kubectl *k, const struct fleet *fleet, const struct fleet_target *target,
             cJSON **ret_pods, struct err *err)
{
	if (list_pods(k, fleet, ret_pods, err) != 0)
		return -1;
	keep_pods(*ret_pods, target->job);
	return 0;
}

/* Who may not list events still has all the rest. */
static cJSON *read_pulls(struct kubectl *k, const struct fleet *fleet)
{
	AUTO(asked_call) struct asked_call pulls = ASKED_CALL;
	struct err ignored = {0};
	cJSON *events;

	ask_pulls(fleet, &pulls);
	return kubectl_list(k, pulls.words, NULL, &events, &ignored) == 0 ? events
	                                                                  : cJSON_CreateArray();
}

/* ---- the log ---- */

static bool is_pending(const cJSON *pod)
{
	return object_says(json_get(pod, "status"), "phase", "Pending");
}

/* Of the first target whose pods are there: that it is the one which is asked about is likely. */
static void begin_logs(struct kubectl_ahead *k, const struct fleet *fleet, const cJSON *pods)
{
	const cJSON *pod = NULL;

	for (size_t i = 0; i < fleet->n_targets && pod == NULL; i++) {
		AUTO(asked_call) struct asked_call log = ASKED_CALL, head = ASKED_CALL;

		pod = pod_of_training(pods, fleet->targets[i].job);
		if (object_name(pod) == NULL || is_pending(pod))
			continue;
		ask_log(fleet, pod, &log);
		kubectl_ahead_begin(k, log.words);
		ask_head(fleet, pod, &head);
		if (target_talks_over_efa(&fleet->targets[i]))
			kubectl_ahead_begin(k, head.words);
	}
}

static int read_log(struct kubectl *k, const struct asked_call *log, struct strbuf *ret,
                    struct err *err)
{
	struct kubectl_reply reply;

	if (kubectl_run(k, log->words, NULL, &reply, err) != 0)
		return -1;
	*ret = reply.out;
	strbuf_done(&reply.err_text);
	return 0;
}

/* Its end, and, where the ranks talk over EFA, its beginning: a job without that is as good. */
static void read_logs(struct kubectl *k, const struct fleet *fleet,
                      const struct fleet_target *target, struct arena *a, struct snapshot *ret)
{
	AUTO(asked_call) struct asked_call log = ASKED_CALL, head = ASKED_CALL;
	const cJSON *pod = pod_of_training(ret->pods, target->job);
	const char *name = object_name(pod);
	struct err err = {0}, ignored = {0};

	if (name == NULL) {
		ret->log_problem = "there is no pod of rank 0";
		return;
	}
	if (is_pending(pod)) {
		ret->log_problem = arena_printf(a, "pod %s has not started", name);
		return;
	}
	ask_log(fleet, pod, &log);
	ask_head(fleet, pod, &head);
	if (read_log(k, &log, &ret->log, &err) != 0)
		ret->log_problem = arena_strdup(a, err.msg);
	else if (target_talks_over_efa(target) && read_log(k, &head, &ret->head, &ignored) != 0)
		strbuf_reset(&ret->head);
}

/* Of the one that is at work: a fleet compiles for one target at a time. */
static void read_compiling(struct kubectl *k, const struct fleet *fleet, struct snapshot *ret)
{
	char why[WHY_MAX];

	ret->compiling = (struct strbuf)STRBUF_INIT(COMPILING_LOG_MAX);
	for (const cJSON *o = object_first(ret->owned); o != NULL; o = o->next)
		if (is_compile_job(o) && object_name(o) != NULL && ret->compiling.len == 0 &&
		    object_readiness(o, why) == NOT_YET)
			compiling_log(k, fleet->namespace, object_name(o), &ret->compiling);
}

/* ---- all of it ---- */

static int read_resources(struct kubectl *k, struct snapshot *ret, struct err *err)
{
	struct stage_list nothing = {0};

	return stages_check_kinds(k, &nothing, &ret->resources, err);
}

static int read_owned(struct kubectl *k, const struct owned_query *asked, struct snapshot *ret,
                      struct err *err)
{
	struct owned_query query = *asked;

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
	return read_resources(k, ret, err) != 0 ? -1 : read_owned(k, &query, ret, err);
}

/* What can be known without the objects is asked for while they are listed: the pods with the kinds
 * that the cluster has, the nodes and the log with the objects themselves. */
static int read_lists(struct kubectl_ahead *k, const struct k8s_output *out, struct arena *a,
                      struct snapshot *ret, struct err *err)
{
	AUTO(asked_call)
	struct asked_call pods = ASKED_CALL, nodes = ASKED_CALL, pulls = ASKED_CALL;
	const struct fleet *fleet = out->fleet;
	struct owned_query query = {.owner = fleet->name,
	                            .namespaces = owned_namespaces(fleet, out, a)};
	struct err ignored = {0};

	ask_pods(fleet, &pods);
	kubectl_ahead_begin(k, pods.words);
	if (read_resources(&k->base, ret, err) != 0)
		return -1;
	ask_nodes(fleet, ret->resources, &nodes);
	ask_pulls(fleet, &pulls);
	kubectl_ahead_begin(k, nodes.words);
	kubectl_ahead_begin(k, pulls.words);
	/* Where there is no job, nobody misses them. */
	if (list_pods(&k->base, fleet, &ret->pods, &ignored) == 0)
		begin_logs(k, fleet, ret->pods);
	if (read_owned(&k->base, &query, ret, err) != 0)
		return -1;
	if (kubectl_list(&k->base, nodes.words, NULL, &ret->nodes, err) != 0)
		return err_wrap(err, "list the fleet's nodes");
	return 0;
}

static int read_objects(struct kubectl *k, const struct k8s_output *out, struct arena *a,
                        struct snapshot *ret, struct err *err)
{
	struct owned_query query = {.owner = out->fleet->name,
	                            .namespaces = owned_namespaces(out->fleet, out, a)};

	return read_resources(k, ret, err) != 0 ? -1 : read_owned(k, &query, ret, err);
}

int snapshot_take(struct kubectl *k, const struct k8s_output *out, struct arena *a,
                  struct snapshot *ret, struct err *err)
{
	const struct fleet *fleet = out->fleet;
	const struct fleet_target *target;
	AUTO(kubectl_ahead) struct kubectl_ahead ahead = {0};

	*ret = (struct snapshot){0};
	kubectl_ahead_init(&ahead, k);
	if (fleet->n_targets == 0)
		return read_objects(k, out, a, ret, err);
	if (read_lists(&ahead, out, a, ret, err) != 0)
		return -1;
	target = status_target(fleet, ret->owned);
	if (ret->pods == NULL && target != NULL && list_pods(k, fleet, &ret->pods, err) != 0)
		return -1;
	keep_pods(ret->pods, target != NULL ? target->job : "");
	if (target == NULL) {
		read_compiling(&ahead.base, fleet, ret);
		return 0;
	}
	ret->pulled = read_pulls(&ahead.base, fleet);
	read_logs(&ahead.base, fleet, target, a, ret);
	return 0;
}

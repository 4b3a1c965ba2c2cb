#include "k8s/deploy/collect.h"

#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/ahead.h"
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

int job_pods(struct kubectl *k, const struct fleet *fleet, const struct fleet_target *target,
             cJSON **ret_pods, struct err *err)
{
	AUTO(asked_call) struct asked_call pods = ASKED_CALL;
	cJSON *items, *next;

	ask_pods(fleet, &pods);
	if (kubectl_list(k, pods.words, NULL, &items, err) != 0)
		return err_wrap(err, "list the pods of '%s'", target->job);
	for (cJSON *item = items->child; item != NULL; item = next) {
		next = item->next;
		if (!is_of_job(item, target->job) || object_name(item) == NULL)
			cJSON_Delete(cJSON_DetachItemViaPointer(items, item));
	}
	*ret_pods = items;
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

/* Its end, and, where the ranks talk over EFA, its beginning at the same time: a job without that
 * is as good. */
static void read_logs(struct kubectl_ahead *k, const struct fleet *fleet,
                      const struct fleet_target *target, struct arena *a, struct snapshot *ret)
{
	AUTO(asked_call) struct asked_call log = ASKED_CALL, head = ASKED_CALL;
	const cJSON *pod = pod_of_training(ret->pods, target->job);
	const char *name = object_name(pod);
	bool wants_head = target_talks_over_efa(target);
	struct err err = {0}, ignored = {0};

	if (name == NULL) {
		ret->log_problem = "there is no pod of rank 0";
		return;
	}
	if (object_says(json_get(pod, "status"), "phase", "Pending")) {
		ret->log_problem = arena_printf(a, "pod %s has not started", name);
		return;
	}
	ask_log(fleet, pod, &log);
	ask_head(fleet, pod, &head);
	if (wants_head)
		kubectl_ahead_begin(k, head.words);
	if (read_log(&k->base, &log, &ret->log, &err) != 0)
		ret->log_problem = arena_strdup(a, err.msg);
	else if (wants_head && read_log(&k->base, &head, &ret->head, &ignored) != 0)
		strbuf_reset(&ret->head);
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

/* What depends on nothing is asked for while the objects are listed. */
static int read_lists(struct kubectl_ahead *k, const struct k8s_output *out, struct arena *a,
                      struct snapshot *ret, struct err *err)
{
	AUTO(asked_call)
	struct asked_call pods = ASKED_CALL,
			  nodes = ASKED_CALL, pulls = ASKED_CALL;
	const struct fleet *fleet = out->fleet;
	struct owned_query query = {.owner = fleet->name,
	                            .namespaces = owned_namespaces(fleet, out, a)};

	ask_pods(fleet, &pods);
	if (fleet->n_targets > 0)
		kubectl_ahead_begin(k, pods.words);
	if (read_resources(&k->base, ret, err) != 0)
		return -1;
	ask_nodes(fleet, ret->resources, &nodes);
	ask_pulls(fleet, &pulls);
	if (fleet->n_targets > 0) {
		kubectl_ahead_begin(k, nodes.words);
		kubectl_ahead_begin(k, pulls.words);
	}
	if (read_owned(&k->base, &query, ret, err) != 0)
		return -1;
	if (fleet->n_targets > 0 &&
	    kubectl_list(&k->base, nodes.words, NULL, &ret->nodes, err) != 0)
		return err_wrap(err, "list the fleet's nodes");
	return 0;
}

int snapshot_take(struct kubectl *k, const struct k8s_output *out, struct arena *a,
                  struct snapshot *ret, struct err *err)
{
	const struct fleet *fleet = out->fleet;
	const struct fleet_target *target;
	AUTO(kubectl_ahead) struct kubectl_ahead ahead = {0};

	*ret = (struct snapshot){0};
	kubectl_ahead_init(&ahead, k);
	if (read_lists(&ahead, out, a, ret, err) != 0)
		return -1;
	target = status_target(fleet, ret->owned);
	if (target == NULL)
		return 0;
	if (job_pods(&ahead.base, fleet, target, &ret->pods, err) != 0)
		return -1;
	ret->pulled = read_pulls(&ahead.base, fleet);
	read_logs(&ahead, fleet, target, a, ret);
	return 0;
}

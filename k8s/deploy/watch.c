/* Reading what capacity.c observes. */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/capacity.h"

/* Permission to list nodes and events may be missing: then time alone decides. */
static int list_if_allowed(struct kubectl *k, const char *const *args, cJSON **ret, struct err *err)
{
	if (kubectl_list(k, args, NULL, ret, err) == 0)
		return 0;
	if (err->code != ERR_DENIED && err->code != ERR_NOT_FOUND)
		return -1;
	progress_note(k->progress, "%s; continuing without it", err->msg);
	*err = (struct err){0};
	*ret = cJSON_CreateArray();
	return 0;
}

static int read_job(struct kubectl *k, const struct watch_opts *opts, cJSON **ret, struct err *err)
{
	AUTO(json) cJSON *items = cJSON_CreateArray();

	for (cJSON *o = opts->items->child; o != NULL; o = o->next)
		if (is_job_of(o, opts->target))
			cJSON_AddItemReferenceToArray(items, o);
	return kubectl_look(k, items, ret, err);
}

/* ---- where things stand ---- */

static void query_of(struct seen_query *q, const char *resource, const char *namespace,
                     const char *flag)
{
	size_t n = 0;

	q->words[n++] = resource;
	if (namespace != NULL) {
		q->words[n++] = "-n";
		q->words[n++] = namespace;
	}
	q->words[n++] = flag;
	q->words[n++] = q->selector;
	q->words[n] = NULL;
}

static bool query_job(const struct watch_opts *opts, struct seen_query *q)
{
	const cJSON *job = job_find(opts->items, opts->target);

	if (job == NULL || kind_of(job) == NULL)
		return false;
	/* By name, which permissions may be bound to. */
	snprintf(q->selector, sizeof(q->selector), "metadata.name=%s", opts->target->job);
	query_of(q, kind_of(job)->resource, opts->fleet->namespace, "--field-selector");
	return true;
}

static bool query_pods(const struct watch_opts *opts, struct seen_query *q)
{
	snprintf(q->selector, sizeof(q->selector),
	         "app.kubernetes.io/name=%s,app.kubernetes.io/instance=%s", opts->target->job,
	         opts->fleet->name);
	query_of(q, "pods", opts->fleet->namespace, "-l");
	return true;
}

static bool query_claims(const struct watch_opts *opts, struct seen_query *q)
{
	/* The oldest Karpenter has machines instead, of another form. */
	if (opts->fleet->karpenter == KARPENTER_V1ALPHA5)
		return false;
	snprintf(q->selector, sizeof(q->selector), "%s=%s", k8s_pool_label(opts->fleet),
	         opts->target->pool);
	query_of(q, "nodeclaims.karpenter.sh", NULL, "-l");
	return true;
}

static bool query_warnings(const char *namespace, struct seen_query *q)
{
	snprintf(q->selector, sizeof(q->selector), "type=Warning");
	query_of(q, "events", namespace, "--field-selector");
	return true;
}

/* Those of pods are in their namespace, those of claims and pools in "default". */
static bool query_events(const struct watch_opts *opts, struct seen_query *q)
{
	return query_warnings(opts->fleet->namespace, q);
}

static bool query_claim_events(const struct watch_opts *opts, struct seen_query *q)
{
	return strcmp(opts->fleet->namespace, "default") != 0 && query_warnings("default", q);
}

static const struct {
	bool (*query)(const struct watch_opts *opts, struct seen_query *q);
	bool unstarted;
} seens[] = {
	[SEEN_JOB] = {query_job, false},
	[SEEN_PODS] = {query_pods, false},
	[SEEN_CLAIMS] = {query_claims, true},
	[SEEN_EVENTS] = {query_events, true},
	[SEEN_CLAIM_EVENTS] = {query_claim_events, true},
};
_Static_assert(ARRAY_LEN(seens) == SEEN_KINDS, "seens: one per enum seen");

bool seen_query(const struct watch_opts *opts, enum seen kind, struct seen_query *ret)
{
	return seens[kind].query(opts, ret);
}

bool seen_unstarted(enum seen kind)
{
	return seens[kind].unstarted;
}

/* ---- reading it ---- */

static void move_items(cJSON *from, cJSON *to)
{
	cJSON *next;

	for (cJSON *o = from->child; o != NULL; o = next) {
		next = o->next;
		json_push(to, cJSON_DetachItemViaPointer(from, o));
	}
}

static int add_seen(struct kubectl *k, const struct watch_opts *opts, enum seen kind, cJSON *into,
                    struct err *err)
{
	const char *args[12] = {"get"};
	AUTO(json) cJSON *more = NULL;
	struct seen_query query;
	size_t n = 1;
	int rc;

	if (!seen_query(opts, kind, &query))
		return 0;
	for (size_t i = 0; query.words[i] != NULL; i++)
		args[n++] = query.words[i];
	args[n++] = "-o";
	args[n++] = "json";
	rc = seen_unstarted(kind) ? list_if_allowed(k, args, &more, err)
	                          : kubectl_list(k, args, NULL, &more, err);
	if (rc == 0)
		move_items(more, into);
	return rc;
}

int capacity_pods(struct kubectl *k, const struct watch_opts *opts, cJSON **ret, struct err *err)
{
	*ret = cJSON_CreateArray();
	return add_seen(k, opts, SEEN_PODS, *ret, err);
}

int capacity_look(struct kubectl *k, const struct watch_opts *opts, struct observation *ret,
                  struct err *err)
{
	AUTO(json) cJSON *jobs = NULL;
	AUTO(json) cJSON *pods = NULL;
	AUTO(json) cJSON *claims = cJSON_CreateArray();
	AUTO(json) cJSON *events = cJSON_CreateArray();
	struct sight sight = {.since_ms = opts->since_ms};
	int64_t now;

	if (read_job(k, opts, &jobs, err) != 0 || capacity_pods(k, opts, &pods, err) != 0)
		return -1;
	sight.job = jobs->child;
	sight.pods = pods;
	now = k->clock->now_ms(k->clock);
	capacity_observe(opts->target, &sight, now, ret);
	if (ret->phase != JOB_WAITING)
		return 0;
	if (add_seen(k, opts, SEEN_CLAIMS, claims, err) != 0 ||
	    add_seen(k, opts, SEEN_EVENTS, events, err) != 0 ||
	    add_seen(k, opts, SEEN_CLAIM_EVENTS, events, err) != 0)
		return -1;
	sight.claims = claims;
	sight.events = events;
	capacity_observe(opts->target, &sight, now, ret);
	return 0;
}

int capacity_pods_gone(struct kubectl *k, const struct watch_opts *opts, bool *ret, struct err *err)
{
	AUTO(json) cJSON *pods = NULL;

	if (capacity_pods(k, opts, &pods, err) != 0)
		return -1;
	*ret = true;
	for (const cJSON *pod = pods->child; pod != NULL; pod = pod->next) {
		const char *phase = object_phase(pod);

		*ret = *ret && phase != NULL &&
		       (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);
	}
	return 0;
}

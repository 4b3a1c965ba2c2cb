/* Reading what capacity.c observes. */
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

int capacity_pods(struct kubectl *k, const struct watch_opts *opts, cJSON **ret, struct err *err)
{
	AUTO(strbuf) struct strbuf selector = STRBUF_INIT(512);

	strbuf_addf(&selector, "app.kubernetes.io/name=%s,app.kubernetes.io/instance=%s",
	            opts->target->job, opts->fleet->name);
	const char *const args[] = {
		"get", "pods", "-n", opts->fleet->namespace, "-l", strbuf_str(&selector),
		"-o",  "json", NULL};

	return kubectl_list(k, args, NULL, ret, err);
}

static int read_claims(struct kubectl *k, const struct watch_opts *opts, cJSON **ret,
                       struct err *err)
{
	AUTO(strbuf) struct strbuf selector = STRBUF_INIT(512);

	/* The oldest Karpenter has machines instead, of another form. */
	if (opts->fleet->karpenter == KARPENTER_V1ALPHA5) {
		*ret = cJSON_CreateArray();
		return 0;
	}
	strbuf_addf(&selector, "%s=%s", k8s_pool_label(opts->fleet), opts->target->pool);
	const char *const args[] = {
		"get", "nodeclaims.karpenter.sh", "-l", strbuf_str(&selector), "-o", "json", NULL};

	return list_if_allowed(k, args, ret, err);
}

static int add_events(struct kubectl *k, const char *namespace, cJSON *events, struct err *err)
{
	const char *const args[] = {"get",          "events", "-n",   namespace, "--field-selector",
	                            "type=Warning", "-o",     "json", NULL};
	AUTO(json) cJSON *more = NULL;
	cJSON *next;

	if (list_if_allowed(k, args, &more, err) != 0)
		return -1;
	for (cJSON *e = more->child; e != NULL; e = next) {
		next = e->next;
		json_push(events, cJSON_DetachItemViaPointer(more, e));
	}
	return 0;
}

/* Those of pods are in their namespace, those of claims and pools in "default". */
static int read_events(struct kubectl *k, const struct watch_opts *opts, cJSON *events,
                       struct err *err)
{
	if (add_events(k, opts->fleet->namespace, events, err) != 0)
		return -1;
	if (strcmp(opts->fleet->namespace, "default") == 0)
		return 0;
	return add_events(k, "default", events, err);
}

int capacity_look(struct kubectl *k, const struct watch_opts *opts, struct observation *ret,
                  struct err *err)
{
	AUTO(json) cJSON *jobs = NULL;
	AUTO(json) cJSON *pods = NULL;
	AUTO(json) cJSON *claims = NULL;
	AUTO(json) cJSON *events = cJSON_CreateArray();
	struct sight sight = {0};
	int64_t now;

	if (read_job(k, opts, &jobs, err) != 0 || capacity_pods(k, opts, &pods, err) != 0)
		return -1;
	sight = (struct sight){.job = jobs->child, .pods = pods};
	now = k->clock->now_ms(k->clock);
	capacity_observe(opts->target, &sight, now, ret);
	if (ret->phase != JOB_WAITING)
		return 0;
	if (read_claims(k, opts, &claims, err) != 0 || read_events(k, opts, events, err) != 0)
		return -1;
	sight.claims = claims;
	sight.events = events;
	capacity_observe(opts->target, &sight, now, ret);
	return 0;
}

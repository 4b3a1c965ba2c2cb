#include "k8s/deploy/gone.h"

#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/finalizers.h"

/* Most objects are gone at once, nodes take minutes. */
enum { POLL_FIRST_MS = 250, POLL_MS = 5000, TOLD_MAX = 3 };

int gone_ask(struct kubectl *k, const cJSON *object, struct err *err)
{
	const char *namespace = object_namespace(object);
	AUTO(strbuf) struct strbuf resource = STRBUF_INIT(512);
	struct kubectl_reply reply;

	object_add_resource(object, &resource);
	const char *const args[] = {"delete",
	                            strbuf_str(&resource),
	                            object_name(object),
	                            "--ignore-not-found",
	                            "--wait=false",
	                            namespace != NULL ? "-n" : NULL,
	                            namespace,
	                            NULL};

	if (kubectl_run(k, args, NULL, &reply, err) != 0)
		return err_wrap(err, "delete %s '%s'", json_string(object, "kind"),
		                object_name(object));
	kubectl_reply_done(&reply);
	return 0;
}

/* ---- what is still there ---- */

static const char *uid_of(const cJSON *object)
{
	return json_string(json_get(object, "metadata"), "uid");
}

/* Of the same name but younger is another's: it is not awaited. */
static void drop_successors(const cJSON *asked, cJSON *live)
{
	cJSON *next;

	for (cJSON *item = live->child; item != NULL; item = next) {
		const cJSON *old = object_find(asked, item);
		const char *was = uid_of(old), *is = uid_of(item);

		next = item->next;
		if (old == NULL || (was != NULL && is != NULL && strcmp(was, is) != 0))
			cJSON_Delete(cJSON_DetachItemViaPointer(live, item));
	}
}

static int look(struct kubectl *k, const struct gone_wait *wait, cJSON **ret, struct err *err)
{
	if (wait->objects == NULL)
		return kubectl_list(k, wait->args, NULL, ret, err);
	if (kubectl_look(k, wait->objects, ret, err) != 0)
		return -1;
	drop_successors(wait->objects, *ret);
	return 0;
}

/* ---- what is said of it ---- */

static void tell_await(struct kubectl *k, const struct gone_wait *wait, const cJSON *live,
                       int *said)
{
	int n = cJSON_GetArraySize(live);

	if (n == *said)
		return;
	*said = n;
	if (n == 1)
		progress_await(k->progress, "%s %s", json_string(live->child, "kind"),
		               object_name(live->child));
	else
		progress_await(k->progress, "%d %s left", n, wait->what);
}

static int tell_late(const struct gone_wait *wait, const cJSON *live, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(8192);
	const char *command = NULL;
	int n = cJSON_GetArraySize(live), told = 0;

	for (const cJSON *o = live->child; o != NULL && told < TOLD_MAX; o = o->next, told++) {
		strbuf_adds(&text, told > 0 ? ". " : "");
		finalizers_tell(o, &text);
		if (command == NULL)
			command = finalizers_look(o);
	}
	if (n > told)
		strbuf_addf(&text, ". And %d more", n - told);
	err_set(err, ERR_NETWORK, "%d %s still exist%s: %.800s", n, wait->what, n == 1 ? "s" : "",
	        strbuf_str(&text));
	return err_hint(err,
	                "Does that controller run%s%s? Run the same command again to continue; "
	                "--force-finalizers removes finalizers that nothing serves any more.",
	                command != NULL ? ": " : "", command != NULL ? command : "");
}

/* ---- force ---- */

/* A node whose controller is no more is not even being deleted. */
static int force_one(struct kubectl *k, const cJSON *object, const struct gone_opts *opts,
                     struct err *err)
{
	if (!object_is_leaving(object) && gone_ask(k, object, err) != 0)
		return -1;
	if (finalizers_remove(k, object, err) != 0)
		return -1;
	finalizers_tell_risk(object, opts->left);
	return 0;
}

static int force(struct kubectl *k, const cJSON *live, const struct gone_opts *opts,
                 bool *ret_forced, struct err *err)
{
	AUTO(strbuf) struct strbuf what = STRBUF_INIT(65536);

	*ret_forced = false;
	for (const cJSON *o = live->child; o != NULL; o = o->next) {
		if (!object_is_held(o))
			continue;
		finalizers_tell(o, &what);
		strbuf_addc(&what, '\n');
	}
	if (what.len == 0 || !opts->may_force(opts->ctx, strbuf_str(&what)))
		return 0;
	for (const cJSON *o = live->child; o != NULL; o = o->next)
		if (object_is_held(o) && force_one(k, o, opts, err) != 0)
			return -1;
	*ret_forced = true;
	return 0;
}

/* ---- waiting ---- */

struct waiting {
	const struct gone_wait *wait;
	const struct gone_opts *opts;
	int64_t deadline_ms;
	bool forced;
	int said; /* how many were left when that was said */
};

static int64_t now_of(struct kubectl *k)
{
	return k->clock->now_ms(k->clock);
}

/* Time is up: by force, once, or not at all. */
static int at_deadline(struct kubectl *k, struct waiting *w, const cJSON *live, struct err *err)
{
	if (w->opts->may_force == NULL || w->forced)
		return tell_late(w->wait, live, err);
	if (force(k, live, w->opts, &w->forced, err) != 0)
		return -1;
	if (!w->forced)
		return tell_late(w->wait, live, err);
	w->deadline_ms = now_of(k) + GONE_GRACE_MS;
	return 0;
}

/* *ret_gone: nothing is left. Otherwise it has slept for a while. */
static int look_once(struct kubectl *k, struct waiting *w, int64_t pause, bool *ret_gone,
                     struct err *err)
{
	AUTO(json) cJSON *live = NULL;
	int64_t left;

	if (look(k, w->wait, &live, err) != 0)
		return -1;
	*ret_gone = live->child == NULL;
	if (*ret_gone)
		return 0;
	left = w->deadline_ms - now_of(k);
	if (left <= 0)
		return at_deadline(k, w, live, err);
	tell_await(k, w->wait, live, &w->said);
	k->clock->sleep_ms(k->clock, pause < left ? pause : left);
	return 0;
}

int gone_await(struct kubectl *k, const struct gone_wait *wait, const struct gone_opts *opts,
               struct err *err)
{
	struct waiting w = {wait, opts, opts->deadline_ms, false, -1};
	int64_t pause = POLL_FIRST_MS, least = now_of(k) + GONE_GRACE_MS;
	bool gone = false;

	if (opts->may_force != NULL && w.deadline_ms < least)
		w.deadline_ms = least;
	while (!gone) {
		if (look_once(k, &w, pause, &gone, err) != 0)
			return -1;
		/* Growing slowly: it is seen soon after, however long it took. */
		pause += pause / 4 < POLL_MS - pause ? pause / 4 : POLL_MS - pause;
	}
	return 0;
}

/* Applying a stage, and deleting what a fleet owns. */
#include "k8s/deploy/apply.h"

#include <string.h>

#include "base/attr.h"

/* May this live object be ours? ERR_CONFLICT says whose it is. */
static int check_owner(const cJSON *live, const char *owner, struct err *err)
{
	const char *holder = object_label(live, OWNER_LABEL);

	if (holder != NULL && strcmp(holder, owner) == 0)
		return 0;
	if (holder != NULL) {
		err_set(err, ERR_CONFLICT, "%s '%s' belongs to '%s'", json_string(live, "kind"),
		        object_name(live), holder);
		return err_hint(err, "Two fleets cannot share it: deploy them to two clusters, or "
		                     "undeploy the other one first.");
	}
	err_set(err, ERR_CONFLICT, "%s '%s' already exists and has no owner label",
	        json_string(live, "kind"), object_name(live));
	return err_hint(err,
	                "Delete it, or give it to this fleet: `kubectl label %s %s %s%s "
	                "slipway/owner=%s`.",
	                kind_of(live) != NULL ? kind_of(live)->resource : "KIND", object_name(live),
	                object_namespace(live) != NULL ? "-n " : "",
	                object_namespace(live) != NULL ? object_namespace(live) : "", owner);
}

/* What is to be sent: all but namespaces that somebody else made. */
static int select_items(const struct stage *stage, const cJSON *before, const char *owner,
                        cJSON *ret_items, struct err *err)
{
	for (cJSON *item = stage->items->child; item != NULL; item = item->next) {
		const cJSON *live = object_find(before, item);

		if (live != NULL && object_is(live, "Namespace") &&
		    object_label(live, OWNER_LABEL) == NULL)
			continue;
		if (live != NULL && check_owner(live, owner, err) != 0)
			return -1;
		cJSON_AddItemReferenceToArray(ret_items, item);
	}
	return 0;
}

/* Equal but for who set which field. */
static bool same_content(const cJSON *a, const cJSON *b)
{
	AUTO(json) cJSON *x = cJSON_Duplicate(a, true);
	AUTO(json) cJSON *y = cJSON_Duplicate(b, true);

	cJSON_DeleteItemFromObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(x, "metadata"),
	                                        "managedFields");
	cJSON_DeleteItemFromObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(y, "metadata"),
	                                        "managedFields");
	return cJSON_Compare(x, y, true);
}

static void count_changes(const cJSON *sent, const cJSON *before, const cJSON *after, bool dry_run,
                          struct apply_counts *ret)
{
	for (const cJSON *item = sent->child; item != NULL; item = item->next) {
		const cJSON *old = object_find(before, item), *new = object_find(after, item);
		const char *was = object_version(old), *is = object_version(new);

		if (new == NULL)
			continue;
		if (old == NULL)
			ret->created++;
		else if (dry_run ? same_content(old, new)
		                 : was != NULL && is != NULL && strcmp(was, is) == 0)
			ret->unchanged++;
		else
			ret->changed++;
	}
}

static int send_items(struct kubectl *k, const char *input, const struct apply_opts *opts,
                      cJSON **ret, struct err *err)
{
	const char *args[12] = {"apply", "--server-side", "--field-manager=slipway", "-f", "-",
	                        "-o",    "json"};
	size_t n = 7;

	if (opts->force_conflicts)
		args[n++] = "--force-conflicts";
	if (opts->dry_run)
		args[n++] = "--dry-run=server";
	return kubectl_list(k, args, input, ret, err);
}

/* How far kubectl came before it failed: said, for nothing may be half done in silence. */
static int tell_partial(struct kubectl *k, const struct stage *stage, const cJSON *sent,
                        const cJSON *before, struct err *err)
{
	AUTO(json) cJSON *after = NULL;
	struct apply_counts done = {0};
	struct err ignored = {0};

	if (kubectl_look(k, stage->items, &after, &ignored) != 0)
		return err_wrap(err, "stage %s, partly applied", stage->name);
	count_changes(sent, before, after, false, &done);
	return err_wrap(err, "stage %s, %zu of %d objects applied", stage->name,
	                done.created + done.changed + done.unchanged, cJSON_GetArraySize(sent));
}

/* A dry run cannot ask about objects in a namespace that a dry run did not make. */
static bool namespace_to_come(const struct apply_opts *opts, const struct err *err)
{
	return opts->dry_run && err->code == ERR_NOT_FOUND &&
	       strstr(err->msg, "namespaces") != NULL;
}

static void observe(const struct apply_opts *opts, const struct stage *stage, const cJSON *before,
                    const cJSON *after)
{
	if (opts->observe != NULL)
		opts->observe(opts->observe_ctx, stage, before, after);
}

static int apply_items(struct kubectl *k, const struct stage *stage, const struct apply_opts *opts,
                       struct apply_counts *ret, struct err *err)
{
	AUTO(strbuf) struct strbuf input = STRBUF_INIT(0);
	AUTO(json) cJSON *before = NULL, *after = NULL, *sent = cJSON_CreateArray();
	size_t n;

	*ret = (struct apply_counts){0};
	if (kubectl_look(k, stage->items, &before, err) != 0 ||
	    select_items(stage, before, opts->owner, sent, err) != 0)
		return err_wrap(err, "stage %s", stage->name);
	n = (size_t)cJSON_GetArraySize(sent);
	ret->left = (size_t)cJSON_GetArraySize(stage->items) - n;
	if (n == 0)
		return 0;
	kubectl_print_list(sent, &input);
	if (send_items(k, strbuf_str(&input), opts, &after, err) == 0) {
		count_changes(sent, before, after, opts->dry_run, ret);
		observe(opts, stage, before, after);
		return 0;
	}
	if (!namespace_to_come(opts, err))
		return opts->dry_run ? err_wrap(err, "stage %s", stage->name)
		                     : tell_partial(k, stage, sent, before, err);
	observe(opts, stage, before, NULL);
	ret->created = n - (size_t)cJSON_GetArraySize(before);
	ret->unchanged = n - ret->created;
	return 0;
}

int stage_apply(struct kubectl *k, const struct stage *stage, const struct apply_opts *opts,
                struct apply_counts *ret, struct err *err)
{
	progress_stage(k->progress, stage->name, "applying", "%d objects",
	               cJSON_GetArraySize(stage->items));
	if (apply_items(k, stage, opts, ret, err) != 0) {
		progress_stage(k->progress, stage->name, "failed", "%s", "");
		return -1;
	}
	progress_stage(k->progress, stage->name, "ready", "%zu created, %zu changed, %zu unchanged",
	               ret->created, ret->changed, ret->unchanged);
	return 0;
}

int object_delete(struct kubectl *k, const cJSON *object, const struct apply_opts *opts,
                  struct err *err)
{
	const char *namespace = object_namespace(object);
	int64_t left = (opts->deadline_ms - k->clock->now_ms(k->clock)) / 1000;
	AUTO(strbuf) struct strbuf timeout = STRBUF_INIT(64);
	struct kubectl_reply reply;

	/* One call of kubectl is bounded by its own time limit: callers ask again. */
	strbuf_addf(&timeout, "--timeout=%llds",
	            (long long)(left < 1     ? 1
	                        : left > 150 ? 150
	                                     : left));
	const char *args[] = {"delete",
	                      kind_of(object)->resource,
	                      object_name(object),
	                      "--ignore-not-found",
	                      "--wait=true",
	                      strbuf_str(&timeout),
	                      namespace != NULL ? "-n" : NULL,
	                      namespace,
	                      NULL};

	if (kubectl_run(k, args, NULL, &reply, err) != 0)
		return err_wrap(err, "delete %s '%s'", json_string(object, "kind"),
		                object_name(object));
	kubectl_reply_done(&reply);
	return 0;
}

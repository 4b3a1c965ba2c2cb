/* Applying a stage, and finding and deleting what a fleet owns. */
#include "k8s/deploy/apply.h"

#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/shared.h"
#include "k8s/job/job.h"
#include "k8s/object/shared.h"

/* A shared object that the same fleet owned alone, as slipway once made it. */
static bool was_owned(const cJSON *item, const cJSON *live, const char *owner)
{
	const char *holder = object_label(live, OWNER_LABEL);

	return object_is_shared(item) && holder != NULL && strcmp(holder, owner) == 0;
}

static int check_shared(const cJSON *live, struct err *err)
{
	err_set(err, ERR_CONFLICT, "%s '%s' already exists and has no owner label",
	        json_string(live, "kind"), object_name(live));
	return err_hint(err,
	                "It may be left over from another installation of '%s'. Delete it, or "
	                "leave that to the other: cluster.devices or the storage driver: none.",
	                object_name(live));
}

/* May this live object be ours? ERR_CONFLICT says whose it is. */
static int check_owner(const cJSON *item, const cJSON *live, const char *owner, struct err *err)
{
	const char *holder = object_label(live, OWNER_LABEL);

	if (holder != NULL &&
	    (strcmp(holder, owner) == 0 || (object_is_shared(item) && object_is_shared(live))))
		return 0;
	if (holder == NULL && object_is_shared(item))
		return check_shared(live, err);
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
		if (live != NULL && check_owner(item, live, owner, err) != 0)
			return -1;
		cJSON_AddItemReferenceToArray(ret_items, item);
	}
	return 0;
}

/* What is not content: who set which field, and what controllers report meanwhile. */
static void strip(cJSON *object)
{
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(object, "metadata");

	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "managedFields");
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "resourceVersion");
	cJSON_DeleteItemFromObjectCaseSensitive(object, "status");
}

static bool same_content(const cJSON *a, const cJSON *b)
{
	AUTO(json) cJSON *x = cJSON_Duplicate(a, true);
	AUTO(json) cJSON *y = cJSON_Duplicate(b, true);

	strip(x);
	strip(y);
	return cJSON_Compare(x, y, true);
}

static void count_changes(const cJSON *sent, const cJSON *before, const cJSON *after,
                          struct apply_counts *ret)
{
	for (const cJSON *item = sent->child; item != NULL; item = item->next) {
		const cJSON *old = object_find(before, item), *new = object_find(after, item);
		const char *was = object_version(old), *is = object_version(new);

		if (new == NULL)
			continue;
		if (old == NULL)
			ret->created++;
		else if ((was != NULL && is != NULL && strcmp(was, is) == 0) ||
		         same_content(old, new))
			ret->unchanged++;
		else
			ret->changed++;
	}
}

/* One call; adds what came of it to `after`. No items = no call. */
static int send_items(struct kubectl *k, cJSON *items, const char *manager,
                      const struct apply_opts *opts, cJSON *after, struct err *err)
{
	AUTO(strbuf) struct strbuf input = STRBUF_INIT(0), field = STRBUF_INIT(256);
	AUTO(json) cJSON *done = NULL;
	size_t n = 7;

	if (items->child == NULL)
		return 0;
	strbuf_addf(&field, "--field-manager=%s", manager);
	const char *args[12] = {"apply", "--server-side", strbuf_str(&field), "-f", "-",
	                        "-o",    "json"};

	if (opts->force_conflicts)
		args[n++] = "--force-conflicts";
	if (opts->dry_run)
		args[n++] = "--dry-run=server";
	kubectl_print_list(items, &input);
	if (kubectl_list(k, args, strbuf_str(&input), &done, err) != 0)
		return -1;
	while (done->child != NULL)
		json_push(after, cJSON_DetachItemFromArray(done, 0));
	return 0;
}

/* Where another fleet's slipway wrote other values, ours replace them; anybody else's are left. */
static int send_each(struct kubectl *k, const cJSON *items, const char *manager,
                     const struct apply_opts *opts, cJSON *after, struct err *err)
{
	struct apply_opts forced = *opts;

	forced.force_conflicts = true;
	for (cJSON *item = items->child; item != NULL; item = item->next) {
		AUTO(json) cJSON *one = cJSON_CreateArray();

		cJSON_AddItemReferenceToArray(one, item);
		if (send_items(k, one, manager, opts, after, err) == 0)
			continue;
		if (err->code != ERR_CONFLICT || !shared_conflict_is_ours(err->msg))
			return -1;
		*err = (struct err){0};
		if (send_items(k, one, manager, &forced, after, err) != 0)
			return -1;
	}
	return 0;
}

/* Each fleet is a field manager of its own, so that its annotation stays when others apply. */
static int send_shared(struct kubectl *k, cJSON *items, const struct apply_opts *opts, cJSON *after,
                       struct err *err)
{
	AUTO(strbuf) struct strbuf manager = STRBUF_INIT(128);

	strbuf_addf(&manager, "slipway-%s", opts->owner);
	if (send_items(k, items, strbuf_str(&manager), opts, after, err) == 0)
		return 0;
	if (err->code != ERR_CONFLICT)
		return -1;
	*err = (struct err){0};
	return send_each(k, items, strbuf_str(&manager), opts, after, err);
}

/* What is shared first: the fleet's own may need it. */
static int send_all(struct kubectl *k, const cJSON *sent, const struct apply_opts *opts,
                    cJSON **ret_after, struct err *err)
{
	AUTO(json) cJSON *own = cJSON_CreateArray(), *shared = cJSON_CreateArray();
	AUTO(json) cJSON *after = cJSON_CreateArray();

	for (cJSON *item = sent->child; item != NULL; item = item->next)
		cJSON_AddItemReferenceToArray(object_is_shared(item) ? shared : own, item);
	if (send_shared(k, shared, opts, after, err) != 0 ||
	    send_items(k, own, "slipway", opts, after, err) != 0)
		return -1;
	*ret_after = after;
	after = NULL;
	return 0;
}

/*
 * A workload's selector cannot be changed, and a shared one selects otherwise than the fleet's own
 * did: the old one goes first. A dry run leaves it out. Pods of a plugin come back in seconds.
 */
static int replace_owned(struct kubectl *k, cJSON *sent, const cJSON *before,
                         const struct apply_opts *opts, size_t *ret_replaced, struct err *err)
{
	cJSON *next;

	*ret_replaced = 0;
	for (cJSON *item = sent->child; item != NULL; item = next) {
		const cJSON *live = object_find(before, item);

		next = item->next;
		if (live == NULL || !was_owned(item, live, opts->owner) ||
		    json_get(json_get(live, "spec"), "selector") == NULL)
			continue;
		if (!opts->dry_run && object_delete(k, live, opts, err) != 0)
			return -1;
		*ret_replaced += opts->dry_run;
		if (opts->dry_run)
			cJSON_Delete(cJSON_DetachItemViaPointer(sent, item));
	}
	return 0;
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
	count_changes(sent, before, after, &done);
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
	AUTO(json) cJSON *before = NULL, *after = NULL, *sent = cJSON_CreateArray();
	size_t n, replaced;

	*ret = (struct apply_counts){0};
	if (kubectl_look(k, stage->items, &before, err) != 0 ||
	    select_items(stage, before, opts->owner, sent, err) != 0)
		return err_wrap(err, "stage %s", stage->name);
	ret->left = (size_t)(cJSON_GetArraySize(stage->items) - cJSON_GetArraySize(sent));
	if (replace_owned(k, sent, before, opts, &replaced, err) != 0)
		return err_wrap(err, "stage %s", stage->name);
	n = (size_t)cJSON_GetArraySize(sent);
	if (send_all(k, sent, opts, &after, err) == 0) {
		count_changes(sent, before, after, ret);
		ret->changed += replaced;
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

/* "a,b,c": the resources of our kinds that the cluster knows. */
static void add_resources(const cJSON *resources, struct strbuf *sb)
{
	for (const cJSON *item = resources->child; item != NULL; item = item->next)
		if (kind_of_resource(item->valuestring) != NULL)
			strbuf_addf(sb, "%s%s", sb->len > 0 ? "," : "", item->valuestring);
}

/* Volcano's own configuration, which former versions put their label on. */
static bool is_volcanos(const cJSON *object)
{
	return object_is(object, "ConfigMap") && object_in(object, scheduler_renderer.name);
}

int owned_list(struct kubectl *k, const cJSON *resources, const char *owner, cJSON **ret_items,
               struct err *err)
{
	AUTO(strbuf) struct strbuf kinds = STRBUF_INIT(8192), selector = STRBUF_INIT(256);
	cJSON *items, *next;

	add_resources(resources, &kinds);
	strbuf_addf(&selector, OWNER_LABEL " in (%s," SHARED_OWNER ")", owner);
	const char *const args[] = {
		"get", strbuf_str(&kinds), "-A", "-l", strbuf_str(&selector), "-o", "json", NULL};

	if (kubectl_list(k, args, NULL, &items, err) != 0)
		return err_wrap(err, "list the objects of '%s'", owner);
	for (cJSON *item = items->child; item != NULL; item = next) {
		next = item->next;
		if (json_get(json_get(item, "metadata"), "ownerReferences") != NULL ||
		    kind_of(item) == NULL || is_volcanos(item) ||
		    (object_is_shared(item) && !shared_used_by(item, owner)))
			cJSON_Delete(cJSON_DetachItemViaPointer(items, item));
	}
	*ret_items = items;
	return 0;
}

int object_delete(struct kubectl *k, const cJSON *object, const struct apply_opts *opts,
                  struct err *err)
{
	const char *namespace = object_namespace(object);
	int64_t left = (opts->deadline_ms - k->clock->now_ms(k->clock)) / 1000;
	AUTO(strbuf) struct strbuf timeout = STRBUF_INIT(64);
	struct kubectl_reply reply;

	if (object_is_shared(object))
		return shared_release(k, object, opts->owner, err);
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

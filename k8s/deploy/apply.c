/* Applying a stage. */
#include "k8s/deploy/apply.h"

#include <string.h>

#include "base/attr.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "k8s/deploy/apply_jobs.h"
#include "k8s/deploy/shared.h"
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

/* Other fleets come and leave meanwhile: which of them use it is not for this one to count. */
static void strip_other_users(cJSON *metadata, const cJSON *sent)
{
	const cJSON *ours = json_get(json_get(sent, "metadata"), "annotations");
	cJSON *annotations = cJSON_GetObjectItemCaseSensitive(metadata, "annotations"), *next;

	for (cJSON *a = annotations != NULL ? annotations->child : NULL; a != NULL; a = next) {
		next = a->next;
		if (text_has_prefix(a->string, SHARED_USER) && json_get(ours, a->string) == NULL)
			cJSON_Delete(cJSON_DetachItemViaPointer(annotations, a));
	}
}

/* What is not content: who set which field, and what controllers report meanwhile. */
static void strip(cJSON *object, const cJSON *sent)
{
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(object, "metadata");

	strip_other_users(metadata, sent);
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "managedFields");
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "resourceVersion");
	cJSON_DeleteItemFromObjectCaseSensitive(object, "status");
}

/* Two states of an object that is sent. */
static bool same_content(const cJSON *a, const cJSON *b, const cJSON *sent)
{
	AUTO(json) cJSON *x = cJSON_Duplicate(a, true);
	AUTO(json) cJSON *y = cJSON_Duplicate(b, true);

	strip(x, sent);
	strip(y, sent);
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
		         same_content(old, new, item))
			ret->unchanged++;
		else
			ret->changed++;
	}
}

/*
 * A workload's selector cannot be changed, and a shared one selects otherwise than the fleet's own
 * did: the old one goes first. A dry run leaves it out. Pods of a plugin come back in seconds.
 */
static int replace_owned(struct kubectl *k, cJSON *sent, const cJSON *before,
                         const struct apply_opts *opts, size_t *ret_left_out, struct err *err)
{
	cJSON *next;

	*ret_left_out = 0;
	for (cJSON *item = sent->child; item != NULL; item = next) {
		const cJSON *live = object_find(before, item);

		next = item->next;
		if (live == NULL || !was_owned(item, live, opts->owner) ||
		    json_get(json_get(live, "spec"), "selector") == NULL)
			continue;
		if (!opts->dry_run && object_delete(k, live, opts, err) != 0)
			return -1;
		*ret_left_out += opts->dry_run;
		if (opts->dry_run)
			cJSON_Delete(cJSON_DetachItemViaPointer(sent, item));
	}
	return 0;
}

/* ---- how far kubectl came before it failed ---- */

/* Would applying it now change nothing? Asked once: the server is in trouble already. */
static bool is_applied(struct kubectl *k, const cJSON *item, const cJSON *live, const char *owner)
{
	const struct apply_opts dry_run = {.owner = owner, .dry_run = true};
	AUTO(json) cJSON *items = cJSON_CreateArray(), *after = NULL;
	struct err ignored = {0};
	struct patience *patience = k->patience;
	int rc;

	json_push(items, cJSON_Duplicate(item, true));
	k->patience = NULL;
	rc = objects_send(k, items, &dry_run, &after, &ignored);
	k->patience = patience;
	return rc == 0 && object_first(after) != NULL && same_content(live, after->child, item);
}

/* kubectl says nothing of those that it did apply, and an object that was right before looks the
 * same whether it was sent or not. */
static size_t count_applied(struct kubectl *k, const cJSON *sent, const cJSON *before,
                            const cJSON *after, const char *owner)
{
	size_t n = 0;

	for (const cJSON *item = sent->child; item != NULL; item = item->next) {
		const cJSON *old = object_find(before, item), *new = object_find(after, item);
		const char *was = object_version(old), *is = object_version(new);

		if (new == NULL)
			continue;
		n += old == NULL || was == NULL || is == NULL || strcmp(was, is) != 0 ||
		     is_applied(k, item, new, owner);
	}
	return n;
}

/* Said, for nothing may be half done in silence. */
static int tell_partial(struct kubectl *k, const struct stage *stage, const cJSON *sent,
                        const cJSON *before, const char *owner, struct err *err)
{
	AUTO(json) cJSON *after = NULL;
	struct err ignored = {0};

	if (interrupt_requested() || kubectl_look(k, stage->items, &after, &ignored) != 0)
		return err_wrap(err, "partly applied");
	return err_wrap(err, "%zu of %d objects applied",
	                count_applied(k, sent, before, after, owner), cJSON_GetArraySize(sent));
}

/* ---- a stage ---- */

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

/* What is on its way out cannot be applied to: it is awaited, and made anew. */
static int await_leavers(struct kubectl *k, const struct stage *stage,
                         const struct apply_opts *opts, cJSON **before, struct err *err)
{
	bool left = false;

	for (const cJSON *live = (*before)->child; live != NULL; live = live->next) {
		if (opts->dry_run || !object_leaves(live))
			continue;
		progress_await(k->progress, "%s '%s' to be deleted", json_string(live, "kind"),
		               object_name(live));
		if (object_await_gone(k, live, opts, err) != 0)
			return -1;
		left = true;
	}
	if (!left)
		return 0;
	cJSON_Delete(*before);
	*before = NULL;
	return kubectl_look(k, stage->items, before, err);
}

static int look_before(struct kubectl *k, const struct stage *stage, const struct apply_opts *opts,
                       cJSON **before, struct err *err)
{
	if (kubectl_look(k, stage->items, before, err) != 0)
		return -1;
	return await_leavers(k, stage, opts, before, err);
}

/* What is there, and what is to be sent. The training job is a run (k8s/deploy/run_plan.h). */
static int prepare_items(struct kubectl *k, const struct stage *stage,
                         const struct apply_opts *opts, cJSON **before, cJSON *sent,
                         struct apply_counts *ret, struct err *err)
{
	if (look_before(k, stage, opts, before, err) != 0 ||
	    select_items(stage, *before, opts->owner, sent, err) != 0)
		return -1;
	ret->left = (size_t)(cJSON_GetArraySize(stage->items) - cJSON_GetArraySize(sent));
	if (stage_has_job(stage))
		return 0;
	if (replace_owned(k, sent, *before, opts, &ret->changed, err) != 0)
		return -1;
	return apply_jobs_renew(k, opts, *before, sent, &ret->created, err);
}

static int apply_items(struct kubectl *k, const struct stage *stage, const struct apply_opts *opts,
                       struct apply_counts *ret, struct err *err)
{
	AUTO(json) cJSON *before = NULL, *after = NULL, *sent = cJSON_CreateArray();
	size_t n;

	*ret = (struct apply_counts){0};
	if (prepare_items(k, stage, opts, &before, sent, ret, err) != 0)
		return -1;
	n = (size_t)cJSON_GetArraySize(sent);
	if (n == 0)
		return 0;
	if (objects_send(k, sent, opts, &after, err) == 0) {
		count_changes(sent, before, after, ret);
		observe(opts, stage, before, after);
		return 0;
	}
	if (!namespace_to_come(opts, err))
		return opts->dry_run ? -1 : tell_partial(k, stage, sent, before, opts->owner, err);
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

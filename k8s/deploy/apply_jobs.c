#include "k8s/deploy/apply_jobs.h"

#include <string.h>

#include "base/attr.h"

static bool is_plain_job(const cJSON *object)
{
	return kind_of(object) != NULL && strcmp(kind_of(object)->resource, "jobs.batch") == 0;
}

/* Would the server take the item as a change of what is there? */
static int ask_change(struct kubectl *k, const struct apply_opts *opts, const cJSON *item,
                      bool *ret_refused, struct err *err)
{
	struct apply_opts dry_run = {.dry_run = true, .force_conflicts = opts->force_conflicts};
	AUTO(json) cJSON *items = cJSON_CreateArray(), *after = NULL;

	json_push(items, cJSON_Duplicate(item, true));
	*ret_refused = false;
	if (objects_send(k, items, &dry_run, &after, err) == 0)
		return 0;
	if (err->code != ERR_CONFLICT || strstr(err->msg, "immutable") == NULL)
		return -1;
	*err = (struct err){0};
	*ret_refused = true;
	return 0;
}

static cJSON *trial_of(const cJSON *item)
{
	cJSON *copy = cJSON_Duplicate(item, true);
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(copy, "metadata");

	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "name");
	json_add_string(metadata, "name", TRIAL_NAME);
	return copy;
}

static void drop(cJSON *items, const cJSON *wanted)
{
	for (cJSON *o = items->child; o != NULL; o = o->next)
		if (object_same(o, wanted)) {
			cJSON_Delete(cJSON_DetachItemViaPointer(items, o));
			return;
		}
}

static int renew(struct kubectl *k, const struct apply_opts *opts, cJSON *before, cJSON *sent,
                 cJSON *item, struct err *err)
{
	AUTO(json) cJSON *copy = cJSON_Duplicate(item, true);

	if (opts->dry_run)
		cJSON_ReplaceItemViaPointer(sent, item, trial_of(item));
	else if (object_delete(k, object_find(before, item), opts, err) != 0)
		return -1;
	drop(before, copy);
	return 0;
}

int apply_jobs_renew(struct kubectl *k, const struct apply_opts *opts, cJSON *before, cJSON *sent,
                     size_t *ret_tried, struct err *err)
{
	cJSON *next;

	*ret_tried = 0;
	for (cJSON *item = sent->child; item != NULL; item = next) {
		bool refused;

		next = item->next;
		if (!is_plain_job(item) || object_find(before, item) == NULL)
			continue;
		if (ask_change(k, opts, item, &refused, err) != 0)
			return -1;
		if (!refused)
			continue;
		if (renew(k, opts, before, sent, item, err) != 0)
			return -1;
		*ret_tried += opts->dry_run;
	}
	return 0;
}

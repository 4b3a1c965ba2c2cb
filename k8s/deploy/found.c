#include "k8s/deploy/found.h"

#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/program.h"
#include "k8s/deploy/shared.h"

/* ---- is it the same program? ---- */

bool found_is_head(const cJSON *object)
{
	static const char *const kinds[] = {"DaemonSet", "CSIDriver", "DeviceClass", "Queue"};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (object_is(object, kinds[i]))
			return object_is_shared(object);
	return false;
}

static const cJSON *pod_of(const cJSON *workload)
{
	return json_get(json_get(json_get(workload, "spec"), "template"), "spec");
}

static bool runs(const cJSON *workload, const char *image)
{
	const cJSON *container = object_first(json_get(pod_of(workload), "containers"));

	for (; container != NULL; container = container->next)
		if (is_program(json_string(container, "image"), image))
			return true;
	return false;
}

const cJSON *found_for(const cJSON *item, const cJSON *live)
{
	const cJSON *first = object_first(json_get(pod_of(item), "containers"));
	const char *image = object_is(item, "DaemonSet") ? json_string(first, "image") : NULL;
	const cJSON *object;

	if (!found_is_head(item))
		return NULL;
	cJSON_ArrayForEach (object, live) {
		if (kind_of(object) != kind_of(item) || object_name(object) == NULL ||
		    object_label(object, OWNER_LABEL) != NULL)
			continue;
		if (object_same(object, item) || (image != NULL && runs(object, image)))
			return object;
	}
	return NULL;
}

/* ---- does it run where the fleet needs it? ---- */

static bool tolerates(const cJSON *workload, const struct taint *taint)
{
	const cJSON *t = object_first(json_get(pod_of(workload), "tolerations"));

	for (; t != NULL; t = t->next) {
		const char *key = json_string(t, "key"), *effect = json_string(t, "effect");
		const char *value = json_string(t, "value");
		bool exists = object_says(t, "operator", "Exists");

		if (effect != NULL && effect[0] != '\0' && strcmp(effect, taint->effect) != 0)
			continue;
		if (key == NULL || key[0] == '\0'
		            ? exists
		            : strcmp(key, taint->key) == 0 &&
		                      (exists ||
		                       (value != NULL && strcmp(value, taint->value) == 0)))
			return true;
	}
	return false;
}

static bool lists(const cJSON *values, const char *text)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, values)
		if (cJSON_IsString(item) && strcmp(item->valuestring, text) == 0)
			return true;
	return false;
}

/* Is it meant for this type of instance? Without a list it is for all. */
static bool is_for(const cJSON *item, const char *type)
{
	const cJSON *required =
		json_get(json_get(json_get(pod_of(item), "affinity"), "nodeAffinity"),
	                 "requiredDuringSchedulingIgnoredDuringExecution");
	const cJSON *term = object_first(json_get(required, "nodeSelectorTerms"));
	const cJSON *e = object_first(json_get(term, "matchExpressions"));

	for (; e != NULL; e = e->next)
		if (object_says(e, "key", "node.kubernetes.io/instance-type"))
			return lists(json_get(e, "values"), type);
	return true;
}

const struct taint *found_misses(const cJSON *item, const cJSON *found, const struct fleet *fleet,
                                 const struct fleet_target **ret_target)
{
	for (size_t i = 0; i < fleet->n_targets; i++) {
		const struct fleet_target *t = &fleet->targets[i];

		if (!is_for(item, t->shape->type))
			continue;
		for (size_t j = 0; j < t->n_taints; j++)
			if (tolerates(item, &t->taints[j]) && !tolerates(found, &t->taints[j])) {
				*ret_target = t;
				return &t->taints[j];
			}
	}
	return NULL;
}

static int check_nodes(const cJSON *item, const cJSON *found, const struct fleet *fleet,
                       struct err *err)
{
	const struct fleet_target *target = NULL;
	const struct taint *taint;

	if (!object_is(item, "DaemonSet"))
		return 0;
	taint = found_misses(item, found, fleet, &target);
	if (taint == NULL)
		return 0;
	err_set(err, ERR_CONFLICT,
	        "DaemonSet '%s' in %s does not tolerate the taint %s: it would not run on the "
	        "nodes of '%s'",
	        object_name(found), object_namespace(found), taint->key, target->name);
	return err_hint(err,
	                "Add the toleration where it was installed from (charts: the value "
	                "tolerations), or write fleet.%s.taint: false.",
	                target->name);
}

/* ---- the stages ---- */

/* "daemonsets.apps,csidrivers.storage.k8s.io": the kinds of heads that are planned. */
static void add_kinds(const struct stage_list *stages, struct strbuf *sb)
{
	for (size_t i = 0; i < stages->n; i++)
		for (const cJSON *o = stages->at[i].items->child; o != NULL; o = o->next)
			if (found_is_head(o) &&
			    strstr(strbuf_str(sb), kind_of(o)->resource) == NULL)
				strbuf_addf(sb, "%s%s", sb->len > 0 ? "," : "",
				            kind_of(o)->resource);
}

static void tell_used(const cJSON *found, const char *part, cJSON *used)
{
	cJSON *row = cJSON_CreateObject();

	json_add_string(row, "part", part);
	json_add_string(row, "kind", json_string(found, "kind"));
	json_add_string(row, "namespace", object_namespace(found));
	json_add_string(row, "name", object_name(found));
	json_push(used, row);
}

static bool is_used(const cJSON *used, const char *part)
{
	const cJSON *row;

	cJSON_ArrayForEach (row, used)
		if (object_says(row, "part", part))
			return true;
	return false;
}

static int find_parts(const struct stage *stage, const cJSON *live, const struct fleet *fleet,
                      cJSON *used, struct err *err)
{
	for (const cJSON *o = stage->items->child; o != NULL; o = o->next) {
		const cJSON *found = found_for(o, live);

		if (found == NULL || shared_part(o) == NULL)
			continue;
		if (check_nodes(o, found, fleet, err) != 0)
			return err_wrap(err, "stage %s", stage->name);
		if (!is_used(used, shared_part(o)))
			tell_used(found, shared_part(o), used);
	}
	return 0;
}

static void leave_parts_out(struct stage *stage, const cJSON *used)
{
	cJSON *next;

	for (cJSON *o = stage->items->child; o != NULL; o = next) {
		next = o->next;
		if (shared_part(o) != NULL && is_used(used, shared_part(o)))
			cJSON_Delete(cJSON_DetachItemViaPointer(stage->items, o));
	}
}

int stages_use_found(struct kubectl *k, const struct fleet *fleet, struct stage_list *stages,
                     cJSON *used, struct err *err)
{
	AUTO(strbuf) struct strbuf kinds = STRBUF_INIT(1024);
	AUTO(json) cJSON *live = NULL;

	add_kinds(stages, &kinds);
	if (kinds.len == 0)
		return 0;
	const char *const args[] = {"get", strbuf_str(&kinds), "-A", "-o", "json", NULL};

	if (kubectl_list(k, args, NULL, &live, err) != 0) {
		if (err->code != ERR_DENIED)
			return err_wrap(err, "look for device plugins and drivers");
		progress_note(k->progress,
		              "%s; taken for not installed: device plugins and drivers", err->msg);
		*err = (struct err){0};
		return 0;
	}
	for (size_t i = 0; i < stages->n; i++)
		if (find_parts(&stages->at[i], live, fleet, used, err) != 0)
			return -1;
	for (size_t i = 0; i < stages->n; i++)
		leave_parts_out(&stages->at[i], used);
	return 0;
}

bool stages_lack_shared(const struct stage_list *stages, const cJSON *owned)
{
	for (size_t i = 0; i < stages->n; i++)
		for (const cJSON *o = stages->at[i].items->child; o != NULL; o = o->next)
			if (object_is_shared(o) && object_find(owned, o) == NULL)
				return true;
	return false;
}

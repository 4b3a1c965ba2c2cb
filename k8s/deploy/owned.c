#include "k8s/deploy/owned.h"

#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/shared.h"
#include "k8s/job/job.h"
#include "k8s/job/scheduler.h"
#include "k8s/object/shared.h"

/* ---- where ---- */

struct strlist owned_namespaces(const struct fleet *fleet, const struct k8s_output *out,
                                struct arena *a)
{
	struct strlist list = {0};
	size_t max = 1;

	for (size_t i = 0; i < out->n; i++)
		max += out->files[i].n;
	list.at = arena_calloc(a, max, sizeof(*list.at));
	list.at[list.n++] = fleet->namespace;
	for (size_t i = 0; i < out->n; i++)
		for (size_t j = 0; j < out->files[i].n; j++) {
			const char *namespace = object_namespace(out->files[i].at[j].doc);

			if (namespace != NULL && !strlist_has(&list, namespace))
				list.at[list.n++] = arena_strdup(a, namespace);
		}
	return list;
}

/* ---- one question ---- */

static bool is_job_kind(const struct kind_row *row)
{
	for (size_t i = 0; i < SCHEDULERS; i++)
		if (row == &schedulers[i].object)
			return true;
	return false;
}

/* Of our kinds, those that the cluster knows. */
static cJSON *kinds_to_ask(const struct owned_query *q)
{
	cJSON *kinds = cJSON_CreateArray();

	for (const cJSON *item = object_first(q->resources); item != NULL; item = item->next) {
		const struct kind_row *row =
			cJSON_IsString(item) ? kind_of_resource(item->valuestring) : NULL;

		if (row != NULL && (!q->jobs_only || is_job_kind(row)))
			json_push_string(kinds, row->resource);
	}
	return kinds;
}

static void join(const cJSON *names, struct strbuf *sb)
{
	for (const cJSON *item = names->child; item != NULL; item = item->next)
		strbuf_addf(sb, "%s%s", item != names->child ? "," : "", item->valuestring);
}

/* Moves those that kubectl was refused: it names each of them on a line of its own. */
static bool move_denied(const char *said, cJSON *kinds, cJSON *denied)
{
	bool moved = false;
	cJSON *next;

	for (cJSON *item = kinds->child; item != NULL; item = next) {
		AUTO(strbuf) struct strbuf line = STRBUF_INIT(512);

		next = item->next;
		strbuf_addf(&line, "(Forbidden): %s is forbidden", item->valuestring);
		if (strstr(said, strbuf_str(&line)) == NULL)
			continue;
		json_push(denied, cJSON_DetachItemViaPointer(kinds, item));
		moved = true;
	}
	return moved;
}

/* Volcano's own configuration, which former versions put their label on. */
static bool is_volcanos(const cJSON *object)
{
	return object_is(object, "ConfigMap") && object_in(object, scheduler_renderer.name);
}

static bool is_of(const cJSON *object, const char *owner)
{
	return kind_of(object) != NULL && !is_volcanos(object) &&
	       json_get(json_get(object, "metadata"), "ownerReferences") == NULL &&
	       (!object_is_shared(object) || shared_used_by(object, owner));
}

static void take_items(cJSON *from, const char *owner, cJSON *items)
{
	cJSON *next;

	for (cJSON *item = from->child; item != NULL; item = next) {
		next = item->next;
		if (is_of(item, owner))
			json_push(items, cJSON_DetachItemViaPointer(from, item));
	}
}

/* Forwards calls, and keeps what kubectl complained of last: an error holds one line of it. */
struct listener {
	struct kubectl base;
	struct kubectl *inner;
	struct strbuf said;
};

static void listener_done(struct listener *l)
{
	strbuf_done(&l->said);
}

static int call_heard(struct kubectl *base, const char *const *args, const char *input,
                      struct kubectl_reply *reply, struct err *err)
{
	struct listener *l = (struct listener *)base;

	strbuf_reset(&l->said);
	if (l->inner->call(l->inner, args, input, reply, err) != 0)
		return -1;
	strbuf_adds(&l->said, strbuf_str(&reply->err_text));
	return 0;
}

/* Lists the kinds in a namespace (NULL = in all); those that may not be listed go to `denied`. */
static int list_in(struct kubectl *k, const struct owned_query *q, const char *namespace,
                   cJSON *kinds, cJSON *denied, cJSON *items, struct err *err)
{
	AUTO(strbuf) struct strbuf selector = STRBUF_INIT(256), scope = STRBUF_INIT(256);
	AUTO(listener)
	struct listener l = {.base = {.call = call_heard,
	                              .clock = k->clock,
	                              .progress = k->progress,
	                              .patience = k->patience},
	                     .inner = k,
	                     .said = STRBUF_INIT(KUBECTL_ERROR_MAX)};

	strbuf_addf(&selector, OWNER_LABEL " in (%s," SHARED_OWNER ")", q->owner);
	if (namespace != NULL)
		strbuf_addf(&scope, "--namespace=%s", namespace);
	else
		strbuf_adds(&scope, "-A");
	while (kinds->child != NULL) {
		AUTO(strbuf) struct strbuf names = STRBUF_INIT(8192);
		AUTO(json) cJSON *found = NULL;

		join(kinds, &names);
		const char *const args[] = {"get",
		                            strbuf_str(&names),
		                            strbuf_str(&scope),
		                            "-l",
		                            strbuf_str(&selector),
		                            "-o",
		                            "json",
		                            NULL};

		if (kubectl_list(&l.base, args, NULL, &found, err) == 0) {
			take_items(found, q->owner, items);
			return 0;
		}
		if (err->code != ERR_DENIED || !move_denied(strbuf_str(&l.said), kinds, denied))
			return -1;
		*err = (struct err){0};
	}
	return 0;
}

/* ---- all of it ---- */

/* Namespace by namespace, where that was denied for the cluster as a whole. */
static int list_by_namespace(struct kubectl *k, const struct owned_query *q, const cJSON *kinds,
                             cJSON *items, cJSON *unseen, struct err *err)
{
	for (size_t i = 0; i < q->namespaces.n; i++) {
		AUTO(json) cJSON *asked = cJSON_Duplicate(kinds, true);

		if (list_in(k, q, q->namespaces.at[i], asked,
		            json_add_array(unseen, q->namespaces.at[i]), items, err) != 0)
			return -1;
	}
	return 0;
}

static bool is_text_in(const cJSON *array, const char *text)
{
	for (const cJSON *item = object_first(array); item != NULL; item = item->next)
		if (cJSON_IsString(item) && strcmp(item->valuestring, text) == 0)
			return true;
	return false;
}

static bool denied_everywhere(const cJSON *unseen, const char *resource)
{
	for (const cJSON *list = unseen->child; list != NULL; list = list->next)
		if (!is_text_in(list, resource))
			return false;
	return true;
}

/* Who may list nothing at all is in the wrong cluster, or nobody here. */
static int check_sight(const cJSON *all, const cJSON *unseen, struct err *err)
{
	if (unseen->child == NULL)
		return 0;
	for (const cJSON *kind = all->child; kind != NULL; kind = kind->next)
		if (!denied_everywhere(unseen, kind->valuestring))
			return 0;
	err_set(err, ERR_DENIED, "none of the fleet's kinds of objects may be listed");
	return err_hint(err, "`slipway rbac` prints the roles that suffice.");
}

int owned_list(struct kubectl *k, const struct owned_query *q, cJSON **ret_items,
               cJSON **ret_unseen, struct err *err)
{
	AUTO(json) cJSON *all = kinds_to_ask(q), *kinds = cJSON_Duplicate(all, true);
	AUTO(json) cJSON *denied = cJSON_CreateArray(), *unseen = cJSON_CreateObject();
	AUTO(json) cJSON *items = cJSON_CreateArray();

	if (list_in(k, q, NULL, kinds, denied, items, err) != 0 ||
	    (denied->child != NULL && list_by_namespace(k, q, denied, items, unseen, err) != 0) ||
	    check_sight(all, unseen, err) != 0)
		return err_wrap(err, "list the objects of '%s'", q->owner);
	*ret_items = items;
	items = NULL;
	if (ret_unseen != NULL) {
		*ret_unseen = unseen;
		unseen = NULL;
	}
	return 0;
}

/* ---- what was not seen ---- */

bool owned_is_unseen(const cJSON *unseen, const cJSON *object)
{
	const char *namespace = object_namespace(object);
	const cJSON *list = namespace != NULL ? json_get(unseen, namespace)
	                    : unseen != NULL  ? unseen->child
	                                      : NULL;

	return is_text_in(list, kind_of(object)->resource);
}

void owned_tell_unseen(const cJSON *unseen, struct strbuf *sb)
{
	for (const cJSON *item = unseen != NULL ? object_first(unseen->child) : NULL; item != NULL;
	     item = item->next)
		if (denied_everywhere(unseen, item->valuestring))
			strbuf_addf(sb, "%s%s", sb->len > 0 ? ", " : "", item->valuestring);
}

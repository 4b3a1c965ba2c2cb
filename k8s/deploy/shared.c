#include "k8s/deploy/shared.h"

#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "k8s/deploy/delete.h"
#include "k8s/deploy/kinds.h"
#include "k8s/object/shared.h"

enum { RELEASE_TRIES = 8 };

bool object_is_shared(const cJSON *object)
{
	const char *owner = object_label(object, OWNER_LABEL);

	return owner != NULL && strcmp(owner, SHARED_OWNER) == 0;
}

static const cJSON *annotations_of(const cJSON *object)
{
	return json_get(json_get(object, "metadata"), "annotations");
}

/* The fleet that an annotation stands for; NULL = it is about something else. */
static const char *user_of(const cJSON *annotation)
{
	return annotation->string != NULL && text_has_prefix(annotation->string, SHARED_USER)
	               ? annotation->string + strlen(SHARED_USER)
	               : NULL;
}

bool shared_used_by(const cJSON *object, const char *fleet)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, annotations_of(object))
		if (user_of(item) != NULL && strcmp(user_of(item), fleet) == 0)
			return true;
	return false;
}

size_t shared_others(const cJSON *object, const char *fleet, struct strbuf *names)
{
	const cJSON *item;
	size_t n = 0;

	cJSON_ArrayForEach (item, annotations_of(object)) {
		if (user_of(item) == NULL || strcmp(user_of(item), fleet) == 0)
			continue;
		if (names != NULL)
			strbuf_addf(names, "%s%s", n > 0 ? ", " : "", user_of(item));
		n++;
	}
	return n;
}

const char *shared_part(const cJSON *object)
{
	return object_is_shared(object) ? object_label(object, "app.kubernetes.io/part-of") : NULL;
}

/* ---- a fleet that leaves ---- */

/* {"metadata": {"resourceVersion": VERSION, "annotations": {KEY: null}}}: refused when it is
 * another version by now. */
static int drop_use(struct kubectl *k, const cJSON *live, const char *fleet, struct err *err)
{
	AUTO(json) cJSON *patch = cJSON_CreateObject();
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(4096), key = STRBUF_INIT(256);
	cJSON *metadata = json_add_object(patch, "metadata");
	const char *namespace = object_namespace(live);
	struct kubectl_reply reply;

	json_add_string(metadata, "resourceVersion", object_version(live));
	strbuf_addf(&key, SHARED_USER "%s", fleet);
	cJSON_AddNullToObject(json_add_object(metadata, "annotations"), strbuf_str(&key));
	json_print(patch, &text);
	const char *const args[] = {"patch",
	                            kind_of(live)->resource,
	                            object_name(live),
	                            "--type=merge",
	                            "-p",
	                            strbuf_str(&text),
	                            namespace != NULL ? "-n" : NULL,
	                            namespace,
	                            NULL};

	if (kubectl_run(k, args, NULL, &reply, err) != 0)
		return -1;
	kubectl_reply_done(&reply);
	return 0;
}

static int release_once(struct kubectl *k, const cJSON *object, const char *fleet, bool *ret_going,
                        struct err *err)
{
	AUTO(json) cJSON *wanted = cJSON_CreateArray(), *found = NULL;
	const cJSON *live;
	bool gone;

	*ret_going = false;
	cJSON_AddItemToArray(wanted, cJSON_Duplicate(object, true));
	if (kubectl_look(k, wanted, &found, err) != 0)
		return -1;
	live = object_find(found, object);
	if (live == NULL || !object_is_shared(live) || !shared_used_by(live, fleet))
		return 0;
	if (!object_leaves(live) && shared_others(live, fleet, NULL) > 0)
		return drop_use(k, live, fleet, err);
	if (!object_leaves(live) && delete_exact(k, live, object_version(live), &gone, err) != 0)
		return -1;
	*ret_going = true;
	return 0;
}

int shared_release(struct kubectl *k, const cJSON *object, const char *fleet, bool *ret_going,
                   struct err *err)
{
	for (int i = 1;; i++) {
		if (release_once(k, object, fleet, ret_going, err) == 0)
			return 0;
		/* Another version by now, or gone: the next look tells. */
		if ((err->code != ERR_CONFLICT && err->code != ERR_NOT_FOUND) || i == RELEASE_TRIES)
			return err_wrap(err, "release %s '%s'", json_string(object, "kind"),
			                object_name(object));
		*err = (struct err){0};
	}
}

/* ---- fleets with different versions ---- */

bool shared_conflict_is_ours(const char *message)
{
	static const char with[] = " with \"", manager[] = "slipway";
	const char *at = strstr(message, with);

	if (at == NULL || strstr(message, "role-arn") != NULL)
		return false;
	for (; at != NULL; at = strstr(at, with)) {
		at += strlen(with);
		if (!text_has_prefix(at, manager) ||
		    (at[strlen(manager)] != '"' && at[strlen(manager)] != '-'))
			return false;
	}
	return true;
}

/* Deleting an object, and waiting until it is gone. */
#include "k8s/deploy/delete.h"

#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/apply.h"
#include "k8s/deploy/shared.h"

enum { POLL_MS = 1000, TEXT_MAX = 1024 };

/* A part of a path as it is: names of objects need no escaping, anything else is none of ours. */
static int add_part(struct strbuf *path, const char *part, struct err *err)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:_-";

	if (part[0] == '\0' || part[strspn(part, plain)] != '\0')
		return err_set(err, ERR_FORMAT, "'%s' is not a name of an object", part);
	strbuf_addf(path, "/%s", part);
	return 0;
}

/* "/apis/batch/v1/namespaces/NAMESPACE/jobs/NAME" */
static int add_path(struct strbuf *path, const cJSON *object, struct err *err)
{
	const struct kind_row *row = kind_of(object);
	const char *namespace = object_namespace(object);

	strbuf_addf(path, "/%s/%s", row->group[0] != '\0' ? "apis" : "api",
	            json_string(object, "apiVersion"));
	if (namespace != NULL) {
		strbuf_adds(path, "/namespaces");
		if (add_part(path, namespace, err) != 0)
			return -1;
	}
	strbuf_addf(path, "/%.*s", (int)strcspn(row->resource, "."), row->resource);
	return add_part(path, object_name(object), err);
}

/* A job's pods get SIGTERM and their time to save before the job itself is gone. */
static void print_options(const cJSON *object, const char *version, struct strbuf *sb)
{
	AUTO(json) cJSON *options = cJSON_CreateObject();
	cJSON *preconditions;

	json_add_string(options, "apiVersion", "v1");
	json_add_string(options, "kind", "DeleteOptions");
	json_add_string(options, "propagationPolicy",
	                kind_of(object)->leave == LEAVE_JOB ? "Foreground" : "Background");
	preconditions = json_add_object(options, "preconditions");
	json_add_string(preconditions, "uid", object_uid(object));
	json_add_string(preconditions, "resourceVersion", version);
	json_print(options, sb);
}

/* The server answers with the object while something holds it, else with a Status. */
static bool says_gone(const struct kubectl_reply *reply)
{
	AUTO(json) cJSON *doc = NULL;
	struct err ignored = {0};

	return json_parse("kubectl's output", strbuf_str(&reply->out), reply->out.len, &doc,
	                  &ignored) == 0 &&
	       object_is(doc, "Status");
}

int delete_exact(struct kubectl *k, const cJSON *object, const char *version, bool *ret_gone,
                 struct err *err)
{
	AUTO(strbuf) struct strbuf path = STRBUF_INIT(TEXT_MAX), options = STRBUF_INIT(TEXT_MAX);
	struct kubectl_reply reply;

	*ret_gone = false;
	if (add_path(&path, object, err) != 0)
		return -1;
	print_options(object, version, &options);
	const char *const args[] = {"delete", "--raw", strbuf_str(&path), "-f", "-", NULL};

	if (kubectl_run(k, args, strbuf_str(&options), &reply, err) == 0) {
		*ret_gone = says_gone(&reply);
		kubectl_reply_done(&reply);
		return 0;
	}
	if (err->code != ERR_NOT_FOUND)
		return -1;
	*err = (struct err){0};
	*ret_gone = true;
	return 0;
}

static int look(struct kubectl *k, const cJSON *object, cJSON **ret, struct err *err)
{
	const char *namespace = object_namespace(object);
	const char *const args[] = {"get",
	                            kind_of(object)->resource,
	                            object_name(object),
	                            "--ignore-not-found",
	                            "-o",
	                            "json",
	                            namespace != NULL ? "-n" : NULL,
	                            namespace,
	                            NULL};

	return kubectl_json(k, args, NULL, ret, err);
}

/* Who still holds it: "; its finalizers: a, b", or nothing. */
static void add_finalizers(const cJSON *live, struct strbuf *sb)
{
	const cJSON *list = json_get(json_get(live, "metadata"), "finalizers");
	const char *before = "; its finalizers: ";

	for (const cJSON *f = object_first(list); f != NULL; f = f->next) {
		strbuf_addf(sb, "%s%s", before, cJSON_IsString(f) ? f->valuestring : "?");
		before = ", ";
	}
}

static int tell_late(const cJSON *live, struct err *err)
{
	AUTO(strbuf) struct strbuf held = STRBUF_INIT(TEXT_MAX);

	add_finalizers(live, &held);
	err_set(err, ERR_NETWORK, "%s '%s' is still being deleted%s", json_string(live, "kind"),
	        object_name(live), strbuf_str(&held));
	return err_hint(err, "Run the same command again to continue; a longer --timeout waits "
	                     "longer.");
}

int object_await_gone(struct kubectl *k, const cJSON *object, const struct apply_opts *opts,
                      struct err *err)
{
	const char *uid = object_uid(object);

	for (;;) {
		AUTO(json) cJSON *live = NULL;

		if (look(k, object, &live, err) != 0)
			return -1;
		/* Another of its name is not what was deleted. */
		if (live == NULL || uid == NULL || object_uid(live) == NULL ||
		    strcmp(object_uid(live), uid) != 0)
			return 0;
		if (k->clock->now_ms(k->clock) >= opts->deadline_ms)
			return tell_late(live, err);
		k->clock->sleep_ms(k->clock, POLL_MS);
	}
}

static int delete_seen(struct kubectl *k, const cJSON *object, const struct apply_opts *opts,
                       struct err *err)
{
	bool gone;

	if (delete_exact(k, object, NULL, &gone, err) != 0)
		return -1;
	return gone ? 0 : object_await_gone(k, object, opts, err);
}

int object_delete(struct kubectl *k, const cJSON *object, const struct apply_opts *opts,
                  struct err *err)
{
	AUTO(json) cJSON *live = NULL;
	bool going;
	int rc = 0;

	if (object_is_shared(object))
		return shared_release(k, object, opts->owner, &going, err);
	if (object_uid(object) == NULL) {
		rc = look(k, object, &live, err);
		object = live;
	}
	if (rc == 0 && object != NULL)
		rc = delete_seen(k, object, opts, err);
	if (rc != 0 && object != NULL)
		err_wrap(err, "delete %s '%s'", json_string(object, "kind"), object_name(object));
	return rc;
}

#include "k8s/object/patch_check.h"

#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "k8s/object/pods.h"

/* A patched object, and where to say what is wrong with it. */
struct patched {
	const cJSON *before, *after;
	const struct patch_origin *origin;
	const char *name; /* of the object */
	struct diags *d;
};

/* problem(p, hint, fmt, ...) at the patch, after the object's name. */
#define problem(p, hint, fmt, ...)                                                                 \
	diags_error((p)->d, (p)->origin->patch->at, hint, "patches[%zu]: %s %s" fmt,               \
	            (p)->origin->place, (p)->origin->patch->kind, (p)->name, __VA_ARGS__)

static bool same_text(const cJSON *a, const cJSON *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return cJSON_Compare(a, b, true);
}

/* ---- who it is ---- */

static bool is_ours(const char *key)
{
	static const char *const prefixes[] = {"slipway/", "used-by.slipway/",
	                                       "app.kubernetes.io/"};

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (text_has_prefix(key, prefixes[i]))
			return true;
	return false;
}

static void check_marks(const struct patched *p, const char *map)
{
	const cJSON *before = json_get(json_get(p->before, "metadata"), map);
	const cJSON *after = json_get(json_get(p->after, "metadata"), map);

	for (const cJSON *mark = before != NULL ? before->child : NULL; mark != NULL;
	     mark = mark->next)
		if (is_ours(mark->string) && !same_text(mark, json_get(after, mark->string)))
			problem(p, "leave it as it is, and add others beside it",
			        ": '%s' in metadata.%s is how slipway knows the "
			        "object",
			        mark->string, map);
}

static void check_identity(const struct patched *p)
{
	const cJSON *before = json_get(p->before, "metadata");
	const cJSON *after = json_get(p->after, "metadata");
	const struct {
		const char *path;
		const cJSON *before, *after;
	} rows[] = {
		{"apiVersion", json_get(p->before, "apiVersion"), json_get(p->after, "apiVersion")},
		{"kind", json_get(p->before, "kind"), json_get(p->after, "kind")},
		{"metadata.name", json_get(before, "name"), json_get(after, "name")},
		{"metadata.namespace", json_get(before, "namespace"), json_get(after, "namespace")},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!same_text(rows[i].before, rows[i].after))
			problem(p,
			        "names come from the spec's name, cluster.name and "
			        "cluster.namespace",
			        ": %s may not be another", rows[i].path);
	check_marks(p, "labels");
	check_marks(p, "annotations");
}

/* What selects pods must be among the labels of those that it makes. */
static void check_selector(const struct patched *p)
{
	const cJSON *spec = json_get(p->after, "spec");
	const cJSON *wanted = json_get(json_get(spec, "selector"), "matchLabels");
	const cJSON *labels = json_get(json_get(json_get(spec, "template"), "metadata"), "labels");

	if (json_get(spec, "template") == NULL)
		return;
	for (const cJSON *label = wanted != NULL ? wanted->child : NULL; label != NULL;
	     label = label->next)
		if (!same_text(label, json_get(labels, label->string)))
			problem(p, "let labels and selector be the same",
			        " selects pods by the label '%s', which its own do "
			        "not have",
			        label->string);
}

/* ---- its pods ---- */

/* The texts at `key` of a list's entries, each of which must be there once. */
static void check_once(const struct patched *p, const cJSON *list, const char *key,
                       const char *what)
{
	for (const cJSON *entry = list != NULL ? list->child : NULL; entry != NULL;
	     entry = entry->next) {
		const char *name = json_string(entry, key);

		if (name == NULL) {
			problem(p, "JSON Patch changes one entry, and leaves the others",
			        ": %s has no %s", what, key);
			return;
		}
		for (const cJSON *first = list->child; first != entry; first = first->next)
			if (strcmp(json_string(first, key), name) == 0)
				problem(p, "change the one that is there",
				        ": %s '%s' is there twice", what, name);
	}
}

static bool has_volume(const cJSON *pod, const char *name)
{
	const cJSON *volumes = json_get(pod, "volumes");

	for (const cJSON *v = volumes != NULL ? volumes->child : NULL; v != NULL; v = v->next) {
		const char *its = json_string(v, "name");

		if (its != NULL && strcmp(its, name) == 0)
			return true;
	}
	return false;
}

static void check_container(const struct patched *p, const cJSON *pod, const cJSON *container)
{
	const cJSON *mounts = json_get(container, "volumeMounts");

	check_once(p, json_get(container, "env"), "name", "a variable");
	check_once(p, mounts, "mountPath", "a mount at");
	for (const cJSON *m = mounts != NULL ? mounts->child : NULL; m != NULL; m = m->next) {
		const char *volume = json_string(m, "name");

		if (volume == NULL || !has_volume(pod, volume))
			problem(p, "add the volume to the pod's, too",
			        ": a container mounts '%s', which is not a volume of "
			        "its pod",
			        volume != NULL ? volume : "");
	}
}

static void check_pod(const cJSON *pod, void *listener)
{
	const struct patched *p = listener;
	struct pod_walk c = pod_walk(pod);

	check_once(p, json_get(pod, "volumes"), "name", "a volume");
	check_once(p, json_get(pod, "initContainers"), "name", "a container");
	check_once(p, json_get(pod, "containers"), "name", "a container");
	for (const cJSON *container; (container = pod_walk_next(&c)) != NULL;)
		check_container(p, pod, container);
}

/* A container by its name, in any of the object's pods. */
struct search {
	const char *name;
	bool found;
};

static void search_pod(const cJSON *pod, void *listener)
{
	struct search *search = listener;
	struct pod_walk c = pod_walk(pod);

	for (const cJSON *container; (container = pod_walk_next(&c)) != NULL;) {
		const char *name = json_string(container, "name");

		search->found = search->found || (name != NULL && strcmp(name, search->name) == 0);
	}
}

static void check_kept(const cJSON *pod, void *listener)
{
	const struct patched *p = listener;
	struct pod_walk c = pod_walk(pod);

	for (const cJSON *container; (container = pod_walk_next(&c)) != NULL;) {
		struct search search = {json_string(container, "name"), false};

		/* One that lost its name by an earlier patch was told of. */
		if (search.name == NULL)
			continue;
		each_pod(p->after, search_pod, &search);
		if (!search.found)
			problem(p,
			        "a merge patch replaces lists whole: change one entry by json, "
			        "as in {op: replace, path: "
			        "/spec/template/spec/containers/0/image, value: IMAGE}",
			        ": the container '%s' is lost", search.name);
	}
}

bool patch_check_object(const cJSON *before, const cJSON *after, const struct patch_origin *origin,
                        struct diags *d)
{
	struct patched p = {.before = before,
	                    .after = after,
	                    .origin = origin,
	                    .name = json_string(json_get(before, "metadata"), "name"),
	                    .d = d};
	size_t problems = d->n_errors;

	check_identity(&p);
	check_selector(&p);
	each_pod(before, check_kept, &p);
	each_pod(after, check_pod, &p);
	return d->n_errors == problems;
}

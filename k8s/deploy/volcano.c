#include "k8s/deploy/volcano.h"

#include <string.h>

#include "base/attr.h"
#include "base/doc/yaml.h"
#include "base/text.h"
#include "k8s/deploy/object_read.h"
#include "k8s/deploy/program.h"
#include "k8s/job/scheduler.h"

/* ---- what a configuration says ---- */

static const char *text_at(const struct yaml_node *node, const char *key)
{
	const struct yaml_node *value =
		node != NULL && node->kind == YAML_MAPPING ? yaml_get(node, key) : NULL;

	return value != NULL && value->kind == YAML_SCALAR ? value->text : NULL;
}

static const struct yaml_node *list_at(const struct yaml_node *node, const char *key)
{
	const struct yaml_node *value =
		node != NULL && node->kind == YAML_MAPPING ? yaml_get(node, key) : NULL;

	return value != NULL && value->kind == YAML_SEQUENCE ? value : NULL;
}

/* Volcano's plugins that admit a job by the devices that are there now. */
static const char *holder_of(const struct yaml_node *plugin)
{
	static const char *const holders[] = {"overcommit", "proportion", "capacity"};
	const char *name = text_at(plugin, "name");
	const char *enabled = text_at(plugin, "enableJobEnqueued");

	if (name == NULL || (enabled != NULL && strcmp(enabled, "false") == 0))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(holders); i++)
		if (strcmp(name, holders[i]) == 0)
			return holders[i];
	return NULL;
}

static const char *find_holder(const struct yaml_node *root)
{
	const struct yaml_node *tiers = list_at(root, "tiers");

	for (size_t i = 0; tiers != NULL && i < tiers->n_items; i++) {
		const struct yaml_node *plugins = list_at(tiers->items[i], "plugins");

		for (size_t j = 0; plugins != NULL && j < plugins->n_items; j++)
			if (holder_of(plugins->items[j]) != NULL)
				return holder_of(plugins->items[j]);
	}
	return NULL;
}

const char *volcano_holds_back(const char *conf)
{
	AUTO(arena) struct arena arena = {0};
	AUTO(diags) struct diags diags = {0};
	struct yaml_node *root;
	struct err ignored = {0};
	const char *actions;

	if (conf == NULL || yaml_parse("volcano-scheduler.conf", conf, strlen(conf), &arena, &root,
	                               &diags, &ignored) != 0)
		return NULL;
	/* Without the key Volcano has its default, which enqueues. */
	actions = text_at(root, "actions");
	if (actions != NULL && strstr(actions, "enqueue") == NULL)
		return NULL;
	return find_holder(root);
}

/* ---- where it is ---- */

static const cJSON *pod_of(const cJSON *workload)
{
	return json_get(json_get(json_get(workload, "spec"), "template"), "spec");
}

static const cJSON *scheduler_of(const cJSON *workload)
{
	const cJSON *c = object_first(json_get(pod_of(workload), "containers"));

	while (c != NULL && !is_program(json_string(c, "image"), "vc-scheduler"))
		c = c->next;
	return c;
}

/* The argument --scheduler-conf=/volcano.scheduler/FILE names the key of the ConfigMap. */
static const char *key_of(const cJSON *container)
{
	static const char option[] = "--scheduler-conf=";
	const cJSON *arg;

	cJSON_ArrayForEach (arg, json_get(container, "args"))
		if (cJSON_IsString(arg) && text_has_prefix(arg->valuestring, option) &&
		    strrchr(arg->valuestring, '/') != NULL)
			return strrchr(arg->valuestring, '/') + 1;
	return "volcano-scheduler.conf";
}

static const char *config_map_of(const cJSON *workload)
{
	const cJSON *v = object_first(json_get(pod_of(workload), "volumes"));

	while (v != NULL && json_get(v, "configMap") == NULL)
		v = v->next;
	return json_string(json_get(v, "configMap"), "name");
}

/* Who may not look deploys without the check. */
static int unreadable(struct kubectl *k, const char *what, struct err *err)
{
	if (err->code != ERR_DENIED)
		return err_wrap(err, "%s", what);
	progress_note(k->progress, "%s; Volcano's configuration is not checked", err->msg);
	*err = (struct err){0};
	return 0;
}

static int check_scheduler(struct kubectl *k, const cJSON *workload, struct err *err)
{
	const char *namespace = object_namespace(workload), *name = config_map_of(workload);
	AUTO(json) cJSON *map = NULL;
	const char *holder;

	if (name == NULL || namespace == NULL)
		return 0;
	const char *const args[] = {"get", "configmaps", name,
	                            "-n",  namespace,    "--ignore-not-found",
	                            "-o",  "json",       NULL};

	if (kubectl_json(k, args, NULL, &map, err) != 0)
		return unreadable(k, "read Volcano's configuration", err);
	holder = volcano_holds_back(
		json_string(json_get(map, "data"), key_of(scheduler_of(workload))));
	if (holder == NULL)
		return 0;
	err_set(err, ERR_CONFLICT,
	        "ConfigMap '%s' in %s: Volcano's action enqueue, with the plugin %s, makes no pods "
	        "of a job before there are nodes for them, and Karpenter no nodes before there are "
	        "pods",
	        name, namespace, holder);
	return err_hint(err,
	                "Take enqueue out, which changes it for every job of the cluster: `kubectl "
	                "get configmap -n %s %s -o yaml | sed '/actions:/s/enqueue, *//' | kubectl "
	                "replace -f -`. Or choose another job.scheduler.",
	                namespace, name);
}

bool volcano_matters(const struct fleet *fleet)
{
	return fleet_has_job(fleet) && fleet->scheduler->kind == SCHEDULER_VOLCANO;
}

int volcano_check(struct kubectl *k, const struct fleet *fleet, struct err *err)
{
	static const char *const args[] = {"get", "deployments.apps", "-A", "-o", "json", NULL};
	AUTO(json) cJSON *live = NULL;

	if (!volcano_matters(fleet))
		return 0;
	if (kubectl_list(k, args, NULL, &live, err) != 0)
		return unreadable(k, "look for Volcano's scheduler", err);
	for (const cJSON *o = live->child; o != NULL; o = o->next)
		if (scheduler_of(o) != NULL)
			return check_scheduler(k, o, err);
	return 0;
}

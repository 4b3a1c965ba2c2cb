#include "k8s/deploy/incluster.h"

#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/lease.h"
#include "k8s/deploy/placement.h"
#include "k8s/deploy/scout.h"
#include "k8s/deploy/state.h"
#include "k8s/job/compile.h"
#include "k8s/job/job.h"
#include "k8s/object/render.h"
#include "k8s/object/workload.h"

/* ---- rights ---- */

/* names NULL: of any name, for that which can have none: create, and lists by label. */
static void allow(cJSON *rules, const char *group, const char *resource, const char *verbs,
                  const cJSON *names)
{
	cJSON *rule = k8s_push_object(rules), *list;

	json_push_string(json_add_array(rule, "apiGroups"), group);
	json_push_string(json_add_array(rule, "resources"), resource);
	if (names != NULL)
		cJSON_AddItemToObject(rule, "resourceNames", cJSON_Duplicate(names, true));
	list = json_add_array(rule, "verbs");
	while (*verbs != '\0') {
		char verb[16];
		size_t len = strcspn(verbs, ",");

		if (len >= sizeof(verb))
			BUG("verb '%s'", verbs);
		memcpy(verb, verbs, len);
		verb[len] = '\0';
		json_push_string(list, verb);
		verbs += len + (verbs[len] == ',');
	}
}

static cJSON *role(struct k8s_output *out, const char *kind, const char *namespace,
                   const char *name)
{
	return json_add_array(k8s_add(out, "rbac.authorization.k8s.io/v1", kind, namespace, name),
	                      "rules");
}

/* The objects of every target's job, or of what goes ahead of it, by name; kubectl delete watches
 * what it deletes. */
static void allow_jobs(const struct fleet *fleet, const struct k8s_output *jobs,
                       const struct k8s_renderer *of, cJSON *rules)
{
	AUTO(json) cJSON *release = choices_of(jobs, of);

	for (size_t i = 0; i < kinds_count(); i++) {
		const struct kind_row *row = kind_at(i);
		AUTO(json) cJSON *names = cJSON_CreateArray();
		char resource[64];

		for (size_t t = 0; t < fleet->n_targets; t++) {
			struct stage stage = release_stage(release, fleet->targets[t].name);

			for (const cJSON *o = stage.items != NULL ? stage.items->child : NULL;
			     o != NULL; o = o->next)
				if (kind_of(o) == row)
					json_push_string(names, object_name(o));
			stage_done(&stage);
		}
		if (names->child == NULL)
			continue;
		snprintf(resource, sizeof(resource), "%.*s", (int)strcspn(row->resource, "."),
		         row->resource);
		allow(rules, row->group, resource, "create", NULL);
		allow(rules, row->group, resource, "get,list,watch,patch,delete", names);
	}
}

/* Who looks for capacity of better targets. */
static void allow_scouts(const struct fleet *fleet, struct k8s_output *out, cJSON *rules)
{
	AUTO(json) cJSON *names = cJSON_CreateArray();

	if (!fleet->failover.returns)
		return;
	for (size_t t = 0; t < fleet->n_targets; t++)
		json_push_string(
			names, arena_printf(&out->arena, "%s" SCOUT_SUFFIX, fleet->targets[t].job));
	allow(rules, "batch", "jobs", "create", NULL);
	allow(rules, "batch", "jobs", "get,list,watch,patch,delete", names);
}

static void allow_own(const char *group, const char *resource, const char *verbs, const char *name,
                      cJSON *rules)
{
	AUTO(json) cJSON *names = cJSON_CreateArray();

	json_push_string(names, name);
	allow(rules, group, resource, "create", NULL);
	allow(rules, group, resource, verbs, names);
}

static void render_rights(const struct fleet *fleet, const struct k8s_output *jobs,
                          struct k8s_output *out, const char *name)
{
	struct role_binding own = {fleet->namespace, name, name, fleet->namespace, name};
	struct role_binding events = {"default", name, name, fleet->namespace, name};
	cJSON *rules;

	json_add_bool(k8s_service_account(out, fleet->namespace, name),
	              "automountServiceAccountToken", false);
	rules = role(out, "Role", fleet->namespace, name);
	allow_jobs(fleet, jobs, &jobs_renderer, rules);
	allow_jobs(fleet, jobs, &compile_renderer, rules);
	allow_scouts(fleet, out, rules);
	allow_own("", "configmaps", "get,patch",
	          arena_printf(&out->arena, "%s" STATE_SUFFIX, fleet->name), rules);
	allow_own("", "configmaps", "get,patch",
	          arena_printf(&out->arena, "%s" RUNS_SUFFIX, fleet->name), rules);
	allow_own("coordination.k8s.io", "leases", "get,update",
	          arena_printf(&out->arena, "%s" LEASE_SUFFIX, fleet->name), rules);
	allow(rules, "", "pods", "list,watch", NULL);
	allow(rules, "", "events", "list,watch", NULL);
	k8s_bind_role(out, &own);
	/* Node claims have no namespace, and their events are in "default". */
	allow(role(out, "ClusterRole", NULL, name), "karpenter.sh", "nodeclaims", "list,watch",
	      NULL);
	k8s_bind(out, name, name, fleet->namespace, name);
	if (strcmp(fleet->namespace, "default") == 0)
		return;
	allow(role(out, "Role", "default", name), "", "events", "list,watch", NULL);
	k8s_bind_role(out, &events);
}

/* ---- the Job ---- */

/* Statuses that another try would not change: see exit statuses in docs/DEPLOY.md. */
static void add_failure_policy(cJSON *spec, const char *container)
{
	static const int final[] = {1, 2, 3, 6, 8};
	cJSON *rule =
		k8s_push_object(json_add_array(json_add_object(spec, "podFailurePolicy"), "rules"));
	cJSON *codes;

	json_add_string(rule, "action", "FailJob");
	codes = json_add_object(rule, "onExitCodes");
	json_add_string(codes, "containerName", container);
	json_add_string(codes, "operator", "In");
	cJSON *values = json_add_array(codes, "values");

	for (size_t i = 0; i < ARRAY_LEN(final); i++)
		json_push(values, cJSON_CreateNumber(final[i]));
}

static void add_volumes(cJSON *pod, cJSON *container, const char *config_map)
{
	cJSON *volumes = json_add_array(pod, "volumes");
	cJSON *mounts = json_add_array(container, "volumeMounts");
	cJSON *volume = k8s_push_object(volumes);

	json_add_string(volume, "name", "spec");
	json_add_string(json_add_object(volume, "configMap"), "name", config_map);
	k8s_mount(mounts, "spec", CONTROLLER_SPEC_DIR, true);
	job_scratch(volumes, mounts);
}

static void add_container(const struct controller_opts *opts, cJSON *container)
{
	json_add_string(container, "name", "slipway");
	json_add_string(container, "image", opts->image);
	json_add_string(container, "imagePullPolicy", "IfNotPresent");
	json_push_string(json_add_array(container, "command"), "/usr/bin/slipway");
	k8s_add_strings(container, "args", opts->args.at, opts->args.n);
	/* kubectl keeps what it learned of the API there. */
	k8s_env(json_add_array(container, "env"), "HOME", "/tmp");
	k8s_small_resources(container, "50m", "256Mi");
	k8s_restricted(container);
}

static void render_job(const struct fleet *fleet, const struct controller_opts *opts,
                       struct k8s_output *out, const char *name)
{
	cJSON *spec =
		json_add_object(k8s_add(out, "batch/v1", "Job", fleet->namespace, name), "spec");
	cJSON *template, *metadata, *pod, *container;

	json_add_int(spec, "backoffLimit", 6);
	json_add_int(spec, "ttlSecondsAfterFinished", fleet->job->ttl_seconds);
	add_failure_policy(spec, "slipway");
	template = json_add_object(spec, "template");
	metadata = json_add_object(template, "metadata");
	k8s_labels(out, json_add_object(metadata, "labels"), name);
	json_add_string(json_add_object(metadata, "annotations"), k8s_do_not_disrupt(fleet),
	                "true");
	pod = json_add_object(template, "spec");
	json_add_string(pod, "restartPolicy", "Never");
	json_add_string(pod, "serviceAccountName", name);
	json_add_bool(pod, "automountServiceAccountToken", true);
	job_pull_secrets(fleet->job, pod);
	/* It gives its lease back first. */
	json_add_int(pod, "terminationGracePeriodSeconds", 60);
	json_add_string(json_add_object(pod, "nodeSelector"), "kubernetes.io/arch",
	                k8s_system_arch(fleet));
	job_security(fleet, pod);
	container = k8s_push_object(json_add_array(pod, "containers"));
	add_container(opts, container);
	add_volumes(pod, container, name);
}

/* The objects from `first` on of the output's one file. */
static struct stage take_from(const struct k8s_output *out, const char *name, size_t first,
                              size_t n)
{
	struct stage stage = {name, cJSON_CreateArray()};

	for (size_t i = first; i < n; i++)
		cJSON_AddItemReferenceToArray(stage.items, out->files[0].at[i].doc);
	return stage;
}

void controller_render(const struct fleet *fleet, const struct controller_opts *opts,
                       struct k8s_output *out, struct stage *ret_rights, struct stage *ret_job)
{
	const char *name;
	size_t n;

	static const struct k8s_renderer row = {.number = "70", .name = DEPLOY_COMPONENT};

	*out = (struct k8s_output){.fleet = fleet};
	k8s_begin(out, &row);
	name = arena_printf(&out->arena, "%s" CONTROLLER_SUFFIX, fleet->name);
	k8s_file(out, "deploy.yaml", "The deploy that runs in the cluster.");
	render_rights(fleet, opts->jobs, out, name);
	k8s_config_map(out, fleet->namespace, name, "slipway.yaml", opts->spec);
	n = out->files[0].n;
	render_job(fleet, opts, out, name);
	*ret_rights = take_from(out, "deploy", 0, n);
	*ret_job = take_from(out, "controller", n, out->files[0].n);
}

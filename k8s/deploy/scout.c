#include "k8s/deploy/scout.h"

#include "base/attr.h"
#include "k8s/deploy/pod.h"
#include "k8s/fleet/pins.h"
#include "k8s/job/job.h"
#include "k8s/object/workload.h"
#include "k8s/view/explain.h"

bool scout_is_possible(const struct fleet *fleet, const struct fleet_target *target)
{
	return !fleet_target_uses_dra(fleet, target);
}

static void name_of(const struct fleet_target *target, struct strbuf *sb)
{
	strbuf_addf(sb, "%s" SCOUT_SUFFIX, target->job);
}

static void add_pod(const struct fleet *fleet, const struct fleet_target *target, cJSON *pod)
{
	static const char *const command[] = {"sleep", "86400"};
	cJSON *selector, *container, *tolerations;

	json_add_string(pod, "restartPolicy", "Never");
	json_add_bool(pod, "automountServiceAccountToken", false);
	json_add_int(pod, "terminationGracePeriodSeconds", 1);
	json_add_string(pod, "priorityClassName", fleet->job->priority_class);
	selector = json_add_object(pod, "nodeSelector");
	json_add_string(selector, k8s_pool_label(fleet), target->pool);
	json_add_string(selector, "kubernetes.io/arch", target->arch);
	tolerations = json_add_array(pod, "tolerations");
	k8s_tolerate_target(tolerations, target);
	job_tolerate(fleet->job, tolerations);
	job_security(fleet, pod);
	container = k8s_push_object(json_add_array(pod, "containers"));
	json_add_string(container, "name", SCOUT_COMPONENT);
	json_add_string(container, "image", pins[PIN_SHELL].image);
	k8s_add_strings(container, "command", command, ARRAY_LEN(command));
	job_resources(fleet, target, container);
	k8s_restricted(container);
}

cJSON *scout_render(const struct fleet *fleet, const struct fleet_target *target, int64_t seconds,
                    struct k8s_output *out)
{
	static const struct k8s_renderer row = {.number = "70", .name = SCOUT_COMPONENT};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(256);
	cJSON *job, *spec, *template;
	const char *name;

	*out = (struct k8s_output){.fleet = fleet};
	k8s_begin(out, &row);
	k8s_file(out, "scout.yaml", "Capacity of a better target.");
	name_of(target, &sb);
	name = arena_strdup(&out->arena, strbuf_str(&sb));
	job = k8s_add(out, "batch/v1", "Job", fleet->namespace, name);
	spec = json_add_object(job, "spec");
	json_add_int(spec, "completions", target->nodes);
	json_add_int(spec, "parallelism", target->nodes);
	json_add_int(spec, "backoffLimit", target->nodes);
	json_add_int(spec, "activeDeadlineSeconds", seconds);
	json_add_int(spec, "ttlSecondsAfterFinished", 60);
	template = json_add_object(spec, "template");
	k8s_labels(out, json_add_object(json_add_object(template, "metadata"), "labels"), name);
	add_pod(fleet, target, json_add_object(template, "spec"));
	return job;
}

int scout_start(struct kubectl *k, const struct fleet *fleet, const struct fleet_target *target,
                int64_t seconds, const struct apply_opts *opts, struct err *err)
{
	struct stage stage = {SCOUT_COMPONENT, cJSON_CreateArray()};
	struct apply_counts counts;
	struct k8s_output out;
	int rc;

	cJSON_AddItemReferenceToArray(stage.items, scout_render(fleet, target, seconds, &out));
	rc = stage_apply(k, &stage, opts, &counts, err);
	cJSON_Delete(stage.items);
	k8s_output_done(&out);
	return rc;
}

int scout_look(struct kubectl *k, const struct fleet *fleet, const struct fleet_target *target,
               int64_t *ret_running, struct err *err)
{
	AUTO(strbuf) struct strbuf selector = STRBUF_INIT(512);
	AUTO(json) cJSON *pods = NULL;

	strbuf_adds(&selector, "app.kubernetes.io/name=");
	name_of(target, &selector);
	strbuf_addf(&selector, ",app.kubernetes.io/instance=%s", fleet->name);
	const char *const args[] = {
		"get", "pods", "-n", fleet->namespace, "-l", strbuf_str(&selector),
		"-o",  "json", NULL};

	*ret_running = 0;
	if (kubectl_list(k, args, NULL, &pods, err) != 0)
		return -1;
	for (const cJSON *pod = pods->child; pod != NULL; pod = pod->next)
		*ret_running += pod_runs(pod);
	return 0;
}

int scout_end(struct kubectl *k, const struct fleet *fleet, const struct fleet_target *target,
              struct err *err)
{
	AUTO(strbuf) struct strbuf name = STRBUF_INIT(256);
	struct kubectl_reply reply;

	name_of(target, &name);
	const char *const args[] = {"delete",
	                            "jobs.batch",
	                            strbuf_str(&name),
	                            "--ignore-not-found",
	                            "--cascade=foreground",
	                            "--timeout=120s",
	                            "-n",
	                            fleet->namespace,
	                            NULL};

	if (kubectl_run(k, args, NULL, &reply, err) != 0)
		return err_wrap(err, "delete Job '%s'", strbuf_str(&name));
	kubectl_reply_done(&reply);
	return 0;
}

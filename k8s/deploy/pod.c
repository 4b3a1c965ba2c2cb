#include "k8s/deploy/pod.h"

#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "k8s/job/scheduler.h"

static bool in_phase(const cJSON *pod, const char *phase)
{
	return object_says(json_get(pod, "status"), "phase", phase);
}

bool pod_runs(const cJSON *pod)
{
	return in_phase(pod, "Running") || in_phase(pod, "Succeeded");
}

const cJSON *pod_containers(const cJSON *pod)
{
	return object_first(json_get(json_get(pod, "status"), "containerStatuses"));
}

bool pod_ran(const cJSON *pod)
{
	if (pod_runs(pod) || in_phase(pod, "Failed"))
		return true;
	for (const cJSON *c = pod_containers(pod); c != NULL; c = c->next)
		if (object_number(c, "restartCount") > 0 ||
		    json_get(json_get(c, "state"), "running") != NULL ||
		    json_get(json_get(c, "state"), "terminated") != NULL ||
		    json_get(json_get(c, "lastState"), "terminated") != NULL)
			return true;
	return false;
}

const char *pod_node(const cJSON *pod)
{
	return json_string(json_get(pod, "spec"), "nodeName");
}

const char *pod_unplaced(const cJSON *pod)
{
	if (object_holds(pod, "PodScheduled"))
		return NULL;
	return json_string(object_condition(pod, "PodScheduled"), "message");
}

bool container_waits(const cJSON *container, const char **ret_reason, const char **ret_message)
{
	const cJSON *waiting = json_get(json_get(container, "state"), "waiting");
	const char *reason = json_string(waiting, "reason");

	if (reason == NULL)
		return false;
	*ret_reason = reason;
	*ret_message = json_string(waiting, "message");
	return true;
}

int64_t pod_restarts(const cJSON *pod)
{
	int64_t sum = 0;

	for (const cJSON *c = pod_containers(pod); c != NULL; c = c->next) {
		int64_t n = object_number(c, "restartCount");

		if (n > 0 && n < 1000000000)
			sum += n;
	}
	return sum;
}

static bool number_in(const char *text, int64_t *ret)
{
	size_t n = text != NULL ? strspn(text, "0123456789") : 0;

	return n > 0 && n < 7 && text_int64(text, n, ret);
}

int64_t pod_rank(const cJSON *pod, const char *job)
{
	const cJSON *annotations = json_get(json_get(pod, "metadata"), "annotations");
	const char *name = object_name(pod), *dash;
	size_t len = strlen(job);
	int64_t rank;

	for (size_t i = 0; i < SCHEDULERS; i++)
		if (number_in(object_label(pod, schedulers[i].index_key), &rank) ||
		    number_in(json_string(annotations, schedulers[i].index_key), &rank))
			return rank;
	/* JOB-worker-3 (Volcano, MPI). */
	if (name == NULL || strncmp(name, job, len) != 0 || name[len] != '-')
		return -1;
	dash = strrchr(name, '-');
	if (number_in(dash + 1, &rank) && dash[1 + strspn(dash + 1, "0123456789")] == '\0' &&
	    dash > name + len)
		return rank;
	return -1;
}

bool pod_launches(const cJSON *pod)
{
	return object_says(object_first(json_get(json_get(pod, "spec"), "containers")), "name",
	                   "launcher");
}

const char *pod_container(const cJSON *pod)
{
	return pod_launches(pod) ? "launcher" : "trainer";
}

int pod_phase_rank(const cJSON *pod)
{
	static const char *const order[] = {"Pending", "Failed", "Succeeded", "Running"};

	for (int i = 0; i < (int)ARRAY_LEN(order); i++)
		if (in_phase(pod, order[i]))
			return i;
	return 0;
}

const cJSON *pod_of_training(const cJSON *pods, const char *job)
{
	const cJSON *best = NULL;

	for (const cJSON *pod = object_first(pods); pod != NULL; pod = pod->next) {
		bool launches = pod_launches(pod);

		if (!launches && pod_rank(pod, job) != 0)
			continue;
		if (best == NULL || launches > pod_launches(best) ||
		    (launches == pod_launches(best) && pod_phase_rank(pod) >= pod_phase_rank(best)))
			best = pod;
	}
	return best;
}

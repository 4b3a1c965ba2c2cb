#include "k8s/deploy/pod.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/run_exit.h"
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

static const cJSON *init_containers(const cJSON *pod)
{
	return object_first(json_get(json_get(pod, "status"), "initContainerStatuses"));
}

const cJSON *pod_next_status(const cJSON *pod, const cJSON *status)
{
	const cJSON *first = init_containers(pod);

	if (status == NULL)
		return first != NULL ? first : pod_containers(pod);
	if (status->next != NULL)
		return status->next;
	/* The last of the first list is followed by the second. */
	for (const cJSON *c = first; c != NULL; c = c->next)
		if (c == status)
			return pod_containers(pod);
	return NULL;
}

static bool container_ran(const cJSON *pod)
{
	for (const cJSON *c = pod_containers(pod); c != NULL; c = c->next)
		if (object_number(c, "restartCount") > 0 ||
		    json_get(json_get(c, "state"), "running") != NULL ||
		    json_get(json_get(c, "state"), "terminated") != NULL ||
		    json_get(json_get(c, "lastState"), "terminated") != NULL)
			return true;
	return false;
}

/* Reasons of a kubelet that did not admit the pod (k8s.io/kubernetes, pkg/kubelet/lifecycle). */
static bool is_rejection(const char *reason)
{
	static const char *const words[] = {"UnexpectedAdmissionError", "NodeAffinity",
	                                    "TopologyAffinityError", "NodeShutdown"};

	for (size_t i = 0; reason != NULL && i < ARRAY_LEN(words); i++)
		if (strcmp(reason, words[i]) == 0)
			return true;
	return reason != NULL && text_has_prefix(reason, "OutOf");
}

bool pod_rejected(const cJSON *pod)
{
	return in_phase(pod, "Failed") && !container_ran(pod) &&
	       is_rejection(json_string(json_get(pod, "status"), "reason"));
}

bool pod_ran(const cJSON *pod)
{
	return pod_runs(pod) || container_ran(pod) ||
	       (in_phase(pod, "Failed") && !pod_rejected(pod));
}

/* ---- how it failed ---- */

/* "OOMKilled, exit status 137"; 1 and 2 are any program's, from 75 on a status says what ended a
 * trainer. */
static bool ended_badly(const cJSON *container, char out[POD_TEXT_MAX])
{
	const cJSON *ended = json_get(json_get(container, "state"), "terminated");
	const char *reason = json_string(ended, "reason");
	int64_t code = object_number(ended, "exitCode");
	const struct run_exit_row *row =
		code >= RUN_EXIT_STOPPED && code < 256 ? run_exit_find((int)code) : NULL;

	if (ended == NULL || code == 0)
		return false;
	snprintf(out, POD_TEXT_MAX, "%s%sexit status %lld%s%s", reason != NULL ? reason : "",
	         reason != NULL ? ", " : "", (long long)code, row != NULL ? ": " : "",
	         row != NULL ? row->meaning : "");
	return true;
}

/* Of those before the job's: one that goes on beside it may end as it likes once the job has begun.
 */
static bool init_ended_badly(const cJSON *pod, char out[POD_TEXT_MAX])
{
	char how[POD_TEXT_MAX];

	if (container_ran(pod))
		return false;
	for (const cJSON *c = init_containers(pod); c != NULL; c = c->next) {
		const char *name = json_string(c, "name");

		if (!ended_badly(c, how))
			continue;
		snprintf(out, POD_TEXT_MAX, "init container %.64s: %.200s",
		         name != NULL ? name : "?", how);
		return true;
	}
	return false;
}

static void make_printable(char *text)
{
	for (char *p = text; *p != '\0'; p++)
		if (*p < ' ' || *p > '~')
			*p = *p == '\n' || *p == '\t' ? ' ' : '?';
}

bool pod_failure(const cJSON *pod, char out[POD_TEXT_MAX])
{
	const cJSON *status = json_get(pod, "status");
	const char *reason = json_string(status, "reason");
	const char *message = json_string(status, "message");
	bool found = false;

	out[0] = '\0';
	/* A pod's own reason says more than how its containers were killed: Evicted. */
	if (in_phase(pod, "Failed") && reason != NULL) {
		snprintf(out, POD_TEXT_MAX, "%s%s%s", reason, message != NULL ? ": " : "",
		         message != NULL ? message : "");
		found = true;
	}
	for (const cJSON *c = pod_containers(pod); c != NULL && !found; c = c->next)
		found = ended_badly(c, out);
	found = found || init_ended_badly(pod, out);
	make_printable(out);
	return found;
}

int64_t pod_ended_ms(const cJSON *pod)
{
	int64_t first = 0;

	for (const cJSON *c = pod_containers(pod); c != NULL; c = c->next) {
		int64_t at =
			object_time(json_get(json_get(c, "state"), "terminated"), "finishedAt");

		if (at > 0 && (first == 0 || at < first))
			first = at;
	}
	return first;
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

#include "k8s/deploy/job.h"

#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/pod.h"
#include "k8s/job/job.h"
#include "k8s/job/scheduler.h"

const char *job_phase_name(enum job_phase phase)
{
	static const char *const names[] = {"absent", "pending", "running", "succeeded", "failed"};

	_Static_assert(ARRAY_LEN(names) == JOB_PHASES, "names: one per enum job_phase");
	return names[phase];
}

bool job_has_ended(enum job_phase phase)
{
	return phase == JOB_SUCCEEDED || phase == JOB_FAILED;
}

/* ---- which object ---- */

bool is_job_of(const cJSON *object, const struct fleet_target *target)
{
	const char *kind = json_string(object, "kind"), *name = object_name(object);

	return object_in(object, jobs_renderer.name) && kind != NULL &&
	       strcmp(kind, "Service") != 0 && strcmp(kind, "ResourceClaimTemplate") != 0 &&
	       name != NULL && strcmp(name, target->job) == 0;
}

const cJSON *job_find(const cJSON *objects, const struct fleet_target *target)
{
	const cJSON *object = object_first(objects);

	while (object != NULL && !is_job_of(object, target))
		object = object->next;
	return object;
}

const struct fleet_target *job_find_target(const cJSON *objects, const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n_targets; i++)
		if (job_find(objects, &fleet->targets[i]) != NULL)
			return &fleet->targets[i];
	return NULL;
}

/* ---- its size ---- */

/* The member at "spec.parallelism" or "spec.list.0.x"; NULL if there is none. */
static const cJSON *member_at(const cJSON *object, const char *path)
{
	while (object != NULL && *path != '\0') {
		char key[64];
		size_t len = strcspn(path, ".");

		if (len >= sizeof(key))
			return NULL;
		memcpy(key, path, len);
		key[len] = '\0';
		object = key[0] == '0' ? object_first(object) : json_get(object, key);
		path += len + (path[len] == '.');
	}
	return object;
}

int64_t job_nodes(const struct fleet_target *target, const cJSON *job)
{
	const struct kind_row *row = kind_of(job);

	for (size_t i = 0; i < SCHEDULERS; i++) {
		const cJSON *nodes = row == &schedulers[i].object
		                             ? member_at(job, schedulers[i].nodes_at)
		                             : NULL;

		if (nodes != NULL && cJSON_IsNumber(nodes) && nodes->valuedouble >= 1 &&
		    nodes->valuedouble <= 1e6)
			return (int64_t)nodes->valuedouble;
	}
	return target->nodes;
}

/* ---- its phase ---- */

/* Where a word stands. */
enum said_in {
	IN_CONDITIONS, /* type of a condition that is True: Job, JobSet, MPIJob */
	IN_STATE       /* status.state.phase: Volcano's Job */
};

/* A word that is not here is that of a job on its way. The first row that applies counts. */
static const struct {
	enum said_in in;
	const char *word;
	enum job_phase means;
} words[] = {
	{IN_CONDITIONS, "Complete", JOB_SUCCEEDED},  /* Job */
	{IN_CONDITIONS, "Completed", JOB_SUCCEEDED}, /* JobSet */
	{IN_CONDITIONS, "Succeeded", JOB_SUCCEEDED}, /* MPIJob */
	{IN_STATE, "Completed", JOB_SUCCEEDED},
	{IN_CONDITIONS, "Failed", JOB_FAILED},
	{IN_STATE, "Failed", JOB_FAILED},
	{IN_STATE, "Terminated", JOB_FAILED},
	{IN_STATE, "Aborted", JOB_FAILED},
	{IN_STATE, "Terminating", JOB_FAILED},
	{IN_STATE, "Aborting", JOB_FAILED},
	{IN_STATE, "Running", JOB_RUNNING},
	{IN_STATE, "Completing", JOB_RUNNING},
};

/* Kubernetes', JobSet's and MPI's only count their pods: the job runs when all of those do. */
static enum job_phase phase_of_pods(const struct job_view *v)
{
	return v->pods > 0 && v->running == v->pods ? JOB_RUNNING : JOB_WAITING;
}

static void read_phase(const cJSON *job, struct job_view *v)
{
	const cJSON *state = json_get(json_get(job, "status"), "state");
	bool in_state = json_string(state, "phase") != NULL;
	const cJSON *said = in_state ? state : NULL;

	v->phase = in_state ? JOB_WAITING : phase_of_pods(v);
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (words[i].in == IN_STATE ? !object_says(state, "phase", words[i].word)
		                            : !object_holds(job, words[i].word))
			continue;
		v->phase = words[i].means;
		if (!in_state)
			said = object_condition(job, words[i].word);
		break;
	}
	v->why = json_string(said, "message");
	v->reason = json_string(said, "reason");
}

/* ---- its pods ---- */

/* Pods may be gone whose job remembers them. Those that their nodes refused have not run. */
static bool remembers_pods(const cJSON *job, size_t rejected)
{
	static const char *const counters[] = {"ready",      "running",  "succeeded",  "failed",
	                                       "retryCount", "restarts", "terminating"};

	for (size_t i = 0; i < ARRAY_LEN(counters); i++)
		if (object_number(json_get(job, "status"), counters[i]) >
		    (strcmp(counters[i], "failed") == 0 ? (int64_t)rejected : 0))
			return true;
	return false;
}

void job_read(const struct fleet_target *target, const cJSON *job, const cJSON *pods,
              struct job_view *ret)
{
	*ret = (struct job_view){.phase = JOB_ABSENT, .wanted = (size_t)target->nodes};
	if (job == NULL)
		return;
	ret->wanted = (size_t)job_nodes(target, job);
	for (const cJSON *pod = object_first(pods); pod != NULL; pod = pod->next) {
		ret->pods++;
		ret->running += pod_runs(pod);
		ret->alive += !object_says(json_get(pod, "status"), "phase", "Failed");
		ret->rejected += pod_rejected(pod);
		ret->ran = ret->ran || pod_ran(pod);
	}
	ret->ran = ret->ran || remembers_pods(job, ret->rejected);
	read_phase(job, ret);
}

/* The job, its pods, and why this target. */
#include "k8s/deploy/status_job.h"

#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "k8s/deploy/state.h"

/* ---- the recorded choice ---- */

/* The owned ConfigMap's document; the caller deletes. NULL: there is none, or it is no JSON. */
static cJSON *read_state(const cJSON *owned)
{
	for (const cJSON *o = owned != NULL ? owned->child : NULL; o != NULL; o = o->next) {
		const char *kind = json_string(o, "kind");
		const char *text = json_string(json_get(o, "data"), STATE_KEY);
		struct err ignored = {0};
		cJSON *doc;

		if (kind != NULL && strcmp(kind, "ConfigMap") == 0 && text != NULL &&
		    json_parse(STATE_KEY, text, strlen(text), &doc, &ignored) == 0)
			return doc;
	}
	return NULL;
}

static struct status_attempt read_attempt(const cJSON *item, struct arena *a)
{
	return (struct status_attempt){
		.target = status_clean(a, json_string(item, "target")),
		.started = status_clean(a, json_string(item, "started")),
		.ended = status_clean(a, json_string(item, "ended")),
		.outcome = status_clean(a, json_string(item, "outcome")),
		.cause = status_clean(a, json_string(item, "cause")),
	};
}

void status_read_history(const struct status_input *in, struct arena *a, struct status *s)
{
	AUTO(json) cJSON *doc = read_state(in->owned);
	const cJSON *attempts = json_get(doc, "attempts");
	const char *target = json_string(doc, "target");
	int n = cJSON_IsArray(attempts) ? cJSON_GetArraySize(attempts) : 0;

	/* What was said of another target says nothing of this one. */
	if (target != NULL && s->target != NULL && strcmp(target, s->target) == 0) {
		s->reason = status_clean(a, json_string(doc, "reason"));
		s->since = status_clean(a, json_string(doc, "since"));
	}
	s->attempts = arena_calloc(a, (size_t)n, sizeof(*s->attempts));
	for (const cJSON *item = n > 0 ? attempts->child : NULL; item != NULL; item = item->next)
		s->attempts[s->n_attempts++] = read_attempt(item, a);
}

/* ---- which job ---- */

static const cJSON *job_of(const struct fleet_target *target, const cJSON *owned)
{
	for (const cJSON *o = owned != NULL ? owned->child : NULL; o != NULL; o = o->next)
		if (is_job_of(o, target))
			return o;
	return NULL;
}

const struct fleet_target *status_target(const struct fleet *fleet, const cJSON *owned)
{
	AUTO(json) cJSON *doc = read_state(owned);
	const char *recorded = json_string(doc, "target");
	const struct fleet_target *first = NULL;

	for (size_t i = 0; i < fleet->n_targets; i++) {
		const struct fleet_target *target = &fleet->targets[i];

		if (job_of(target, owned) == NULL)
			continue;
		if (recorded != NULL && strcmp(recorded, target->name) == 0)
			return target;
		if (first == NULL)
			first = target;
	}
	return first;
}

/* ---- its phase ---- */

/* Volcano's words for a job on its way. */
static enum job_phase volcano_phase(const char *word)
{
	static const struct {
		const char *word;
		enum job_phase phase;
	} words[] = {{"Running", JOB_RUNNING},
	             {"Completing", JOB_RUNNING},
	             {"Aborting", JOB_FAILED},
	             {"Terminating", JOB_FAILED}};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(words[i].word, word) == 0)
			return words[i].phase;
	return JOB_WAITING;
}

static enum job_phase phase_of(const cJSON *job, const struct status *s, const char **ret_why)
{
	const cJSON *state = json_get(json_get(job, "status"), "state"), *said;
	const char *word = json_string(state, "phase");
	enum job_phase phase = job_end(job, &said);

	*ret_why = json_string(word != NULL ? state : said, "message");
	if (phase == JOB_WAITING && word != NULL)
		return volcano_phase(word);
	if (phase != JOB_WAITING || s->n_pods == 0)
		return phase;
	/* The others only count: it runs when all pods do. */
	for (size_t i = 0; i < s->n_pods; i++)
		if (strcmp(s->pods[i].phase, "Running") != 0 &&
		    strcmp(s->pods[i].phase, "Succeeded") != 0)
			return JOB_WAITING;
	return JOB_RUNNING;
}

/* ---- pods ---- */

static bool number_in(const char *text, int64_t *ret)
{
	size_t n = text != NULL ? strspn(text, "0123456789") : 0;

	return n > 0 && n < 7 && text_int64(text, n, ret);
}

int64_t pod_rank(const cJSON *pod, const char *job)
{
	static const char *const keys[] = {"batch.kubernetes.io/job-completion-index",
	                                   "volcano.sh/task-index",
	                                   "training.kubeflow.org/replica-index"};
	const cJSON *annotations = json_get(json_get(pod, "metadata"), "annotations");
	const char *name = object_name(pod), *dash;
	size_t len = strlen(job);
	int64_t rank;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (number_in(object_label(pod, keys[i]), &rank) ||
		    number_in(json_string(annotations, keys[i]), &rank))
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

static const char *container_why(const cJSON *status, struct arena *a)
{
	const cJSON *state = json_get(status, "state");
	const cJSON *waiting = json_get(state, "waiting"), *ended = json_get(state, "terminated");
	const char *reason = json_string(waiting, "reason");
	const char *message = json_string(waiting, "message");
	const cJSON *code = json_get(ended, "exitCode");

	if (reason != NULL)
		return arena_printf(a, "%s%s%s", reason, message != NULL ? ": " : "",
		                    message != NULL ? message : "");
	reason = json_string(ended, "reason");
	if (cJSON_IsNumber(code) && code->valuedouble != 0)
		return arena_printf(a, "%s, exit status %d", reason != NULL ? reason : "ended",
		                    code->valueint);
	return NULL;
}

/* The first thing that keeps a pod from running; "" if nothing does. */
static const char *pod_why(const cJSON *pod, struct arena *a)
{
	const cJSON *status = json_get(pod, "status");
	const cJSON *scheduled = object_condition(pod, "PodScheduled");
	const cJSON *list = json_get(status, "containerStatuses"), *item;
	const char *message = json_string(status, "message");

	if (scheduled != NULL && !object_holds(pod, "PodScheduled") &&
	    json_string(scheduled, "message") != NULL)
		return status_clean(a, json_string(scheduled, "message"));
	for (item = cJSON_IsArray(list) ? list->child : NULL; item != NULL; item = item->next) {
		const char *why = container_why(item, a);

		if (why != NULL)
			return status_clean(a, why);
	}
	return message != NULL ? status_clean(a, message) : "";
}

static int64_t restarts_of(const cJSON *pod)
{
	const cJSON *list = json_get(json_get(pod, "status"), "containerStatuses"), *item;
	int64_t sum = 0;

	for (item = cJSON_IsArray(list) ? list->child : NULL; item != NULL; item = item->next) {
		const cJSON *n = json_get(item, "restartCount");

		if (cJSON_IsNumber(n) && n->valuedouble >= 0 && n->valuedouble < 1e9)
			sum += (int64_t)n->valuedouble;
	}
	return sum;
}

static struct status_pod read_pod(const cJSON *pod, const char *job, struct arena *a)
{
	const char *name = object_name(pod);
	const char *phase = json_string(json_get(pod, "status"), "phase");

	return (struct status_pod){
		.name = name != NULL ? status_clean(a, name) : "?",
		.phase = phase != NULL ? status_clean(a, phase) : "Unknown",
		.node = status_clean(a, json_string(json_get(pod, "spec"), "nodeName")),
		.rank = pod_rank(pod, job),
		.restarts = restarts_of(pod),
		.ready = object_holds(pod, "Ready"),
		.why = pod_why(pod, a),
	};
}

/* By rank, launchers first, then by name. */
static int by_rank(const void *a, const void *b)
{
	const struct status_pod *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void read_pods(const struct status_input *in, const char *job, struct arena *a,
                      struct status *s)
{
	int max = cJSON_IsArray(in->pods) ? cJSON_GetArraySize(in->pods) : 0;

	s->pods = arena_calloc(a, (size_t)max, sizeof(*s->pods));
	for (const cJSON *o = max > 0 ? in->pods->child : NULL; o != NULL; o = o->next)
		s->pods[s->n_pods++] = read_pod(o, job, a);
	if (s->n_pods > 1)
		qsort(s->pods, s->n_pods, sizeof(*s->pods), by_rank);
}

void status_read_job(const struct status_input *in, struct arena *a, struct status *s)
{
	const struct fleet_target *target =
		in->fleet != NULL ? status_target(in->fleet, in->owned) : NULL;
	const cJSON *job = target != NULL ? job_of(target, in->owned) : NULL;
	const char *why;

	s->why = "";
	s->job_age_s = -1;
	if (job == NULL)
		return;
	s->target = target->name;
	s->job = target->job;
	read_pods(in, target->job, a, s);
	s->phase = phase_of(job, s, &why);
	if (why != NULL)
		s->why = status_clean(a, why);
	s->job_age_s = status_age(job, in->now_ms);
}

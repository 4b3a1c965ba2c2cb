/* The job, its pods, and why this target. */
#include "k8s/deploy/status_job.h"

#include <string.h>

#include "base/attr.h"
#include "base/run_exit.h"
#include "k8s/deploy/pod.h"
#include "k8s/deploy/runs.h"
#include "k8s/deploy/state.h"
#include "k8s/view/explain.h"

/* ---- the recorded choice ---- */

/* The owned ConfigMap's document; the caller deletes. NULL: there is none, or it is not JSON. */
static cJSON *read_state(const cJSON *owned)
{
	for (const cJSON *o = object_first(owned); o != NULL; o = o->next) {
		const char *text = json_string(json_get(o, "data"), STATE_KEY);
		struct err ignored = {0};
		cJSON *doc;

		if (object_is(o, "ConfigMap") && text != NULL &&
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

	/* What was said of another target says nothing of this one. */
	if (target != NULL && s->target != NULL && strcmp(target, s->target) == 0) {
		s->reason = status_clean(a, json_string(doc, "reason"));
		s->since = status_clean(a, json_string(doc, "since"));
	}
	s->attempts = arena_calloc(a, (size_t)cJSON_GetArraySize(attempts), sizeof(*s->attempts));
	for (const cJSON *item = object_first(attempts); item != NULL; item = item->next)
		s->attempts[s->n_attempts++] = read_attempt(item, a);
}

/* ---- which job ---- */

const struct fleet_target *status_target(const struct fleet *fleet, const cJSON *owned)
{
	AUTO(json) cJSON *doc = read_state(owned);
	const char *recorded = json_string(doc, "target");
	const struct fleet_target *target =
		recorded != NULL ? fleet_target_find(fleet, recorded) : NULL;

	return target != NULL && job_find(owned, target) != NULL ? target
	                                                         : job_find_target(owned, fleet);
}

/* ---- pods ---- */

static const char *container_why(const cJSON *status, struct arena *a)
{
	const cJSON *ended = json_get(json_get(status, "state"), "terminated");
	const cJSON *code = json_get(ended, "exitCode");
	const struct run_exit_row *row;
	const char *reason, *message;

	if (container_waits(status, &reason, &message))
		return arena_printf(a, "%s%s%s", reason, message != NULL ? ": " : "",
		                    message != NULL ? message : "");
	reason = json_string(ended, "reason");
	if (!cJSON_IsNumber(code) || code->valuedouble == 0)
		return NULL;
	/* 1 and 2 are any program's; from 75 on a status says what ended a trainer. */
	row = code->valueint >= RUN_EXIT_STOPPED ? run_exit_find(code->valueint) : NULL;
	return arena_printf(a, "%s, exit status %d%s%s", reason != NULL ? reason : "ended",
	                    code->valueint, row != NULL ? ": " : "",
	                    row != NULL ? row->meaning : "");
}

/* The first thing that keeps a pod from running; "" if nothing does. */
static const char *pod_why(const cJSON *pod, struct arena *a)
{
	const char *message = json_string(json_get(pod, "status"), "message");

	if (pod_unplaced(pod) != NULL)
		return status_clean(a, pod_unplaced(pod));
	for (const cJSON *c = pod_containers(pod); c != NULL; c = c->next) {
		const char *why = container_why(c, a);

		if (why != NULL)
			return status_clean(a, why);
	}
	return message != NULL ? status_clean(a, message) : "";
}

static struct status_pod read_pod(const cJSON *pod, const char *job, struct arena *a)
{
	const char *name = object_name(pod);
	const char *phase = object_phase(pod);

	return (struct status_pod){
		.name = name != NULL ? status_clean(a, name) : "?",
		.phase = phase != NULL ? status_clean(a, phase) : "Unknown",
		.node = status_clean(a, pod_node(pod)),
		.rank = pod_rank(pod, job),
		.restarts = pod_restarts(pod),
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
	s->pods = arena_calloc(a, (size_t)cJSON_GetArraySize(in->pods), sizeof(*s->pods));
	for (const cJSON *o = object_first(in->pods); o != NULL; o = o->next)
		s->pods[s->n_pods++] = read_pod(o, job, a);
	if (s->n_pods > 1)
		qsort(s->pods, s->n_pods, sizeof(*s->pods), by_rank);
}

void status_read_job(const struct status_input *in, struct arena *a, struct status *s)
{
	const struct fleet_target *target =
		in->fleet != NULL ? status_target(in->fleet, in->owned) : NULL;
	const cJSON *job = target != NULL ? job_find(in->owned, target) : NULL;
	struct job_view view;

	s->why = "";
	s->job_age_s = -1;
	if (job == NULL)
		return;
	s->target = target->name;
	s->job = target->job;
	s->run = run_number(job);
	read_pods(in, target->job, a, s);
	job_read(target, job, in->pods, &view);
	s->phase = view.phase;
	if (view.why != NULL)
		s->why = status_clean(a, view.why);
	s->job_age_s = status_age(job, in->now_ms);
}

/*
 * Which run the job of a target is, and a new run in the place of a former one. The order in which
 * the cluster learns of it lets any later run of slipway go on: the record, the attempt, then the
 * former job goes and the new one is made.
 */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/placement_internal.h"
#include "k8s/deploy/run_plan.h"

enum { POLL_MS = 1000 };

int64_t placing_number(const struct placing *r)
{
	return runs_number_for(r->runs, r->opts->release, r->target->name);
}

int placing_record(struct placing *r, int64_t run, struct err *err)
{
	const struct fleet *fleet = r->opts->fleet;
	const struct run_row row = {
		.run = run,
		.since_ms = placing_now(r),
		.image = r->opts->image,
		.reason = r->opts->reason,
		.release = r->opts->release,
	};

	if (runs_find(r->runs, run) != NULL)
		return 0;
	runs_add(r->runs, &row);
	return runs_write(r->k, fleet->namespace, fleet->name, r->runs, err);
}

/* The attempt of the new run; a run of slipway that was stopped may have begun it. */
static int begin_attempt(struct placing *r, const struct run_plan *plan, struct err *err)
{
	struct state *s = &r->ret->state;
	struct attempt *last = state_last(s);
	char text[RUN_TEXT_MAX];

	run_plan_text(plan, text);
	if (last != NULL && last->ended_ms == 0) {
		if (last->run == plan->run && strcmp(last->target, r->target->name) == 0)
			return 0;
		state_settle(s, ATTEMPT_REPLACED, text, placing_now(r));
	}
	s->cycle++;
	placing_begin(r, r->target, text);
	return placing_keep(r, err);
}

/* Ends the former job, and what goes with it and cannot be changed either. */
static int stop_former(struct placing *r, const cJSON *live, struct err *err)
{
	progress_note(r->k->progress,
	              "%s: the former run is stopped: its pods have %lld s to save a checkpoint",
	              r->target->name, (long long)r->opts->fleet->job->grace_seconds);
	if (object_delete(r->k, live, &r->opts->apply, err) != 0)
		return -1;
	for (const cJSON *item = r->stage.items->child; item != NULL; item = item->next)
		if (!object_is(item, "Service") && !is_job_of(item, r->target) &&
		    object_delete(r->k, item, &r->opts->apply, err) != 0)
			return -1;
	return 0;
}

int placing_renew(struct placing *r, const cJSON *live, bool *ret_replaced, struct err *err)
{
	const struct placement_opts *opts = r->opts;
	struct run_plan plan;
	char text[RUN_TEXT_MAX];

	*ret_replaced = false;
	if (run_plan(r->k, r->runs, opts->release, r->target->name, live, &plan, err) != 0)
		return -1;
	r->run = plan.run;
	if (!plan.replaces)
		return 0;
	if (run_try(r->k, &r->stage, err) != 0) {
		err_wrap(err, "%s: the former run goes on", r->target->name);
		return -1;
	}
	if (placing_record(r, plan.run, err) != 0 || begin_attempt(r, &plan, err) != 0)
		return -1;
	run_plan_text(&plan, text);
	placing_tell(r, text);
	*ret_replaced = true;
	return stop_former(r, live, err);
}

/* ---- the pods of a former job ---- */

static int tell_pods_left(struct placing *r, const cJSON *pod, struct err *err)
{
	const char *node = json_string(json_get(pod, "spec"), "nodeName");

	err_set(err, ERR_NETWORK, "%s: pod '%s' of the former job still exists%s%s",
	        r->target->name, object_name(pod), node != NULL ? " on node " : "",
	        node != NULL ? node : "");
	return err_hint(err,
	                "Two jobs would write the same checkpoints. Run this again when it "
	                "is gone: `kubectl get pods -n %s` shows it.",
	                r->opts->fleet->namespace);
}

int placing_await_former(struct placing *r, struct err *err)
{
	bool said = false;

	for (;;) {
		AUTO(json) cJSON *pods = NULL;

		if (placing_pods(r, &pods, err) != 0)
			return -1;
		if (object_first(pods) == NULL)
			return 0;
		if (placing_now(r) >= r->opts->apply.deadline_ms)
			return tell_pods_left(r, pods->child, err);
		if (!said)
			progress_note(r->k->progress,
			              "%s: waiting for the former job's pods to end",
			              r->target->name);
		said = true;
		if (lease_sleep(r->lease, POLL_MS, err) != 0)
			return -1;
	}
}

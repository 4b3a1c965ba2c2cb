#include "k8s/deploy/placement_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/compiling.h"
#include "k8s/job/compile.h"

int64_t placing_now(const struct placing *r)
{
	return r->k->clock->now_ms(r->k->clock);
}

int placing_keep(struct placing *r, struct err *err)
{
	const struct fleet *fleet = r->opts->fleet;

	return state_write(r->k, fleet->namespace, fleet->name, &r->ret->state, err);
}

int placing_settle(struct placing *r, enum attempt_outcome outcome, const char *cause,
                   struct err *err)
{
	state_settle(&r->ret->state, outcome, cause, placing_now(r));
	return placing_keep(r, err);
}

void placing_tell(const struct placing *r, const char *text)
{
	if (r->opts->tell != NULL)
		r->opts->tell(r->opts->listener, r->target->name, text);
}

/* ---- from here to there ---- */

void placing_begin(struct placing *r, const struct fleet_target *target, const char *reason)
{
	r->target = target;
	state_begin(&r->ret->state, target->name, reason, placing_now(r));
	state_last(&r->ret->state)->run = r->resumed ? r->run : placing_number(r);
}

static struct watch_opts watched(const struct placing *r)
{
	return (struct watch_opts){.fleet = r->opts->fleet,
	                           .target = r->target,
	                           .items = r->stage.items,
	                           .since_ms = r->machine.ran_ms};
}

int placing_pods(struct placing *r, cJSON **ret, struct err *err)
{
	struct watch_opts watch = watched(r);

	return capacity_pods(r->k, &watch, ret, err);
}

void placing_take_stage(struct placing *r)
{
	stage_done(&r->stage);
	r->stage = release_stage(r->opts->release, r->target->name);
}

int placing_leave(struct placing *r, bool *ret_left, struct err *err)
{
	struct watch_opts watch = watched(r);
	struct apply_opts apply = r->opts->apply;
	AUTO(json) cJSON *live = NULL;
	struct observation o;
	bool began;

	*ret_left = false;
	/* What goes is what was looked at: its uid tells it from a later one of its name. */
	if (kubectl_look(r->k, r->stage.items, &live, err) != 0 ||
	    capacity_look(r->k, &watch, &o, err) != 0)
		return -1;
	began = state_last(&r->ret->state)->outcome == ATTEMPT_RECLAIMED ? o.running > 0 : o.ran;
	if (began || !failover_may_leave(o.phase))
		return 0;
	/* What is begun here is ended, whatever time it is. */
	apply.deadline_ms = INT64_MAX / 2;
	for (const cJSON *item = live->child; item != NULL; item = item->next)
		if (object_delete(r->k, item, &apply, err) != 0)
			return -1;
	*ret_left = true;
	return 0;
}

/* ---- one target ---- */

static bool is_bounded(const struct placing *r)
{
	/* Who waits for the end, waits; who moves on, comes to an end. */
	return r->opts->timed ||
	       (!r->opts->may_move && !r->machine.ran && r->opts->until != UNTIL_ENDED);
}

/* What the state should say of a job that was seen running or ended well. */
static int note_outcome(struct placing *r, enum decision decision, struct err *err)
{
	enum attempt_outcome now = decision == DECIDE_SUCCEEDED ? ATTEMPT_SUCCEEDED
	                           : r->machine.ran             ? ATTEMPT_RUNNING
	                                                        : ATTEMPT_STARTING;

	if (state_last(&r->ret->state)->outcome == now)
		return 0;
	return placing_settle(r, now, "", err);
}

/* Looks once and decides; *ret_more: look again after a while. */
static int look_once(struct placing *r, enum decision *ret, bool *ret_more,
                     char cause[STATE_TEXT_MAX], struct err *err)
{
	struct watch_opts watch = watched(r);
	bool to_the_end = r->opts->until == UNTIL_ENDED;
	struct observation o;

	*ret_more = false;
	if (capacity_look(r->k, &watch, &o, err) != 0)
		return -1;
	*ret = failover_step(&r->machine, &o, cause);
	if (*ret == DECIDE_GONE)
		return placing_gone(r, err);
	if (*ret == DECIDE_FAILED)
		return placing_failed(r, cause, err);
	if (*ret == DECIDE_REFUSED)
		return placing_refused(r, cause, o.refusal_hint, err);
	if (note_outcome(r, *ret, err) != 0)
		return -1;
	if (*ret == DECIDE_STUCK && !(to_the_end && r->machine.ran))
		return placing_stuck(r, cause, err);
	*ret_more =
		*ret == DECIDE_WAIT || *ret == DECIDE_STUCK || (*ret == DECIDE_RUNS && to_the_end);
	if (*ret_more && is_bounded(r) && o.now_ms >= r->opts->apply.deadline_ms)
		return placing_late(r, cause, err);
	return 0;
}

/* Until there is something new to see, or time itself decides. */
static int await_change(struct placing *r, enum decision decision, struct err *err)
{
	struct watch_opts watch = watched(r);
	int64_t due = failover_due(&r->machine), deadline = r->opts->apply.deadline_ms, scout;
	bool waits = decision == DECIDE_WAIT || decision == DECIDE_STUCK;
	bool unstarted = waits && r->machine.ran_ms != r->machine.now_ms;

	if (is_bounded(r) && deadline < due)
		due = deadline;
	if (decision == DECIDE_RUNS && placing_scout(r, &scout, err) != 0)
		return -1;
	if (r->scout.found)
		return 0;
	if (decision == DECIDE_RUNS && scout < due)
		due = scout;
	return changes_await(&r->changes, &watch, unstarted, due, err);
}

/* Until the target is given up, or the caller is content. */
static int watch_target(struct placing *r, bool *ret_move, char cause[STATE_TEXT_MAX],
                        struct err *err)
{
	char said[STATE_TEXT_MAX] = "";
	enum decision decision;
	bool more = true;

	failover_begin(&r->machine, &r->opts->fleet->failover, state_last(&r->ret->state),
	               r->opts->may_move, r->resumed);
	/* What was reported before it was seen to run, or to have run, is past. */
	if (r->machine.ran)
		r->machine.ran_ms = placing_now(r);
	*ret_move = false;
	while (more && !r->scout.found) {
		if (look_once(r, &decision, &more, cause, err) != 0)
			return -1;
		if (more && strcmp(said, cause) != 0) {
			progress_note(r->k->progress, "%s: %s", r->target->name, cause);
			snprintf(said, sizeof(said), "%s", cause);
		}
		if (more && await_change(r, decision, err) != 0)
			return -1;
	}
	if (r->scout.found)
		return 0;
	placing_recall(r);
	*ret_move = decision == DECIDE_MOVE;
	if (!*ret_move && decision == DECIDE_SUCCEEDED)
		placing_tell(r, "has succeeded");
	else if (!*ret_move)
		placing_tell(r, cause);
	return 0;
}

static int apply_run(struct placing *r, struct apply_counts *ret, struct err *err)
{
	struct stage stage = run_stage(&r->stage, r->run);
	int rc = stage_apply(r->k, &stage, &r->opts->apply, ret, err);

	stage_done(&stage);
	return rc;
}

static void count(struct placing *r, const struct apply_counts *counts)
{
	r->ret->counts.created += counts->created;
	r->ret->counts.changed += counts->changed;
	r->ret->counts.unchanged += counts->unchanged;
}

/* What the target's devices run, before any of them is paid for. A job that is there has it. */
static int compile_ahead(struct placing *r, struct err *err)
{
	struct stage stage = choices_stage(r->opts->ahead, &compile_renderer, r->target->name);
	struct apply_opts apply = r->opts->apply;
	struct apply_counts counts = {0};
	struct err kept = {0};
	int rc = 0;

	/* A compiler takes as long as it takes, unless somebody said how long all may. */
	if (!r->opts->timed)
		apply.deadline_ms = INT64_MAX / 2;
	if (stage.items != NULL && !r->resumed) {
		placing_tell(r, "what its devices run is compiled ahead");
		rc = compiling_run(r->k, &stage, &apply, &counts, err);
		count(r, &counts);
	}
	stage_done(&stage);
	if (rc != 0 && err->code == ERR_JOB &&
	    placing_settle(r, ATTEMPT_FAILED, err->msg, &kept) != 0)
		progress_note(r->k->progress, "%s", kept.msg);
	return rc;
}

static int start_target(struct placing *r, struct err *err)
{
	struct apply_counts counts;

	placing_take_stage(r);
	if (compile_ahead(r, err) != 0)
		return -1;
	if (!r->resumed)
		r->run = placing_number(r);
	if (placing_record(r, r->run, err) != 0 ||
	    (!r->resumed && placing_await_former(r, err) != 0) || apply_run(r, &counts, err) != 0)
		return -1;
	count(r, &counts);
	r->ret->run = r->run;
	return 0;
}

/* ---- from one to the next ---- */

/* All were tried: a pause, then the first again. */
static int next_cycle(struct placing *r, struct err *err)
{
	struct state *s = &r->ret->state;
	int64_t pause;
	char text[96];

	/* Who waits for the end of a job that has begun does not leave it nowhere. */
	if (!r->opts->keep_trying && !(r->has_run && r->opts->until == UNTIL_ENDED))
		return placing_exhausted(r, err);
	s->cycle++;
	pause = failover_pause(&r->opts->fleet->failover, s->cycle);
	snprintf(text, sizeof(text), "was the last target; starting over in %lld s",
	         (long long)(pause / 1000));
	placing_tell(r, text);
	if (placing_keep(r, err) != 0)
		return -1;
	if (r->opts->timed && placing_now(r) + pause >= r->opts->apply.deadline_ms)
		return placing_exhausted(r, err);
	return lease_sleep(r->lease, pause, err);
}

static int move_on(struct placing *r, const char *cause, struct err *err)
{
	bool left;

	bool reclaimed = r->machine.reclaimed;
	enum attempt_outcome outcome = reclaimed                    ? ATTEMPT_RECLAIMED
	                               : r->machine.refused_ms != 0 ? ATTEMPT_REFUSED
	                                                            : ATTEMPT_NO_CAPACITY;

	/* Who was tried before the job ran may have capacity by now. */
	if (reclaimed)
		state_new_cycle(&r->ret->state);
	r->has_run = r->has_run || reclaimed;
	if (placing_settle(r, outcome, cause, err) != 0)
		return -1;
	placing_tell(r, cause);
	if (placing_leave(r, &left, err) != 0)
		return -1;
	if (!left) {
		r->resumed = true;
		placing_begin(r, r->target, "its pods started after all");
		return placing_keep(r, err);
	}
	r->ret->moves++;
	r->resumed = false;
	if (failover_next(r->opts->fleet, &r->ret->state) == NULL && next_cycle(r, err) != 0)
		return -1;
	return placing_choose_new(r, NULL, err);
}

static int place_job(struct placing *r, struct err *err)
{
	char cause[STATE_TEXT_MAX] = "";
	bool move;

	if (placing_choose(r, err) != 0)
		return -1;
	for (;;) {
		if (start_target(r, err) != 0)
			return -1;
		if (r->opts->until == UNTIL_STARTED)
			return 0;
		if (watch_target(r, &move, cause, err) != 0)
			return -1;
		if (!move && !r->scout.found)
			return 0;
		if ((move ? move_on(r, cause, err) : placing_return(r, err)) != 0)
			return -1;
	}
}

int placement_run(struct lease *lease, const struct placement_opts *opts, struct placement *ret,
                  struct err *err)
{
	struct placing r = {.lease = lease, .k = &lease->base, .opts = opts, .ret = ret};
	int rc;

	*ret = (struct placement){0};
	changes_init(&r.changes, lease, opts->interval_ms);
	rc = place_job(&r, err);
	changes_done(&r.changes);
	placing_recall(&r);
	stage_done(&r.stage);
	cJSON_Delete(r.runs);
	return rc;
}

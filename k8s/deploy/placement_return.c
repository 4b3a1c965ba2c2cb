/*
 * Back to a better target: while the job runs elsewhere a scout asks for capacity, one better
 * target after the other. When it has all the machines, the job is ended through its checkpoint,
 * its pods are awaited, and it starts there.
 */
#include <stdio.h>

#include "base/interrupt.h"
#include "k8s/deploy/placement_internal.h"
#include "k8s/deploy/scout.h"

enum {
	LOOK_INTERVALS = 12, /* a scout is looked at so much more seldom than a job */
	LOOK_MAX_MS = 60000,
	BRIEF_MS = 3000
};

/* Better targets come first in the fleet. */
static size_t count_better(const struct placing *r)
{
	return (size_t)(r->target - r->opts->fleet->targets);
}

static bool wants_return(const struct placing *r)
{
	return r->opts->fleet->failover.returns && r->opts->may_move &&
	       r->opts->until == UNTIL_ENDED && count_better(r) > 0;
}

static int64_t longest_ms(const struct placing *r)
{
	const struct fleet_failover *rules = &r->opts->fleet->failover;

	return rules->unschedulable_ms + rules->boot_ms;
}

/* The next better target in turn; none of them for now where no scout can be. */
static int begin_scout(struct placing *r, int64_t now, struct err *err)
{
	const struct fleet *fleet = r->opts->fleet;
	const struct fleet_target *next = &fleet->targets[r->scout.turn++ % count_better(r)];

	if (!scout_is_possible(fleet, next)) {
		r->scout.again_ms = now + fleet->failover.backoff_ms;
		return 0;
	}
	r->scout.since_ms = now;
	r->scout.sent = next;
	return scout_start(r->k, fleet, next, longest_ms(r) / 1000 + 60, &r->opts->apply, err);
}

static int end_scout(struct placing *r, struct err *err)
{
	const struct fleet_target *sent = r->scout.sent;

	r->scout.sent = NULL;
	r->scout.again_ms = placing_now(r) + r->opts->fleet->failover.backoff_ms;
	return scout_end(r->k, r->opts->fleet, sent, err);
}

/* Some machines without the others cost and help nobody: they are given back in time. */
static int judge_scout(struct placing *r, int64_t now, struct err *err)
{
	const struct fleet_failover *rules = &r->opts->fleet->failover;
	int64_t age = now - r->scout.since_ms, running;

	if (scout_look(r->k, r->opts->fleet, r->scout.sent, &running, err) != 0)
		return -1;
	if (running >= r->scout.sent->nodes)
		r->scout.found = true;
	else if (age >= (running > 0 ? longest_ms(r) : rules->unschedulable_ms))
		return end_scout(r, err);
	return 0;
}

int placing_scout(struct placing *r, int64_t *ret_due_ms, struct err *err)
{
	int64_t now = placing_now(r), look = LOOK_INTERVALS * r->opts->interval_ms;

	*ret_due_ms = INT64_MAX;
	if (!wants_return(r))
		return 0;
	if (r->scout.again_ms == 0)
		r->scout.again_ms = now + r->opts->fleet->failover.backoff_ms;
	if (r->scout.sent != NULL && now >= r->scout.look_ms && judge_scout(r, now, err) != 0)
		return -1;
	if (r->scout.sent == NULL && now >= r->scout.again_ms && begin_scout(r, now, err) != 0)
		return -1;
	if (r->scout.sent != NULL && now >= r->scout.look_ms)
		r->scout.look_ms = now + (look < LOOK_MAX_MS ? look : LOOK_MAX_MS);
	*ret_due_ms = r->scout.sent != NULL ? r->scout.look_ms : r->scout.again_ms;
	return 0;
}

void placing_recall(struct placing *r)
{
	struct patience brief = {.window_ms = BRIEF_MS}, *patience = r->k->patience;
	struct err ignored = {0};

	r->scout.found = false;
	if (r->scout.sent == NULL)
		return;
	interrupt_hold(true);
	r->k->patience = &brief;
	(void)end_scout(r, &ignored);
	r->k->patience = patience;
	interrupt_hold(false);
}

/* Two jobs never write the same checkpoints: every pod of the old one has ended before. */
static int await_pods_gone(struct placing *r, struct err *err)
{
	struct watch_opts watch = {
		.fleet = r->opts->fleet, .target = r->target, .items = r->stage.items};
	bool gone;

	for (;;) {
		if (capacity_pods_gone(r->k, &watch, &gone, err) != 0)
			return -1;
		if (gone)
			return 0;
		if (lease_sleep(r->lease, r->opts->interval_ms, err) != 0)
			return -1;
	}
}

int placing_return(struct placing *r, struct err *err)
{
	const struct fleet_target *better = r->scout.sent;
	struct apply_opts apply = r->opts->apply;
	char cause[STATE_TEXT_MAX];

	snprintf(cause, sizeof(cause), "%s has capacity again", better->name);
	state_settle(&r->ret->state, ATTEMPT_RETURNED, cause, placing_now(r));
	if (placing_keep(r, err) != 0)
		return -1;
	placing_tell(r, cause);
	apply.deadline_ms = INT64_MAX / 2;
	for (const cJSON *item = r->stage.items->child; item != NULL; item = item->next)
		if (object_delete(r->k, item, &apply, err) != 0)
			return -1;
	if (await_pods_gone(r, err) != 0 || end_scout(r, err) != 0)
		return -1;
	r->scout.found = false;
	r->scout.again_ms = 0;
	r->ret->moves++;
	r->ret->state.cycle++;
	snprintf(cause, sizeof(cause), "%s", "it has capacity again");
	placing_begin(r, better, cause);
	return placing_keep(r, err);
}

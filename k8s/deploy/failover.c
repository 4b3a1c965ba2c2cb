#include "k8s/deploy/failover.h"

#include <stdio.h>
#include <string.h>

enum { BACKOFF_DOUBLINGS = 5, DURATION_MAX = 32, SETTLE_MS = 10000 };

/* "3m", "90s", "1h5m" into out. */
static const char *duration(int64_t ms, char out[DURATION_MAX])
{
	long long s = ms / 1000;

	if (s < 120)
		snprintf(out, DURATION_MAX, "%llds", s);
	else if (s < 7200)
		snprintf(out, DURATION_MAX, "%lldm", s / 60);
	else
		snprintf(out, DURATION_MAX, "%lldh%lldm", s / 3600, s / 60 % 60);
	return out;
}

void failover_begin(struct failover *f, const struct fleet_failover *rules,
                    const struct attempt *attempt, bool may_move, bool resumed)
{
	*f = (struct failover){
		.rules = rules,
		.may_move = may_move,
		.resumed = resumed,
		.ran = attempt->outcome == ATTEMPT_RUNNING,
	};
	/* Of the time in which nobody looked it is not known that anything was under way. */
	if (resumed && !f->ran)
		f->idle_at_ms = attempt->started_ms;
}

/* Notes when something was first seen, forgets it when it has ended; how long it has lasted. */
static int64_t lasts(int64_t *since_ms, bool now, int64_t now_ms)
{
	if (!now)
		*since_ms = 0;
	else if (*since_ms == 0)
		*since_ms = now_ms;
	return now ? now_ms - *since_ms : -1;
}

/* How long in all there has been nothing to wait for: a machine on its way stops this clock, and
 * does not set it back, for machines that fail one after another would do so for ever. */
static int64_t idles(struct failover *f, bool now, int64_t now_ms)
{
	if (now && f->idle_at_ms != 0)
		f->idle_ms += now_ms - f->idle_at_ms;
	f->idle_at_ms = now ? now_ms : 0;
	return now ? f->idle_ms : -1;
}

static enum decision give_up(const struct failover *f, const struct observation *o,
                             const char *what, int64_t ms, char cause[STATE_TEXT_MAX])
{
	char text[DURATION_MAX];

	snprintf(cause, STATE_TEXT_MAX, "%s for %s%s%s", what, duration(ms, text),
	         o->why[0] != '\0' ? ": " : "", o->why);
	return f->may_move ? DECIDE_MOVE : DECIDE_WAIT;
}

/* ---- refusals ---- */

/* A refusal that a resumed job came with may have been cured; its controller tries again within a
 * minute, and says it anew. */
static bool is_refused_now(struct failover *f, const struct observation *o)
{
	if (!f->looked && f->resumed)
		f->refused_before_ms = o->refused_ms;
	f->looked = true;
	return o->refusal > REFUSAL_PASSING && o->refused_ms > f->refused_before_ms;
}

/* A quota counts pods for a moment after they have gone: what it says must last. Of a job that
 * runs, an old word does not count when a pod is missing for another reason: it must be said again.
 */
static bool is_settled(struct failover *f, const struct observation *o, int64_t lasted)
{
	if (!refusal_settles(o->refusal))
		return true;
	if (lasted == 0)
		f->refused_first_ms = o->refused_ms;
	return lasted >= SETTLE_MS && (!f->ran || o->refused_ms > f->refused_first_ms);
}

/* Is it time to act on it? No wait and no other machine cures it. */
static bool refuse(struct failover *f, const struct observation *o, enum decision *ret,
                   char cause[STATE_TEXT_MAX])
{
	bool now = is_refused_now(f, o);
	int64_t lasted = lasts(&f->refused_ms, now, o->now_ms);

	if (!now || !is_settled(f, o, lasted))
		return false;
	snprintf(cause, STATE_TEXT_MAX, "the cluster refuses its pods: %s", o->why);
	*ret = o->refusal == REFUSAL_TARGET && f->may_move && !f->ran ? DECIDE_MOVE
	                                                              : DECIDE_REFUSED;
	return true;
}

/* Nodes took the pods and gave them back: a device plugin had no device. */
static enum decision rejected(struct failover *f, const struct observation *o,
                              char cause[STATE_TEXT_MAX])
{
	int64_t lasted = lasts(&f->rejected_ms, true, o->now_ms);

	if (o->phase == JOB_FAILED || lasted >= f->rules->after_ms)
		return give_up(f, o, "nodes refused the pods", lasted, cause);
	return DECIDE_WAIT;
}

static const char *awaited(const struct observation *o)
{
	if (o->why[0] != '\0')
		return o->why;
	if (o->node_coming)
		return "a node is starting";
	if (o->launching)
		return "a machine is being launched";
	return o->unplaced ? "pods have no node yet" : "pods have nodes and are starting";
}

/* No pod runs, since the job began or since it lost all of them: is there any hope here? */
static enum decision hopes(struct failover *f, const struct observation *o,
                           char cause[STATE_TEXT_MAX])
{
	const struct fleet_failover *rules = f->rules;
	int64_t coming = lasts(&f->coming_ms, o->node_coming || o->launching, o->now_ms);
	/* A machine that comes is capacity that was found. */
	int64_t lack = lasts(&f->lack_ms, o->lack && !o->node_coming, o->now_ms);
	int64_t placed = lasts(&f->placed_ms, !o->unplaced, o->now_ms);
	int64_t hindered = lasts(&f->hindered_ms, o->refusal != REFUSAL_NONE, o->now_ms);
	bool is_idle = o->unplaced && coming < 0 && hindered < 0;
	int64_t idle = idles(f, is_idle, o->now_ms);

	if (o->no_image) {
		snprintf(cause, STATE_TEXT_MAX, "the image cannot be had: %s", o->why);
		return DECIDE_STUCK;
	}
	if (o->rejected)
		return rejected(f, o, cause);
	f->rejected_ms = 0;
	if (hindered >= rules->boot_ms) {
		give_up(f, o, "pods could not be made", hindered, cause);
		return DECIDE_STUCK;
	}
	/* It is no matter of capacity. */
	if (hindered >= 0)
		return DECIDE_WAIT;
	if (coming >= 0 && coming >= rules->boot_ms)
		return give_up(f, o, "nodes did not become ready", coming, cause);
	if (lack >= 0 && o->unplaced && !o->launching && lack >= rules->after_ms)
		return give_up(f, o, "no capacity", lack, cause);
	if (idle >= 0 && idle >= rules->unschedulable_ms)
		return give_up(f, o, "pods had no node", idle, cause);
	if (placed >= 0 && placed >= rules->boot_ms) {
		give_up(f, o, "pods have nodes but do not start", placed, cause);
		return DECIDE_STUCK;
	}
	snprintf(cause, STATE_TEXT_MAX, "%s", awaited(o));
	return DECIDE_WAIT;
}

/* Every node of a job that ran was taken back. */
static enum decision emptied(struct failover *f, const struct observation *o,
                             char cause[STATE_TEXT_MAX])
{
	char text[STATE_TEXT_MAX];
	enum decision decision;

	lasts(&f->empty_ms, true, o->now_ms);
	decision = hopes(f, o, text);
	f->reclaimed = decision == DECIDE_MOVE;
	snprintf(cause, STATE_TEXT_MAX, "all nodes were reclaimed: %.*s", OBSERVED_MAX, text);
	return decision;
}

/* There are pods again: what was waited for is over. */
static void refilled(struct failover *f)
{
	f->empty_ms = f->coming_ms = f->lack_ms = f->placed_ms = f->hindered_ms = 0;
	f->idle_ms = f->idle_at_ms = 0;
}

/* A pod has run: it stays. Waiting for the others has an end, the job has not. */
static enum decision began(struct failover *f, const struct observation *o,
                           char cause[STATE_TEXT_MAX])
{
	int64_t partial = lasts(&f->partial_ms, true, o->now_ms);

	if (f->rules->reclaimed && o->running == 0)
		return emptied(f, o, cause);
	refilled(f);
	snprintf(cause, STATE_TEXT_MAX, "%lld of %lld pods run%s%s", (long long)o->running,
	         (long long)o->wanted, o->why[0] != '\0' ? ": " : "", o->why);
	return partial >= f->rules->boot_ms ? DECIDE_STUCK : DECIDE_WAIT;
}

enum decision failover_step(struct failover *f, const struct observation *o,
                            char cause[STATE_TEXT_MAX])
{
	enum decision decision;

	f->ran = f->ran || o->ran;
	f->now_ms = o->now_ms;
	if (o->running > 0)
		f->ran_ms = o->now_ms;
	snprintf(cause, STATE_TEXT_MAX, "%s", o->why);
	if (o->phase == JOB_WAITING && refuse(f, o, &decision, cause))
		return decision;
	switch (o->phase) {
	case JOB_ABSENT:
		snprintf(cause, STATE_TEXT_MAX, "it was deleted");
		return DECIDE_GONE;
	case JOB_SUCCEEDED:
		return DECIDE_SUCCEEDED;
	case JOB_FAILED:
		if (o->rejected && !f->ran && f->may_move)
			return rejected(f, o, cause);
		return DECIDE_FAILED;
	case JOB_RUNNING:
		refilled(f);
		f->partial_ms = 0;
		snprintf(cause, STATE_TEXT_MAX, "%lld of %lld pods run", (long long)o->running,
		         (long long)o->wanted);
		return DECIDE_RUNS;
	case JOB_WAITING:
	case JOB_PHASES:
		break;
	}
	return f->ran ? began(f, o, cause) : hopes(f, o, cause);
}

static void sooner(int64_t *due_ms, const struct failover *f, int64_t since_ms, int64_t wait_ms)
{
	if (since_ms != 0 && since_ms + wait_ms > f->now_ms && since_ms + wait_ms < *due_ms)
		*due_ms = since_ms + wait_ms;
}

int64_t failover_due(const struct failover *f)
{
	const struct fleet_failover *rules = f->rules;
	int64_t due = INT64_MAX;

	sooner(&due, f, f->idle_at_ms, rules->unschedulable_ms - f->idle_ms);
	sooner(&due, f, f->lack_ms, rules->after_ms);
	sooner(&due, f, f->coming_ms, rules->boot_ms);
	sooner(&due, f, f->placed_ms, rules->boot_ms);
	sooner(&due, f, f->partial_ms, rules->boot_ms);
	sooner(&due, f, f->hindered_ms, rules->boot_ms);
	sooner(&due, f, f->rejected_ms, rules->after_ms);
	sooner(&due, f, f->refused_ms, SETTLE_MS);
	return due;
}

bool failover_may_leave(enum job_phase phase)
{
	return phase == JOB_WAITING || phase == JOB_ABSENT || phase == JOB_FAILED;
}

const struct fleet_target *failover_next(const struct fleet *fleet, const struct state *s)
{
	for (size_t i = 0; i < fleet->n_targets; i++)
		if (!state_has_tried(s, fleet->targets[i].name))
			return &fleet->targets[i];
	return NULL;
}

int64_t failover_pause(const struct fleet_failover *rules, int64_t cycle)
{
	int64_t doublings = cycle < 1                       ? 0
	                    : cycle > BACKOFF_DOUBLINGS + 1 ? BACKOFF_DOUBLINGS
	                                                    : cycle - 1;

	return rules->backoff_ms << doublings;
}

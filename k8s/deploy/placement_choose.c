/* Which target is next: what is in the cluster, what was tried, then weight. */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/placement_internal.h"
#include "k8s/view/explain.h"

/* An attempt that ended longer ago says nothing about capacity now. */
enum { STALE_MS = 3600 * 1000 };

/* The target whose job is in the cluster, and that job; NULL without one. One that is on its way
 * out does not count. The caller deletes *ret_live. */
static int find_present(struct placing *r, const struct fleet_target **ret, cJSON **ret_live,
                        struct err *err)
{
	const struct fleet *fleet = r->opts->fleet;
	AUTO(json) cJSON *items = cJSON_CreateArray(), *live = NULL;
	const cJSON *job;

	for (size_t i = 0; i < fleet->n_targets; i++) {
		struct stage stage = release_stage(r->opts->release, fleet->targets[i].name);

		for (cJSON *o = stage.items != NULL ? stage.items->child : NULL; o != NULL;
		     o = o->next)
			if (is_job_of(o, &fleet->targets[i]))
				cJSON_AddItemReferenceToArray(items, o);
		stage_done(&stage);
	}
	if (kubectl_look(r->k, items, &live, err) != 0)
		return -1;
	for (cJSON *o = live->child, *next; o != NULL; o = next) {
		next = o->next;
		if (object_leaves(o))
			cJSON_Delete(cJSON_DetachItemViaPointer(live, o));
	}
	*ret = job_find_target(live, fleet);
	job = *ret != NULL ? job_find(live, *ret) : NULL;
	*ret_live = job != NULL ? cJSON_Duplicate(job, true) : NULL;
	return 0;
}

static bool is_of(const struct attempt *a, const struct fleet_target *target)
{
	return a != NULL && target != NULL && strcmp(a->target, target->name) == 0;
}

/* The job of `present` is there: which attempt is it? */
static int go_on_with(struct placing *r, const struct fleet_target *present, const cJSON *live,
                      bool *ret_left, struct err *err)
{
	struct attempt *last = state_last(&r->ret->state);
	bool ours = is_of(last, present), replaced;

	*ret_left = false;
	r->target = present;
	placing_take_stage(r);
	if (ours && state_gives_way(last->outcome) && r->opts->may_move) {
		/* A run was stopped between giving it up and deleting it. */
		if (placing_leave(r, ret_left, err) != 0)
			return -1;
		if (*ret_left)
			return 0;
	}
	if (placing_renew(r, live, &replaced, err) != 0)
		return -1;
	r->resumed = !replaced;
	if (replaced)
		return 0;
	if (ours && (last->ended_ms == 0 || last->outcome == ATTEMPT_SUCCEEDED ||
	             last->outcome == ATTEMPT_FAILED))
		return 0;
	placing_begin(r, present, "its job is in the cluster");
	return placing_keep(r, err);
}

/* Is there anything to go on with, or does a new round begin? */
static void close_past(struct placing *r, const struct fleet_target *pinned)
{
	struct state *s = &r->ret->state;
	struct attempt *last = state_last(s);
	bool tried = last != NULL && state_gives_way(last->outcome) && pinned == NULL &&
	             placing_now(r) - last->ended_ms < STALE_MS;

	if (last == NULL || tried)
		return;
	if (last->ended_ms == 0)
		state_settle(s, ATTEMPT_GONE, "its job no longer exists", placing_now(r));
	s->cycle++;
}

int placing_choose_new(struct placing *r, const struct fleet_target *pinned, struct err *err)
{
	const struct fleet *fleet = r->opts->fleet;
	struct state *s = &r->ret->state;
	struct attempt *last = state_last(s);
	const struct fleet_target *next = pinned;
	char reason[STATE_TEXT_MAX] = "selected by --job";

	if (last != NULL && last->ended_ms == 0 && last->outcome == ATTEMPT_STARTING) {
		const struct fleet_target *begun = fleet_target_find(fleet, last->target);

		/* A run was stopped before it sent the job. */
		if (begun != NULL && (pinned == NULL || pinned == begun)) {
			r->target = begun;
			return 0;
		}
	}
	close_past(r, pinned);
	if (next == NULL) {
		next = failover_next(fleet, s);
		last = state_last(s);
		if (next == NULL) {
			s->cycle++;
			next = &fleet->targets[0];
		}
		if (last != NULL && last->cycle == s->cycle)
			snprintf(reason, sizeof(reason), "after %s: %.300s", last->target,
			         last->cause);
		else
			snprintf(reason, sizeof(reason), "the highest weight");
	}
	placing_begin(r, next, reason);
	return placing_keep(r, err);
}

int placing_choose(struct placing *r, struct err *err)
{
	const struct fleet *fleet = r->opts->fleet;
	const struct fleet_target *present, *pinned = NULL;
	AUTO(json) cJSON *live = NULL;
	bool left = false;

	if (r->opts->pinned != NULL)
		pinned = fleet_target_find(fleet, r->opts->pinned);
	if (state_read(r->k, fleet->namespace, fleet->name, &r->ret->state, err) != 0 ||
	    runs_read(r->k, fleet->namespace, fleet->name, &r->runs, err) != 0 ||
	    find_present(r, &present, &live, err) != 0)
		return -1;
	if (present != NULL && pinned != NULL && present != pinned)
		return err_set(err, ERR_CONFLICT,
		               "the job of '%s' is in the cluster; --job does not move a job that "
		               "may run",
		               present->name);
	if (present != NULL && go_on_with(r, present, live, &left, err) != 0)
		return -1;
	if (present != NULL && !left)
		return 0;
	return placing_choose_new(r, pinned, err);
}

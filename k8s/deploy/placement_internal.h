/*
 * What the parts of placement_run share; nobody else includes it.
 */
#ifndef SLIPWAY_K8S_DEPLOY_PLACEMENT_INTERNAL_H
#define SLIPWAY_K8S_DEPLOY_PLACEMENT_INTERNAL_H

#include "k8s/deploy/changes.h"
#include "k8s/deploy/placement.h"

struct placing {
	struct lease *lease;
	struct kubectl *k; /* the lease's */
	const struct placement_opts *opts;
	struct placement *ret;
	struct stage stage;                /* of the target at work */
	const struct fleet_target *target; /* at work */
	struct failover machine;
	struct changes changes;
	/* Who looks for capacity of a better target, see scout.h. */
	struct {
		const struct fleet_target *sent; /* it is there now; NULL = it is not */
		size_t turn;
		bool found; /* all its pods run */
		int64_t since_ms, look_ms, again_ms;
	} scout;
	bool has_run; /* a job of this run did, and lost its nodes: it must go on somewhere */
};

int64_t placing_now(const struct placing *r);

/* Writes the state. */
int placing_keep(struct placing *r, struct err *err) MUST_USE;

/* r->stage becomes that of r->target. */
void placing_take_stage(struct placing *r);

/* A new attempt on the target; not written yet. */
void placing_begin(struct placing *r, const struct fleet_target *target, const char *reason);

/* Deletes the target's objects unless a pod of it runs by now, or has run and was not reclaimed. */
int placing_leave(struct placing *r, bool *ret_left, struct err *err) MUST_USE;

/* Says it of the target at work. */
void placing_tell(const struct placing *r, const char *text);

/* The job runs: looks for capacity of a better target where the spec wants it. Sets scout.found,
 * and when it must be called again (INT64_MAX = never). */
int placing_scout(struct placing *r, int64_t *ret_due_ms, struct err *err) MUST_USE;

/* The scout, if there is one, comes home; what fails is ignored: it ends by itself. */
void placing_recall(struct placing *r);

/* Ends the job here and begins the attempt where the scout found capacity. */
int placing_return(struct placing *r, struct err *err) MUST_USE;

/* Reads the state and the cluster: which target is next? Sets r->target; the state is written when
 * it changed. */
int placing_choose(struct placing *r, struct err *err) MUST_USE;

/* The same when no job is in the cluster; pinned NULL = by weight. */
int placing_choose_new(struct placing *r, const struct fleet_target *pinned,
                       struct err *err) MUST_USE;

#endif

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
	cJSON *runs;                       /* as they are recorded */
	int64_t run;                       /* of the job at work */
	bool resumed;                      /* the job was in the cluster before */
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

/* To the caller's listener, of the target at work. */
void placing_tell(const struct placing *r, const char *text);

/* The pods that bear the name of the target's job; the caller deletes. */
int placing_pods(struct placing *r, cJSON **ret, struct err *err) MUST_USE;

/* Writes the state. */
int placing_keep(struct placing *r, struct err *err) MUST_USE;

/* The attempt's outcome, written. */
int placing_settle(struct placing *r, enum attempt_outcome outcome, const char *cause,
                   struct err *err) MUST_USE;

/* r->stage becomes that of r->target. */
void placing_take_stage(struct placing *r);

/* A new attempt on the target; not written yet. */
void placing_begin(struct placing *r, const struct fleet_target *target, const char *reason);

/* Deletes the target's objects unless a pod of it runs by now, or has run and was not reclaimed. */
int placing_leave(struct placing *r, bool *ret_left, struct err *err) MUST_USE;

/* The number of the run that would be begun on the target. */
int64_t placing_number(const struct placing *r);

/* Records what is placed as the run of that number, unless it is recorded. */
int placing_record(struct placing *r, int64_t run, struct err *err) MUST_USE;

/* The target's job is in the cluster as `live`: is it the run that is wanted? If not, it is stopped
 * when the server would take the new one. Sets r->run. */
int placing_renew(struct placing *r, const cJSON *live, bool *ret_replaced,
                  struct err *err) MUST_USE;

/* Until no pod of a former job of the target is left. */
int placing_await_former(struct placing *r, struct err *err) MUST_USE;

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

/* ---- ends; each sets *err and returns -1 ---- */

int placing_late(const struct placing *r, const char *cause, struct err *err);
int placing_stuck(const struct placing *r, const char *cause, struct err *err);
int placing_exhausted(const struct placing *r, struct err *err);

/* These settle the attempt as well. `hint`: a sentence, or NULL. */
int placing_refused(struct placing *r, const char *cause, const char *hint, struct err *err);
int placing_gone(struct placing *r, struct err *err);
/* `cause` gains how the first pod failed; the end of its log goes to the listener. */
int placing_failed(struct placing *r, char cause[STATE_TEXT_MAX], struct err *err);

#endif

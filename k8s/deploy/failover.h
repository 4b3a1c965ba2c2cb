/*
 * When a target is given up for the next one: a state machine over what is seen of the job, its
 * pods and its nodes. Pure: no clock, no cluster; k8s/deploy/capacity.h makes the observations,
 * k8s/deploy/placement.h acts on the decisions.
 *
 * A job of which a pod has run is restarted where it is by its scheduler, from its checkpoint. It
 * is moved in one case alone: none of its pods runs any more, there is no capacity to bring them
 * back, and its checkpoints are where every target sees them (rules->reclaimed).
 */
#ifndef SLIPWAY_K8S_DEPLOY_FAILOVER_H
#define SLIPWAY_K8S_DEPLOY_FAILOVER_H

#include "k8s/deploy/job.h"
#include "k8s/deploy/refusal.h"
#include "k8s/deploy/state.h"

enum { OBSERVED_MAX = STATE_TEXT_MAX - 80 }; /* causes add words of their own */

/* What was seen at one moment. */
struct observation {
	int64_t now_ms;
	enum job_phase phase;
	bool ran;             /* a pod runs or has run */
	bool unplaced;        /* a pod, or the job as a whole, has no node */
	bool launching;       /* a machine was asked for, and nothing speaks against it yet */
	bool node_coming;     /* a machine was got and is not ready yet */
	bool lack;            /* Karpenter or EC2 reported missing capacity since the job began */
	bool rejected;        /* a node refused a pod that it was given, and nothing of it ran */
	bool no_image;        /* a registry says that there is no such image, or not for us */
	enum refusal refusal; /* pods are missing because the cluster lets them not be made */
	int64_t refused_ms;   /* when it was said last, by the cluster's clock */
	const char *refusal_hint; /* the next step; NULL without a refusal */
	int64_t running, wanted;
	char why[OBSERVED_MAX]; /* the lack, else what is waited for or why the job failed */
};

enum decision {
	DECIDE_WAIT,
	DECIDE_RUNS, /* all pods run */
	DECIDE_SUCCEEDED,
	DECIDE_FAILED,
	DECIDE_GONE,    /* somebody deleted the job */
	DECIDE_MOVE,    /* delete the job, take the next target; after a reclaim too */
	DECIDE_REFUSED, /* the cluster lets its pods not be made, on any target */
	DECIDE_STUCK    /* it does not start, and no other target would help */
};

/* One attempt on one target. */
struct failover {
	const struct fleet_failover *rules;
	bool may_move;  /* false: a target was asked for by name */
	bool ran;       /* a pod has run, now or in an earlier run of slipway */
	bool reclaimed; /* and all its nodes were taken: it may be moved again */
	bool resumed;   /* the job was there before: what was said of it then may have been cured */
	bool looked;    /* a step was made */
	int64_t now_ms; /* of the last step */
	int64_t ran_ms; /* a pod was seen running last; 0 = never */
	int64_t refused_before_ms; /* of the refusal that a resumed job came with */
	int64_t refused_first_ms;  /* of the refusal that lasts, when it was first seen */
	/* First seen; 0 = not now. */
	int64_t lack_ms, coming_ms, placed_ms, partial_ms, rejected_ms, refused_ms;
	int64_t hindered_ms; /* pods could not be made, for whatever reason */
	int64_t empty_ms;    /* it ran, and no pod does */
	/* How long in all pods had no node and none was under way; up to which step it was counted,
	 * 0 = that step saw something under way. */
	int64_t idle_ms, idle_at_ms;
};

/* Watching begins, or goes on where another run was killed: since when, and whether a pod ran, are
 * of the state. `resumed`: the job was in the cluster before. */
void failover_begin(struct failover *f, const struct fleet_failover *rules,
                    const struct attempt *attempt, bool may_move, bool resumed);

/* `cause` says why for all but DECIDE_WAIT; with that, what is waited for. */
enum decision failover_step(struct failover *f, const struct observation *o,
                            char cause[STATE_TEXT_MAX]);

/* When a decision may change though nothing new is seen; INT64_MAX = never. */
int64_t failover_due(const struct failover *f);

/* May a job in that phase be taken away, if none of its pods has run? */
bool failover_may_leave(enum job_phase phase);

/* The next target by weight that the state's cycle has not tried; NULL when all were. */
const struct fleet_target *failover_next(const struct fleet *fleet, const struct state *s);

/* Pause before cycle 1, 2, ...: the rules' backoff, doubled each time up to 32 times it. */
int64_t failover_pause(const struct fleet_failover *rules, int64_t cycle);

#endif

/*
 * What deploy has tried and where the job is: one ConfigMap per fleet, so that a run that was
 * killed can be continued, on this machine or another, and `slipway status` can say why the job is
 * where it is. Only the holder of the Lease writes it (k8s/deploy/lease.h); anybody may read it.
 *
 * ConfigMap FLEET-deploy-state in the fleet's namespace, with the owner's label; key "state.json":
 *
 *   {
 *     "version": 1,
 *     "target": "p4d",                       the target in use, "" before the first
 *     "reason": "after trn1: ...",           why this one
 *     "since": "2026-11-21T13:45:57Z",       when it was chosen
 *     "cycle": 0,                            times that all targets had been tried before
 *     "attempts": [                          in the order of time, the last ones
 *       {"target": "trn1", "cycle": 0, "run": 3, "started": TIME, "ended": TIME,
 *        "outcome": "no-capacity", "cause": "InsufficientInstanceCapacity: ..."},
 *       {"target": "p4d", "cycle": 0, "run": 3, "started": TIME, "outcome": "running",
 *        "cause": ""}
 *     ]
 *   }
 *
 * "ended" is absent while an attempt lasts. Outcomes: see attempt_outcome_names. Times are UTC, by
 * the clock of the machine that wrote them.
 */
#ifndef SLIPWAY_K8S_DEPLOY_STATE_H
#define SLIPWAY_K8S_DEPLOY_STATE_H

#include "k8s/deploy/kubectl.h"

#define STATE_SUFFIX "-deploy-state"
#define STATE_KEY    "state.json"

enum { STATE_ATTEMPTS_MAX = 32, STATE_TARGET_MAX = 16, STATE_TEXT_MAX = 400 };

enum attempt_outcome {
	ATTEMPT_STARTING,    /* no pod of it has run yet */
	ATTEMPT_RUNNING,     /* a pod has run: it is moved only after a full reclaim */
	ATTEMPT_NO_CAPACITY, /* given up for the next target */
	ATTEMPT_SUCCEEDED,
	ATTEMPT_FAILED,
	ATTEMPT_GONE,      /* the job was deleted by somebody else */
	ATTEMPT_REPLACED,  /* a new run took its place */
	ATTEMPT_REFUSED,   /* the cluster's rules let it have no pods there */
	ATTEMPT_RECLAIMED, /* it ran, lost all its nodes and was given up for the next target */
	ATTEMPT_RETURNED,  /* it ran until a better target had capacity again */
	ATTEMPT_OUTCOMES
};

/* "starting", "running", "no-capacity", "succeeded", "failed", "gone", "replaced", "refused",
 * "reclaimed", "returned" */
extern const char *const attempt_outcome_names[];

struct attempt {
	char target[STATE_TARGET_MAX];
	int64_t cycle;
	int64_t run;                  /* its number (k8s/deploy/runs.h); 0 = unknown */
	int64_t started_ms, ended_ms; /* since 1970 UTC; ended 0 = it lasts */
	enum attempt_outcome outcome;
	char cause[STATE_TEXT_MAX];
};

struct state {
	char target[STATE_TARGET_MAX]; /* "" = none yet */
	char reason[STATE_TEXT_MAX];
	int64_t since_ms;
	int64_t cycle;
	struct attempt attempts[STATE_ATTEMPTS_MAX]; /* the oldest goes when there is no room */
	size_t n;
};

/* The attempt that lasts or was the last, NULL without one. */
struct attempt *state_last(struct state *s);

/* A new attempt becomes the last one, and its target the state's. */
void state_begin(struct state *s, const char *target, const char *reason, int64_t now_ms);

/* The last attempt's outcome; one that is neither starting nor running ends it. */
void state_settle(struct state *s, enum attempt_outcome outcome, const char *cause, int64_t now_ms);

/* The last attempt opens a cycle of its own: what was tried before it says nothing any more. */
void state_new_cycle(struct state *s);

/* Is it an outcome after which the next target is tried? */
bool state_gives_way(enum attempt_outcome outcome);

/* Has the cycle at work tried that target and found that it cannot run there? */
bool state_has_tried(const struct state *s, const char *target);

/* As JSON, the form above, and back. ERR_FORMAT for anything else, of any version but 1. Pure. */
cJSON *state_json(const struct state *s);
int state_parse(const char *text, size_t len, struct state *ret, struct err *err) MUST_USE;

/* Reads the ConfigMap; a fleet without one gets an empty state. ERR_CONFLICT: it is another
 * owner's. */
int state_read(struct kubectl *k, const char *namespace, const char *fleet, struct state *ret,
               struct err *err) MUST_USE;

/* Writes it with server-side apply. The caller holds the Lease. */
int state_write(struct kubectl *k, const char *namespace, const char *fleet, const struct state *s,
                struct err *err) MUST_USE;

#endif

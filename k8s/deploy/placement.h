/*
 * Placing the job: chooses a target, starts the job there, or a new run of it in the place of one
 * that is another (k8s/deploy/runs.h), watches it, moves it to the next where
 * there is no capacity, and records in the cluster what it tried (k8s/deploy/state.h), so that
 * another run continues wherever this one was stopped. The caller holds the Lease.
 */
#ifndef SLIPWAY_K8S_DEPLOY_PLACEMENT_H
#define SLIPWAY_K8S_DEPLOY_PLACEMENT_H

#include "k8s/deploy/capacity.h"
#include "k8s/deploy/lease.h"
#include "k8s/deploy/runs.h"

/* When placement_run returns. */
enum placement_until {
	UNTIL_STARTED, /* the job is in the cluster */
	UNTIL_RUNNING, /* all its pods run */
	UNTIL_ENDED    /* it has succeeded */
};

struct placement_opts {
	const struct fleet *fleet;
	const cJSON *release;       /* the jobs of all targets (k8s/deploy/runs.h) */
	const cJSON *ahead;         /* what is compiled before them, per target; NULL = nothing */
	const char *image, *reason; /* what the record says of it; image NULL = unknown */
	const char *pinned;         /* the target asked for by name; NULL = by weight */
	bool may_move;              /* from a target without capacity to the next */
	bool keep_trying;           /* start over after all of them, with pauses */
	enum placement_until until;
	int64_t interval_ms; /* between two looks */
	bool timed;          /* apply.deadline_ms bounds the search as well */
	struct apply_opts apply;
	/* Called for each event as it happens; may be NULL. */
	void (*tell)(void *listener, const char *target, const char *text);
	void *listener;
};

struct placement {
	struct state state;         /* as it was written last */
	struct apply_counts counts; /* of all that was applied */
	size_t moves;               /* targets given up */
	int64_t run;                /* the number of the job that was applied last; 0 = none */
};

/*
 * ERR_CAPACITY: no target has any, or the deadline passed while one lacks it; ERR_JOB: the job
 * failed; ERR_CONFLICT: it was deleted by somebody else, or another target's is there; ERR_NETWORK:
 * the deadline passed; ERR_SERVER: its pods do not start, and no other target would help. *ret is
 * set in any case.
 */
int placement_run(struct lease *lease, const struct placement_opts *opts, struct placement *ret,
                  struct err *err) MUST_USE;

#endif

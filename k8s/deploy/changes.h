/*
 * News of a target's job instead of looking every few seconds: calls of kubectl that last (`get
 * --watch`) say that something about its object, its pods, its node claims or their events has
 * changed. What has changed is not read here: the next look reads the cluster as it is, so that
 * nothing depends on a message that did not come.
 *
 * Looks for news are paced: a burst is followed at once, a storm is not, so that the calls of an
 * hour have an upper bound whatever happens in it. Where watching is not allowed or not possible,
 * looks come at the interval, as ever.
 */
#ifndef SLIPWAY_K8S_DEPLOY_CHANGES_H
#define SLIPWAY_K8S_DEPLOY_CHANGES_H

#include "k8s/deploy/capacity.h"
#include "k8s/deploy/lease.h"

enum {
	CHANGES_SETTLE_MS = 300,   /* what happens together is looked at once */
	CHANGES_QUIET_MS = 300000, /* without news the cluster is looked at so often */
	CHANGES_BURST = 100,       /* calls of looks that may follow each other at the interval; */
	CHANGES_CALL_MS = 24000    /* then one for each such time, 150 an hour */
};

/* A call that lasts. */
struct follower {
	struct proc_child child;
	bool running;
	bool refused;                 /* for good: not allowed, not known */
	int64_t started_ms, pause_ms; /* not started again before started + pause */
};

struct changes {
	struct lease *lease;
	int64_t interval_ms; /* 0: looks without a pause, and without watching */
	const char *job;     /* that they are about, borrowed */
	struct follower at[SEEN_KINDS];
	bool news, fresh;       /* something was said; some were started just now */
	int64_t calls, paid_ms; /* of looks, not worked off as of then */
};
void changes_init(struct changes *c, struct lease *lease, int64_t interval_ms);

/* Ends the calls. */
void changes_done(struct changes *c);

/*
 * Waits for something to look at: news, `due_ms` of the clock, or the quiet time; at the interval
 * where not all is watched. `unstarted`: claims and events count. Ends early as lease_sleep does.
 */
int changes_await(struct changes *c, const struct watch_opts *about, bool unstarted, int64_t due_ms,
                  struct err *err) MUST_USE;

#endif

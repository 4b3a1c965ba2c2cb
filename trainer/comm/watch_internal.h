/*
 * What watch.c (the threads, and what main threads tell), watch_verdict.c (what follows from what
 * is found) and watch_lines.c (what is said over the connections) share.
 */
#ifndef SLIPWAY_TRAINER_COMM_WATCH_INTERNAL_H
#define SLIPWAY_TRAINER_COMM_WATCH_INTERNAL_H

#include <pthread.h>

#include "trainer/comm/door.h"
#include "trainer/comm/watch.h"
#include "trainer/comm/watch_judge.h"

enum { WATCH_REASON_MAX = 480, WATCH_LINE_MAX = 512 };

/* A connection to another rank. */
struct watch_peer {
	int fd; /* -1: none */
	size_t n;
	char line[WATCH_LINE_MAX]; /* begun */
};

struct rank_watch {
	const struct comm_engine *e;
	const struct comm_options *o;
	struct watch_invitation invitation;
	pthread_t thread;
	bool begun;

	/* the thread's own */
	struct door *door;        /* rank 0's */
	unsigned n_peers;         /* rank 0: every rank, itself without a connection; others: 1 */
	struct watch_peer *peers; /* of the others, the only one is rank 0 */
	struct watch_judge judge; /* of the peers */

	pthread_mutex_t lock; /* of what follows */
	struct watch_sign own;
	double since; /* when own.waiting became what it is */
	bool met;     /* rank 0 was reached, or is not to be reached; not rank 0's */
	bool ending;  /* in good order */
	int failed;   /* this rank's status to end with; 0: it has not failed */
	bool told;    /* the others know that */
	bool lost, slow;
	int status; /* to end with when it is lost */
	char reason[WATCH_REASON_MAX];
};

/* This rank's sign by now. */
struct watch_sign watch_own(struct rank_watch *w, double now);

/* Says a line to a peer and forgets one that does not take it at once. */
void watch_tell(struct watch_peer *p, const char *line);
void watch_tell_all(struct rank_watch *w, const char *line);
/* "beat ...\n" with this rank's sign. */
void watch_write_beat(const struct watch_sign *s, char line[WATCH_LINE_MAX]);
/* Takes what peer i has said into its sign; a reason that rank 0 gave becomes w's. */
void watch_hear(struct rank_watch *w, unsigned i, double now);

/* One of w's flags. */
bool watch_flag(struct rank_watch *w, const bool *which);
/* Says what was found, and gives up where it is a loss. Rank 0 tells the others first: MPI may take
 * it with it. */
void watch_report(struct rank_watch *w, const struct watch_finding *f);

/* The run is lost for this reason, and to end with this status; the first one stays. */
void watch_give_up(struct rank_watch *w, int status, const char *reason);
/* The run is to be stopped, for a slow rank. */
void watch_slow_down(struct rank_watch *w, const char *reason);
/* What the others end with when a rank ends with this status: the same where starting again would
 * not help, else RUN_EXIT_RANK_LOST. */
int watch_others_status(int status);

#endif

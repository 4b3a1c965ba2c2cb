/*
 * What watch.c (the threads, and what main threads see) and watch_lines.c (what is said over the
 * connections) share.
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
	bool ending;  /* in good order */
	int failed;   /* this rank's status to end with; 0: it has not failed */
	bool told;    /* the others know that */
	bool lost, slow;
	char reason[WATCH_REASON_MAX];
};

/* This rank's sign by now. */
struct watch_sign watch_own(struct rank_watch *w, double now);

/* Says a line to a peer and forgets one that does not take it at once. */
void watch_tell(struct watch_peer *p, const char *line);
/* "beat ...\n" with this rank's sign. */
void watch_write_beat(const struct watch_sign *s, char line[WATCH_LINE_MAX]);
/* Takes what peer i has said into its sign; a reason that rank 0 gave becomes w's. */
void watch_hear(struct rank_watch *w, unsigned i, double now);

/* The run is lost (or, slow, to be stopped) for this reason; the first one stays. */
void watch_give_up(struct rank_watch *w, bool slow, const char *reason);

#endif

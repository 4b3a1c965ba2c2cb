/*
 * The watch over the ranks: once a second each tells rank 0 that it lives and how far it is, over a
 * connection of its own beside MPI's, and rank 0 tells them. Which rank is gone, silent, late or
 * slow (watch_judge.h) is said with its node as soon as it is known, to o->say; when one is lost
 * the run is to end on every rank. A main thread that does not come round to that (it is inside
 * MPI, or computes) is not waited for: o->end is called.
 *
 * Thread rule: the functions are for the main thread; o->say and o->end are called by one of this
 * file's.
 */
#ifndef SLIPWAY_TRAINER_COMM_WATCH_H
#define SLIPWAY_TRAINER_COMM_WATCH_H

#include "trainer/comm/comm.h"
#include "trainer/comm/engine.h"

struct rank_watch; /* opaque */

enum { WATCH_ADDRESSES = 8, WATCH_ADDRESS_MAX = 46 };

/* Where rank 0 takes the signs of life, and what proves to be of this run. Plain bytes, for a
 * broadcast by MPI. */
struct watch_invitation {
	char key[33];
	char addresses[WATCH_ADDRESSES][WATCH_ADDRESS_MAX]; /* "" beyond the last */
	unsigned port;                                      /* 0: there is no watch */
};

/* Rank 0 opens its door and fills *invitation; the others only make the object. e and o are
 * borrowed until the watch ends. */
struct rank_watch *watch_new(const struct comm_engine *e, const struct comm_options *o,
                             struct watch_invitation *invitation);
/* All ranks, when they have the invitation. Returns when rank 0 watches this one, or after 10 s. */
void watch_begin(struct rank_watch *w, const struct watch_invitation *invitation);

/* Says goodbye, and frees w. NULL is fine. */
void watch_end(struct rank_watch *w);
/* This rank failed: the others are told. The watch goes on until the process ends, and sees to it
 * that it does, with this status. */
void watch_fail(struct rank_watch *w, int status);

/* The main thread waits for other ranks in an exchange, or works again. NULL is fine. */
void watch_waits(struct rank_watch *w, bool waiting);
/* The main thread has a step's sums. */
void watch_stepped(struct rank_watch *w);

/* So much of the last work was not a rank's part of the steps. NULL is fine. */
void watch_excuse(struct rank_watch *w, double seconds);

/* A rank is lost: *err says which (ERR_NETWORK) and the result is -1. */
int watch_check(struct rank_watch *w, struct err *err) MUST_USE;
/* A rank is so slow that the run is to stop after this step. */
bool watch_wants_stop(struct rank_watch *w);
/* Either of both. */
bool watch_lost(struct rank_watch *w);

#endif

/*
 * The other ranks of a data-parallel run. One process needs none of it; several speak MPI, whose
 * library (Open MPI's or MPICH's) is loaded when needed, so that the trainer links neither and one
 * binary serves both. Whatever stands behind is hidden here. Devices that sum gradients among
 * themselves (trainer/ops/collective.h) meet, and are waited for, by this.
 *
 * Every wait is bounded, and the ranks are watched meanwhile (watch.h): one that is gone, stopped,
 * late or slow is named with its node within two thirds of the time-out, and ends the run.
 *
 * Thread rule: all calls from one thread.
 */
#ifndef SLIPWAY_TRAINER_COMM_COMM_H
#define SLIPWAY_TRAINER_COMM_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/run_exit.h"
#include "trainer/train/loop.h"

/* What a launcher passes to a process in its environment. */
struct comm_place {
	unsigned rank, n_ranks; /* 0 and 1 when no launcher is seen */
	unsigned local_rank;    /* among the ranks of this node; 0 when not given */
	bool counts_locals;   /* the launcher has started every rank of the node, and counts them */
	const char *launcher; /* "Open MPI", "Slurm", ...; NULL: none */
	bool speaks_mpi;      /* processes it starts can meet in MPI_Init */
	char master[256];     /* otherwise: rank 0's host, "" when not given, ... */
	unsigned port;        /* ... and where it listens for the others */
	char token[256];      /* what only the ranks of this run have; "": nothing */
};

/* What proves that a process is a rank of this run; the caller takes it out of the environment. */
#define COMM_TOKEN_VARIABLE "SLIPWAY_RUN_TOKEN"

/* Reads the variables of Open MPI, MPICH/PMI, Slurm, torchrun, Volcano and indexed Jobs. `look` is
 * getenv in the program. The token is SLIPWAY_RUN_TOKEN's, else TORCHELASTIC_RUN_ID's: it proves to
 * be of this run and is never sent. ERR_USAGE when a launcher's variables contradict each other. */
int comm_place(const char *(*look)(void *ctx, const char *name), void *ctx, struct comm_place *ret,
               struct err *err) MUST_USE;

struct comm; /* opaque */

/* The functions may be called by another thread than the caller's, until comm_close. */
struct comm_options {
	const char *library; /* of MPI; NULL: the known names are tried */
	unsigned timeout_s;  /* 0: 45 seconds */
	unsigned join_s;     /* for all ranks to come, without mpirun; 0: 900 seconds */
	/* A line (without its end) for the log, with the time. NULL: not said. */
	void (*say)(void *ctx, const char *line);
	/* Ends the process now, with a lost rank and this one inside MPI; does not return. */
	void (*end)(void *ctx, int status);
	void *ctx;
};

/* "2026-11-22T10:00:00Z TEXT" to o->say. */
void comm_say(const struct comm_options *o, const char *text);

/*
 * Joins the other ranks. With one rank, *ret needs no engine. The MPI library is looked for first.
 * Processes that no mpirun started meet at rank 0's host (pmi.h); this needs MPICH. ERR_NOT_FOUND
 * when MPI is wanted and no library is there (the hint names the package), ERR_NETWORK when ranks
 * do not come, ERR_DENIED when rank 0 turns this one away, ERR_UNSUPPORTED when the
 * library cannot be joined this way or does not see them all, ERR_INTERRUPTED.
 */
int comm_open(const struct comm_place *place, const struct comm_options *o, struct comm **ret,
              struct err *err) MUST_USE;
/* Leaves in good order, after all ranks have come. */
int comm_close(struct comm *c, struct err *err) MUST_USE;
/* Leaves because this rank failed, or another was lost: ends all ranks where the engine can. The
 * process is to end with this status; the watch sees to it. */
void comm_abort(struct comm *c, int status);

/* The last `seconds` went into what the other ranks do not do, as saving: that is not slowness. */
void comm_excuse(struct comm *c, double seconds);

/* A rank was lost, or is so slow that the run is to stop after this step and start again without
 * it: the process is to end with RUN_EXIT_RANK_LOST. */
bool comm_lost(struct comm *c);

unsigned comm_rank(const struct comm *c);
unsigned comm_size(const struct comm *c);
/* "Open MPI", "MPICH" or "single process". */
const char *comm_name(const struct comm *c);

/* For train_run; valid until c ends. */
struct reducer comm_reducer(struct comm *c);

/* What ranks do together by other means than these: *ret_done says whether it is complete, and does
 * so again if asked. It must not wait. */
struct comm_awaited {
	int (*test)(void *ctx, bool *ret_done, struct err *err);
	void *ctx;
};

/* Waits for it as for an exchange: bounded, with the ranks watched, and a lost one named. */
int comm_await(struct comm *c, const struct comm_awaited *what, struct err *err) MUST_USE;

/* Sum and largest value over the ranks, in place. */
int comm_sum(struct comm *c, double *values, size_t n, struct err *err) MUST_USE;
int comm_max(struct comm *c, double *values, size_t n, struct err *err) MUST_USE;
/* Every rank gets rank 0's bytes. */
int comm_broadcast(struct comm *c, void *bytes, size_t n, struct err *err) MUST_USE;
int comm_barrier(struct comm *c, struct err *err) MUST_USE;

#endif

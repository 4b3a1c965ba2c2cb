/*
 * The other ranks of a data-parallel run. One process needs none of it; several speak MPI, whose
 * library (Open MPI's or MPICH's) is loaded when needed, so that the trainer links neither and one
 * binary serves both. Whatever stands behind (MPI today) is hidden here: NCCL or Neuron's
 * collectives would be another `struct comm_engine`.
 *
 * Every wait is bounded: when a rank has not come after the time-out, rank 0 learns which ones wait
 * and names the others.
 *
 * Thread rule: all calls from one thread.
 */
#ifndef SLIPWAY_TRAINER_COMM_COMM_H
#define SLIPWAY_TRAINER_COMM_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "trainer/train/loop.h"

/* What a launcher passes to a process in its environment. */
struct comm_place {
	unsigned rank, n_ranks; /* 0 and 1 when no launcher is seen */
	unsigned local_rank;    /* among the ranks of this node; 0 when not given */
	const char *launcher;   /* "Open MPI", "Slurm", ...; NULL: none */
	bool speaks_mpi;        /* processes it starts can meet in MPI_Init */
	char master[256];       /* otherwise: rank 0's host, "" when not given, ... */
	unsigned port;          /* ... and where it listens for the others */
};

/* Reads the variables of Open MPI, MPICH/PMI, Slurm, torchrun, Volcano and indexed Jobs. `look` is
 * getenv in the program. ERR_USAGE when a launcher's variables contradict each other. */
int comm_place(const char *(*look)(void *ctx, const char *name), void *ctx, struct comm_place *ret,
               struct err *err) MUST_USE;

struct comm; /* opaque */

struct comm_options {
	const char *library; /* of MPI; NULL: the known names are tried */
	unsigned timeout_s;  /* 0: 45 seconds */
	unsigned join_s;     /* for all ranks to come, without mpirun; 0: 900 seconds */
};

/*
 * Joins the other ranks. With one rank, *ret needs no engine. Processes that no mpirun started meet
 * at rank 0's host (pmi.h); this needs MPICH. ERR_NOT_FOUND when MPI is wanted and no library is
 * there (the hint names the package), ERR_NETWORK when ranks do not come, ERR_UNSUPPORTED when the
 * library does not see them all.
 */
int comm_open(const struct comm_place *place, const struct comm_options *o, struct comm **ret,
              struct err *err) MUST_USE;
/* Leaves in good order, after all ranks have come. */
int comm_close(struct comm *c, struct err *err) MUST_USE;
/* Leaves because this rank failed: ends all ranks where the engine can; frees c. */
void comm_abort(struct comm *c, int status);

unsigned comm_rank(const struct comm *c);
unsigned comm_size(const struct comm *c);
/* "Open MPI", "MPICH" or "single process". */
const char *comm_name(const struct comm *c);

/* For train_run; valid until c ends. */
struct reducer comm_reducer(struct comm *c);

/* Sum and largest value over the ranks, in place. */
int comm_sum(struct comm *c, double *values, size_t n, struct err *err) MUST_USE;
int comm_max(struct comm *c, double *values, size_t n, struct err *err) MUST_USE;
/* Every rank gets rank 0's bytes. */
int comm_broadcast(struct comm *c, void *bytes, size_t n, struct err *err) MUST_USE;
int comm_barrier(struct comm *c, struct err *err) MUST_USE;

#endif

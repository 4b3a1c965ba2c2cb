/*
 * What stands behind trainer/comm/comm.h: one table a transport. Every operation is begun, then
 * tested until it is done, so that comm.c can bound the waiting and compute meanwhile.
 */
#ifndef SLIPWAY_TRAINER_COMM_ENGINE_H
#define SLIPWAY_TRAINER_COMM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum comm_type { COMM_F32, COMM_F64, COMM_BYTE };
enum comm_op { COMM_SUM, COMM_MAX };

/* An operation on its way; what an engine keeps of it. */
struct comm_request {
	void *handle;
};

struct comm_engine {
	const char *name;
	void *state; /* the engine's */
	unsigned rank, size;
	bool any_thread; /* calls may come from several threads, one at a time */
	int (*all_reduce)(void *state, void *values, size_t n, enum comm_type type, enum comm_op op,
	                  struct comm_request *ret);
	int (*broadcast)(void *state, void *bytes, size_t n, struct comm_request *ret);
	int (*barrier)(void *state, struct comm_request *ret);
	/* Moves it forward; *ret_done says whether it is complete, and does so again if asked. */
	int (*test)(void *state, struct comm_request *r, bool *ret_done);
	/* What is under way is given up: from here on its values are touched inside calls at most.
	 * NULL: they never are outside. */
	void (*forget)(void *state);
	void (*host)(void *state, unsigned rank, char *out, size_t size); /* a rank's node */
	void (*close)(void *state);
	void (*abort)(void *state, int status);
};

/* A library of MPI that was found, and not started. */
struct comm_mpi {
	void *state; /* the engine's */
	bool mpich;  /* else Open MPI */
};

/* Loads the library named, or the first there is of Open MPI's and MPICH's names, of which the
 * launcher's own come first. ERR_NOT_FOUND, ERR_UNSUPPORTED. */
int comm_mpi_load(const char *library, bool mpich_first, struct comm_mpi *ret,
                  struct err *err) MUST_USE;
/* MPI_Init, and who the ranks are. Waits for all of them, and hears no request to stop. */
int comm_mpi_start(const struct comm_mpi *mpi, struct comm_engine *ret, struct err *err) MUST_USE;

#endif

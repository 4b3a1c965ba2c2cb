/*
 * MPI_Init waits for all ranks and hears nothing meanwhile: a thread beside it ends the process
 * when it is told to stop, and when the ranks do not all come in time.
 */
#ifndef SLIPWAY_TRAINER_COMM_GUARD_H
#define SLIPWAY_TRAINER_COMM_GUARD_H

#include "trainer/comm/comm.h"

struct guard; /* opaque */

/* Guards until guard_end, for o->join_s seconds at most. NULL where no thread can be had. */
struct guard *guard_new(const struct comm_options *o);
/* NULL is fine. */
void guard_end(struct guard *g);

#endif

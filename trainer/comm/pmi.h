/*
 * Ranks that no mpirun started meet through rank 0: in a Volcano job, an indexed Job or under
 * torchrun each process knows its rank, their number and rank 0's host. Rank 0 listens there and
 * does what mpirun does for MPICH: answers PMI-1 requests (a store of short strings, and a barrier)
 * until every rank has left. MPICH then makes its own connections. Open MPI needs its mpirun.
 *
 * Thread rule: the functions are called before and after all use of MPI, by one thread; the answers
 * are given by a thread of this file.
 */
#ifndef SLIPWAY_TRAINER_COMM_PMI_H
#define SLIPWAY_TRAINER_COMM_PMI_H

#include "base/err.h"
#include "trainer/comm/comm.h"

struct pmi; /* opaque */

/*
 * Waits until all ranks have come, at most o->join_s seconds, and sets PMI_FD, PMI_RANK and
 * PMI_SIZE, which MPICH's MPI_Init reads. Ranks prove that they have place->token (greeting.h); one
 * that leaves before all have come may come again. What rank 0 sees goes to o->say: who is waited
 * for, and how many strangers were turned away. ERR_NETWORK: nobody answers, or ranks are missing
 * (rank 0 names them). ERR_DENIED: rank 0 refuses this one (its words), or is of another run.
 * ERR_INTERRUPTED.
 */
int pmi_meet(const struct comm_place *place, const struct comm_options *o, struct pmi **ret,
             struct err *err) MUST_USE;

/* After MPI_Finalize: waits for the others to leave, some seconds at most. NULL is fine. */
void pmi_part(struct pmi *p);
/* Instead: MPI did not start here, and the others need not wait. */
void pmi_quit(struct pmi *p);

#endif

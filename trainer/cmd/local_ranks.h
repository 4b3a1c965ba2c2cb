/*
 * The ranks of a node, started by one process of it: for pods that have several GPUs and no
 * launcher inside. Each is a copy of that process, made before it has threads or devices, and told
 * its place by the variables of torch.distributed (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR,
 * MASTER_PORT).
 */
#ifndef SLIPWAY_TRAINER_CMD_LOCAL_RANKS_H
#define SLIPWAY_TRAINER_CMD_LOCAL_RANKS_H

#include <stdbool.h>

#include "base/err.h"

enum { LOCAL_RANKS_MAX = 64 };

struct local_ranks {
	unsigned n;         /* on this node */
	unsigned timeout_s; /* for the others to end when one has failed */
};

/*
 * *ret: whether `asked` ranks are to be started here. Not where one was asked for, and not where a
 * launcher (mpirun, srun, torchrun) has started every rank of the node already.
 */
int local_ranks_wanted(unsigned asked, bool *ret, struct err *err) MUST_USE;

/*
 * Starts them, and returns in each, with *ret_is_rank set, to go on as a rank. In the process that
 * started them it hands a request to stop on to them, and returns when all have ended: *ret_status
 * is 0 when all did so well, else that of the first that failed by itself (a rank that only lost
 * another, RUN_EXIT_RANK_LOST, gives way to its cause). When that process dies, they are told to
 * stop. A line on standard error for a rank that a signal has ended. Call interrupt_install before.
 */
int local_ranks_run(const struct local_ranks *l, bool *ret_is_rank, int *ret_status,
                    struct err *err) MUST_USE;

#endif

/*
 * Who sums the gradients of ranks that compute on devices of their own: the devices' collective
 * (trainer/ops/collective.h) where every rank has it, else the hosts, whose MPI (trainer/comm)
 * moves all the rest in either case, and whose watch bounds every wait.
 */
#ifndef SLIPWAY_TRAINER_SESSION_COLLECTIVE_H
#define SLIPWAY_TRAINER_SESSION_COLLECTIVE_H

#include <stdio.h>

#include "trainer/comm/comm.h"
#include "trainer/ops/collective.h"

struct session_collective {
	struct collective *devices; /* NULL: the hosts sum */
	struct comm *comm;
	struct reducer hosts;
	char why[160]; /* the hosts do, though the devices were meant to; "": they were not */
};

/* ERR_USAGE unless the choice is auto, nccl or host. */
int collective_check_choice(const char *choice, struct err *err) MUST_USE;

/*
 * On every rank alike, and with the same choice. comm and ops are borrowed until collective_close.
 * ERR_NOT_FOUND, ERR_UNSUPPORTED: "nccl" was chosen, and a rank lacks it; else what joining fails
 * with.
 */
int collective_open(struct session_collective *c, const char *choice, struct comm *comm,
                    struct ops *ops, struct err *err) MUST_USE;

/* For train_run; valid until c ends. */
struct reducer collective_reducer(struct session_collective *c, struct comm *comm);

/* A line for the log. */
void collective_print(const struct session_collective *c, const struct comm *comm, FILE *out);

/* In order: after all ranks have come to it. One that is all zero is fine. */
int collective_close(struct session_collective *c, bool in_order, struct err *err) MUST_USE;

#endif

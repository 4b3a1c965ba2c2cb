/*
 * How a process of a run ends: the exit statuses of slipway-trainer, with what each means and
 * whether starting it again could help. The trainer returns them, the rendered jobs and
 * `slipway status` read them here, docs/TRAINING.md lists them (a test compares the two). 75 is
 * EX_TEMPFAIL of sysexits(3); the others stand where neither it nor a shell uses a number.
 */
#ifndef SLIPWAY_BASE_RUN_EXIT_H
#define SLIPWAY_BASE_RUN_EXIT_H

#include <stdbool.h>

/* X(NAME, status, hopeless, meaning); hopeless: the same command on the same kind of node would end
 * the same way, so that a job is to be given up instead of restarted. */
#define RUN_EXIT_ROWS(X)                                                                           \
	X(DONE, 0, false, "all steps are done, or --patience ended the run")                       \
	X(FAILED, 1, false, "an error of another kind")                                            \
	X(USAGE, 2, true, "wrong command line or configuration, or a used output folder")          \
	X(STOPPED, 75, false, "stopped by a signal or --stop_after, with a checkpoint saved")      \
	X(RANK_LOST, 76, false, "a rank did not come, did not answer or was lost")                 \
	X(BAD_NODE, 77, false,                                                                     \
	  "this node is bad: it computes wrong results, or a GPU of it fails")                     \
	X(MEMORY, 78, true, "out of memory")                                                       \
	X(BAD_INPUT, 79, true, "damaged input: a shard, a dataset or a checkpoint")

#define RUN_EXIT_NAME(name, status, hopeless, meaning) RUN_EXIT_##name = (status),
enum run_exit { RUN_EXIT_ROWS(RUN_EXIT_NAME) };
#undef RUN_EXIT_NAME

struct run_exit_row {
	int status;
	bool hopeless;
	const char *meaning; /* a clause, without a full stop */
};

/* Row i in ascending order of status; NULL beyond the last. */
const struct run_exit_row *run_exit_at(unsigned i);

/* The row of a status; NULL for one that is not in the table. */
const struct run_exit_row *run_exit_find(int status);

#endif

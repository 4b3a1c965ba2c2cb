/*
 * Sums over the devices of a run's ranks, by a library of the devices' maker: values stay in the
 * devices' memory, and a sum goes on beside what a device computes. One rank, one device.
 *
 * Nothing here waits for another rank. What is begun is done when `test` says so, and the caller
 * bounds that wait, for whoever waits for a rank that is gone waits for ever.
 *
 * Thread rule: that of the ops.
 */
#ifndef SLIPWAY_TRAINER_OPS_COLLECTIVE_H
#define SLIPWAY_TRAINER_OPS_COLLECTIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"

struct ops;

enum { COLLECTIVE_ID = 128 }; /* bytes of what the ranks of a run meet by */

/* A rank's part; the first member of the implementation's struct. */
struct collective {
	const struct op_collective *table;
};

enum collective_state {
	COLLECTIVE_READY, /* joined, and every call so far is under way: the next may come */
	COLLECTIVE_DONE   /* and everything that was begun is there */
};

/* What the maker's library does. Errors are not sticky here: after one, close in disorder. */
struct op_collective {
	/* ERR_NOT_FOUND: the library is not there; ERR_UNSUPPORTED: it is too old. ops is borrowed
	 * and outlives *ret, which the caller closes. */
	int (*open)(struct ops *ops, struct collective **ret, struct err *err);
	/* Rank 0's, which gives it to the others. */
	int (*id)(struct collective *c, unsigned char ret[COLLECTIVE_ID], struct err *err);
	/* Begins to join; it is ready when all ranks have. */
	int (*join)(struct collective *c, const unsigned char id[COLLECTIVE_ID], unsigned rank,
	            unsigned n_ranks, struct err *err);
	/* Of values[n] in the device's memory, in place, after everything that was asked of the ops
	 * before. To be called when ready, on every rank in the same order. */
	int (*begin_sum)(struct collective *c, float *values, size_t n, struct err *err);
	/* ERR_NETWORK: a rank or its connection is at fault; ERR_MACHINE: this one's device. */
	int (*test)(struct collective *c, enum collective_state state, bool *ret, struct err *err);
	/* Begins to leave, with every sum done; to be closed in order when ready. */
	int (*leave)(struct collective *c, struct err *err);
	/* Out of order: what is under way is given up, whoever else waits for it. NULL is fine. */
	void (*close)(struct collective *c, bool in_order);
	/* Appends its name: "NCCL 2.30.7". */
	void (*describe)(const struct collective *c, struct strbuf *sb);
};

#endif

/*
 * Where a step's time goes: a table of ops around another that measures each call and adds it to
 * the row of (part of the network, op). The graph names the parts in ops->part. One profile at a
 * time per ops; used by the thread that calls the ops.
 */
#ifndef SLIPWAY_TRAINER_OPS_PROFILE_H
#define SLIPWAY_TRAINER_OPS_PROFILE_H

#include "trainer/ops/ops.h"

enum { PROFILE_ROWS = 64 };

struct profile_row {
	const char *part, *op; /* not owned: they are literals */
	double flop;           /* multiply and add count as two; products only */
	double seconds;
};

struct profile {
	struct op_table table;
	const struct op_table *inner;
	struct profile_row rows[PROFILE_ROWS]; /* in the order of their first calls */
	size_t n;
};

/* From here on every op of *ops is measured; both stay where they are until profile_detach. */
void profile_attach(struct profile *p, struct ops *ops);
void profile_detach(struct profile *p, struct ops *ops);

/* Adds to a row, which is made when there is none yet; what does not fit is dropped. */
void profile_add(struct profile *p, const char *part, const char *op, double flop, double seconds);

/* Sets all rows' figures to 0 and keeps the rows. */
void profile_reset(struct profile *p);

#endif

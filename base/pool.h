/*
 * Runs n independent jobs on up to n_threads threads. The first failure stops new jobs from
 * starting; running ones finish; its error is returned.
 */
#ifndef SLIPWAY_BASE_POOL_H
#define SLIPWAY_BASE_POOL_H

#include <stddef.h>

#include "base/err.h"

typedef int (*pool_job)(void *ctx, size_t i, struct err *err);

/* job(ctx, i) for i in 0..n-1; ctx is shared, the job synchronises what it writes. */
int pool_run(size_t n, unsigned n_threads, pool_job job, void *ctx, struct err *err) MUST_USE;

/*
 * The same of jobs that are sorted, the longest first: every other thread begins with the shortest.
 * The longest, which might end last, start at once, and what the short ones wait for (a server's
 * answer, its disk) costs nothing while long ones keep the processors and the line busy.
 */
int pool_run_from_both_ends(size_t n, unsigned n_threads, pool_job job, void *ctx,
                            struct err *err) MUST_USE;

#endif

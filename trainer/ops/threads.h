/*
 * A team of threads for short parallel loops. Tasks are handed out one by one, so which thread runs
 * which is chance; results must not depend on it: a task writes only what is its own.
 */
#ifndef SLIPWAY_TRAINER_OPS_THREADS_H
#define SLIPWAY_TRAINER_OPS_THREADS_H

#include <stdatomic.h>
#include <stddef.h>

struct threads;

/* A team of n (at least 1), the caller included. Free with threads_free. */
struct threads *threads_new(unsigned n);
void threads_free(struct threads *t);

/* Members of the team; 1 for NULL. */
unsigned threads_count(const struct threads *t);

/*
 * task(ctx, i, worker) for i in 0..n-1, worker in 0..threads_count-1; returns when all are done.
 * NULL runs them here. Not to be called from within a task, nor by two threads at once.
 */
void threads_run(struct threads *t, size_t n, void (*task)(void *ctx, size_t i, unsigned worker),
                 void *ctx);

/*
 * Within a task: waits until *done is n, to which earlier tasks of the same round add one each.
 * Earlier ones have begun by then, so it ends. What they wrote before adding is seen.
 */
void threads_done(atomic_size_t *done);
void threads_await(const atomic_size_t *done, size_t n);

#endif

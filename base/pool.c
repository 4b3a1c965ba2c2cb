#include "base/pool.h"

#include <pthread.h>

#include "base/interrupt.h"
#include "base/mem.h"

struct pool {
	size_t next, end; /* the jobs that nobody has begun */
	bool failed;
	pool_job job;
	void *ctx;
	struct err err; /* of the first failure */
	pthread_mutex_t lock;
};

struct worker {
	struct pool *pool;
	bool backwards; /* takes the last job that is left, not the first */
	pthread_t thread;
};

/* The next job's number; false when there is none or somebody failed. */
static bool next_job(const struct worker *w, size_t *ret_i)
{
	struct pool *p = w->pool;

	pthread_mutex_lock(&p->lock);
	bool some = !p->failed && p->next < p->end;

	if (some)
		*ret_i = w->backwards ? --p->end : p->next++;
	pthread_mutex_unlock(&p->lock);
	return some;
}

static void note_failure(struct pool *p, const struct err *err)
{
	pthread_mutex_lock(&p->lock);
	if (!p->failed)
		p->err = *err;
	p->failed = true;
	pthread_mutex_unlock(&p->lock);
}

static void *run_jobs(void *arg)
{
	const struct worker *w = arg;
	struct pool *p = w->pool;
	size_t i;

	while (next_job(w, &i)) {
		struct err err = {0};

		if (interrupt_check(&err) != 0 || p->job(p->ctx, i, &err) != 0)
			note_failure(p, &err);
	}
	return NULL;
}

/* The caller is the first of them, so that no thread more is needed to go on. */
static void run_workers(struct worker *workers, size_t n)
{
	size_t started = 1;

	while (started < n &&
	       pthread_create(&workers[started].thread, NULL, run_jobs, &workers[started]) == 0)
		started++;
	run_jobs(&workers[0]);
	for (size_t i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
}

static int run(size_t n, unsigned n_threads, bool both_ends, pool_job job, void *ctx,
               struct err *err)
{
	struct pool pool = {.end = n, .job = job, .ctx = ctx};
	size_t most = n_threads < n ? n_threads : n, n_workers = most > 0 ? most : 1;
	AUTO_FREE struct worker *workers = mem_calloc(n_workers, sizeof(*workers));

	for (size_t i = 0; i < n_workers; i++)
		workers[i] = (struct worker){.pool = &pool, .backwards = both_ends && i % 2 == 1};
	pthread_mutex_init(&pool.lock, NULL);
	run_workers(workers, n_workers);
	pthread_mutex_destroy(&pool.lock);
	if (pool.failed) {
		*err = pool.err;
		return -1;
	}
	return 0;
}

int pool_run(size_t n, unsigned n_threads, pool_job job, void *ctx, struct err *err)
{
	return run(n, n_threads, false, job, ctx, err);
}

int pool_run_from_both_ends(size_t n, unsigned n_threads, pool_job job, void *ctx, struct err *err)
{
	return run(n, n_threads, true, job, ctx, err);
}

#include "base/pool.h"

#include <pthread.h>

#include "base/interrupt.h"
#include "base/mem.h"

struct pool {
	size_t n, next;
	bool failed;
	pool_job job;
	void *ctx;
	struct err err; /* of the first failure */
	pthread_mutex_t lock;
};

/* The next job's number; false when there is none or somebody failed. */
static bool next_job(struct pool *p, size_t *ret_i)
{
	pthread_mutex_lock(&p->lock);
	bool some = !p->failed && p->next < p->n;

	if (some)
		*ret_i = p->next++;
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
	struct pool *p = arg;
	size_t i;

	while (next_job(p, &i)) {
		struct err err = {0};

		if (interrupt_check(&err) != 0 || p->job(p->ctx, i, &err) != 0)
			note_failure(p, &err);
	}
	return NULL;
}

int pool_run(size_t n, unsigned n_threads, pool_job job, void *ctx, struct err *err)
{
	struct pool pool = {.n = n, .job = job, .ctx = ctx};
	size_t n_workers = n_threads < n ? n_threads : n;
	size_t started = 0;
	AUTO_FREE pthread_t *workers = mem_calloc(n_workers, sizeof(*workers));

	pthread_mutex_init(&pool.lock, NULL);
	/* The caller works too, so one thread fewer is needed and none is no failure. */
	while (started + 1 < n_workers &&
	       pthread_create(&workers[started], NULL, run_jobs, &pool) == 0)
		started++;
	run_jobs(&pool);
	for (size_t i = 0; i < started; i++)
		pthread_join(workers[i], NULL);
	pthread_mutex_destroy(&pool.lock);
	if (pool.failed) {
		*err = pool.err;
		return -1;
	}
	return 0;
}

/* The thread pool. */
#include "tests/harness.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/pool.h"

struct work {
	atomic_int runs[300], total, running, most;
	int fail_at; /* -1 = never */
};

static int job(void *ctx, size_t i, struct err *err)
{
	struct work *w = ctx;
	int now = atomic_fetch_add(&w->running, 1) + 1, most = atomic_load(&w->most);

	while (now > most && !atomic_compare_exchange_weak(&w->most, &most, now))
		;
	atomic_fetch_add(&w->runs[i], 1);
	atomic_fetch_add(&w->total, 1);
	usleep(200);
	atomic_fetch_sub(&w->running, 1);
	return (int)i == w->fail_at ? err_set(err, ERR_LIMIT, "job %zu", i) : 0;
}

static void every_job_runs_once(void)
{
	static const unsigned threads[] = {0, 1, 4, 1000};

	for (size_t t = 0; t < ARRAY_LEN(threads); t++) {
		struct work w = {.fail_at = -1};
		struct err err = {0};

		CHECK_OK(pool_run(300, threads[t], job, &w, &err), &err);
		for (size_t i = 0; i < 300; i++)
			CHECK_INT(w.runs[i], 1);
		CHECK(w.most <= (int)(threads[t] > 0 ? threads[t] : 1));
	}
}

static void no_jobs_are_no_failure(void)
{
	struct work w = {.fail_at = -1};
	struct err err = {0};

	CHECK_OK(pool_run(0, 4, job, &w, &err), &err);
	CHECK_INT(w.total, 0);
}

static void a_failure_stops_new_jobs(void)
{
	struct work w = {.fail_at = 5};
	struct err err = {0};

	CHECK_INT(pool_run(300, 1, job, &w, &err), -1);
	CHECK_INT(w.total, 6);
	CHECK_STR(err.msg, "job 5");
	w = (struct work){.fail_at = 5};
	CHECK_INT(pool_run(300, 4, job, &w, &err), -1);
	CHECK(w.total < 300);
	CHECK_INT(w.running, 0); /* the running ones finished */
	CHECK_INT(err.code, ERR_LIMIT);
}

struct order {
	pthread_barrier_t both;
	atomic_int first[2], begun;
	int runs[8];
};

/* The first two jobs wait for each other, so that each is another thread's. */
static int noted(void *ctx, size_t i, struct err *err)
{
	struct order *o = ctx;
	int n = atomic_fetch_add(&o->begun, 1);

	(void)err;
	o->runs[i]++;
	if (n < 2) {
		atomic_store(&o->first[n], (int)i);
		pthread_barrier_wait(&o->both);
	}
	return 0;
}

static void both_ends_are_begun_at_once(void)
{
	struct order o = {.begun = 0};
	struct err err = {0};

	pthread_barrier_init(&o.both, NULL, 2);
	CHECK_OK(pool_run_from_both_ends(8, 2, noted, &o, &err), &err);
	CHECK_INT(o.first[0] + o.first[1], 7);
	CHECK(o.first[0] == 0 || o.first[1] == 0);
	for (size_t i = 0; i < 8; i++)
		CHECK_INT(o.runs[i], 1);
	pthread_barrier_destroy(&o.both);
}

int main(void)
{
	TEST("pool: every job runs once", every_job_runs_once);
	TEST("pool: no jobs are no failure", no_jobs_are_no_failure);
	TEST("pool: a failure stops new jobs", a_failure_stops_new_jobs);
	TEST("pool: the longest and the shortest job are begun at once",
	     both_ends_are_begun_at_once);
	return test_done();
}

/* The thread pool. */
#include "tests/harness.h"

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

int main(void)
{
	TEST("pool: every job runs once", every_job_runs_once);
	TEST("pool: no jobs are no failure", no_jobs_are_no_failure);
	TEST("pool: a failure stops new jobs", a_failure_stops_new_jobs);
	return test_done();
}

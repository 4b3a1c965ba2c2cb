/* Reading ahead, from a source of samples that the test holds up. Nothing here depends on speed:
 * the test waits for what it is about to check. */
#include <pthread.h>
#include <time.h>

#include "tests/harness.h"
#include "trainer/data/loader.h"

static const struct clip_shape shape = {1, 1, 1, 1};

enum { BATCH = 2, AHEAD = 2, RING = (AHEAD + 1) * BATCH, NO_SAMPLE = 1000000 };

struct slow_source {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned inside;  /* readers at this moment */
	unsigned at_once; /* readers that a read waits for: they must be there at the same time */
	bool too_long;
	uint64_t bad; /* the sample that cannot be read */
};

static struct slow_source source_make(void)
{
	return (struct slow_source){.lock = PTHREAD_MUTEX_INITIALIZER,
	                            .changed = PTHREAD_COND_INITIALIZER,
	                            .bad = NO_SAMPLE};
}

/* Waits a minute at most, so that a failure is not a test that hangs. */
static void await_change(struct slow_source *s)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 60;
	if (pthread_cond_timedwait(&s->changed, &s->lock, &end) != 0)
		s->too_long = true;
}

static int slow_read(void *ctx, uint64_t sample, const struct clip_room *room, struct err *err)
{
	struct slow_source *s = ctx;
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	s->inside++;
	pthread_cond_broadcast(&s->changed);
	while (s->inside < s->at_once && !s->too_long)
		await_change(s);
	/* Those who have met go on, one after the other. */
	s->at_once = 0;
	s->inside--;
	if (sample == s->bad)
		rc = err_set(err, ERR_FORMAT, "sample %llu is bad", (unsigned long long)sample);
	*room->label = (int32_t)sample;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static void slow_name(void *ctx, uint64_t sample, struct strbuf *sb)
{
	(void)ctx;
	strbuf_addf(sb, "sample %llu", (unsigned long long)sample);
}

static struct clip_loader *begin(struct slow_source *s, unsigned threads)
{
	struct sample_reader r = {slow_read, slow_name, s};
	struct loader_options o = {.samples = {.shape = shape},
	                           .batch = BATCH,
	                           .stride = BATCH,
	                           .threads = threads,
	                           .ahead = AHEAD};

	return loader_over(&r, &o);
}

static void await_reads(struct clip_loader *l, uint64_t n)
{
	const struct timespec moment = {0, 1000000};

	for (int i = 0; i < 60000 && loader_counts(l).clips < n; i++)
		nanosleep(&moment, NULL);
	CHECK_INT(loader_counts(l).clips, n);
}

static int request(struct clip_loader *l, uint64_t k, struct err *err)
{
	struct clips clips;
	uint64_t wait = 0;

	if (loader_next(l, k * BATCH, BATCH, &clips, &wait, err) != 0)
		return -1;
	for (uint64_t i = 0; i < BATCH; i++)
		CHECK_INT(clips.label[i], k * BATCH + i);
	return 0;
}

static void never_waits(void)
{
	struct slow_source s = source_make();
	struct clip_loader *l = begin(&s, 0);
	struct err err = {0};

	for (uint64_t k = 0; k < 50; k++) {
		CHECK_OK(request(l, k, &err), &err);
		await_reads(l, RING + k * BATCH);
	}
	CHECK_INT(loader_counts(l).requests, 50);
	CHECK_INT(loader_counts(l).waits, 0);
	CHECK_INT(loader_counts(l).threads, 1);
	loader_free(l);
}

/* The clips of request 3 are read by two threads at once or not at all, and there is but one. */
static void more_threads(void)
{
	struct slow_source s = source_make();
	struct clip_loader *l = begin(&s, 0);
	struct err err = {0};

	CHECK_OK(request(l, 0, &err), &err);
	await_reads(l, RING);
	pthread_mutex_lock(&s.lock);
	s.at_once = 2;
	pthread_mutex_unlock(&s.lock);
	CHECK_OK(request(l, 1, &err), &err);
	CHECK_OK(request(l, 2, &err), &err);
	CHECK_INT(loader_counts(l).waits, 0);
	CHECK_OK(request(l, 3, &err), &err);
	CHECK(!s.too_long);
	CHECK_INT(loader_counts(l).waits, 1);
	CHECK_INT(loader_counts(l).threads, 2);
	loader_free(l);
}

static void as_many_as_asked(void)
{
	struct slow_source s = source_make();
	struct clip_loader *l = begin(&s, 3);
	struct err err = {0};

	s.at_once = 3;
	CHECK_OK(request(l, 0, &err), &err);
	CHECK(!s.too_long);
	CHECK_INT(loader_counts(l).threads, 3);
	loader_free(l);
}

static void set_bad(struct slow_source *s, uint64_t sample)
{
	pthread_mutex_lock(&s->lock);
	s->bad = sample;
	pthread_mutex_unlock(&s->lock);
}

static void bad_clips(void)
{
	struct slow_source s = source_make();
	struct clip_loader *l = begin(&s, 2);
	struct err err = {0};

	set_bad(&s, 3);
	CHECK_OK(request(l, 0, &err), &err);
	CHECK(request(l, 1, &err) != 0);
	CHECK_STR(err.msg, "sample 3 is bad");
	CHECK_OK(request(l, 2, &err), &err);
	/* Again, after a jump back. */
	CHECK(request(l, 1, &err) != 0);
	set_bad(&s, NO_SAMPLE);
	CHECK_OK(request(l, 0, &err), &err);
	CHECK_OK(request(l, 1, &err), &err);
	loader_free(l);
}

static void thread_bounds(void)
{
	static const struct {
		size_t batch;
		unsigned ahead, cpus, most;
	} cases[] = {{1, 8, 1, 4},  {1, 8, 2, 4},   {1, 8, 8, 8},  {1, 2, 8, 3},
	             {1, 1, 64, 2}, {8, 2, 64, 16}, {8, 2, 12, 12}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct loader_options o = {.batch = cases[i].batch, .ahead = cases[i].ahead};

		CHECK_INT(loader_threads_max(&o, cases[i].cpus), cases[i].most);
	}
}

int main(void)
{
	TEST("loader: with clips read in time no request waits, on one thread", never_waits);
	TEST("loader: a request that waits starts one thread more", more_threads);
	TEST("loader: as many threads as asked for begin at once", as_many_as_asked);
	TEST("loader: a clip that cannot be read fails its request alone", bad_clips);
	TEST("loader: threads are bounded by CPUs and by clips", thread_bounds);
	return test_done();
}

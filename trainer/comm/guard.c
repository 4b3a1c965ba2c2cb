#include "trainer/comm/guard.h"

#include <pthread.h>
#include <signal.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/run_exit.h"
#include "base/strbuf.h"

/* How soon a request to stop is heard. EX_TEMPFAIL: nothing is lost, to be started again. */
enum { SLICE_MS = 100 };

struct guard {
	const struct comm_options *o;
	double end;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool over;
};

static void give_up(struct guard *g, const char *why, int status)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(ERR_MSG_MAX);

	strbuf_addf(&text, "MPI has not started: %s", why);
	comm_say(g->o, strbuf_str(&text));
	g->o->end(g->o->ctx, status);
}

static void *run(void *arg)
{
	struct guard *g = arg;

	pthread_mutex_lock(&g->lock);
	while (!g->over) {
		struct timespec until;

		if (interrupt_requested())
			give_up(g, "told to stop", RUN_EXIT_STOPPED);
		else if (clock_seconds() > g->end)
			give_up(g, "not all ranks have come to it in --join_timeout seconds",
			        RUN_EXIT_RANK_LOST);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += SLICE_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		pthread_cond_timedwait(&g->changed, &g->lock, &until);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

struct guard *guard_new(const struct comm_options *o)
{
	struct guard *g = mem_zalloc(sizeof(*g));
	sigset_t all, old;
	int rc;

	g->o = o;
	g->end = clock_seconds() + o->join_s;
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->changed, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&g->thread, NULL, run, g);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc == 0)
		return g;
	free(g);
	return NULL;
}

void guard_end(struct guard *g)
{
	if (g == NULL)
		return;
	pthread_mutex_lock(&g->lock);
	g->over = true;
	pthread_cond_signal(&g->changed);
	pthread_mutex_unlock(&g->lock);
	pthread_join(g->thread, NULL);
	pthread_mutex_destroy(&g->lock);
	pthread_cond_destroy(&g->changed);
	free(g);
}

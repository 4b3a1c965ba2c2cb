#include "trainer/comm/mover.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "base/mem.h"

/* Between two looks: short beside a bucket's way through a network, long beside what a look costs
 * the core that computes. */
enum { NAP_NS = 200000 };

struct mover {
	struct comm_engine inner;
	pthread_t thread;
	pthread_mutex_t lock; /* for all below, and around every call of inner */
	pthread_cond_t changed;
	VEC(struct comm_request *) moving; /* the caller's */
	int rc;                            /* of a look that failed */
	bool forgotten, over;
};

static void drop(struct mover *m, size_t i)
{
	m->moving.at[i] = m->moving.at[--m->moving.n];
}

static void look(struct mover *m)
{
	for (size_t i = 0; i < m->moving.n && m->rc == 0;) {
		bool done = false;

		m->rc = m->inner.test(m->inner.state, m->moving.at[i], &done);
		if (done)
			drop(m, i);
		else
			i++;
	}
	if (m->rc != 0)
		m->moving.n = 0;
}

static void *run(void *arg)
{
	static const struct timespec nap = {.tv_sec = 0, .tv_nsec = NAP_NS};
	struct mover *m = arg;

	pthread_mutex_lock(&m->lock);
	while (!m->over) {
		if (m->moving.n == 0) {
			pthread_cond_wait(&m->changed, &m->lock);
			continue;
		}
		look(m);
		pthread_mutex_unlock(&m->lock);
		nanosleep(&nap, NULL);
		pthread_mutex_lock(&m->lock);
	}
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

static int mover_reduce(void *state, void *values, size_t n, enum comm_type type, enum comm_op op,
                        struct comm_request *ret)
{
	struct mover *m = state;
	int rc;

	pthread_mutex_lock(&m->lock);
	rc = m->inner.all_reduce(m->inner.state, values, n, type, op, ret);
	if (rc == 0 && n >= MOVED_VALUES && !m->forgotten) {
		vec_push(&m->moving, ret);
		pthread_cond_signal(&m->changed);
	}
	pthread_mutex_unlock(&m->lock);
	return rc;
}

static int mover_broadcast(void *state, void *bytes, size_t n, struct comm_request *ret)
{
	struct mover *m = state;
	int rc;

	pthread_mutex_lock(&m->lock);
	rc = m->inner.broadcast(m->inner.state, bytes, n, ret);
	pthread_mutex_unlock(&m->lock);
	return rc;
}

static int mover_barrier(void *state, struct comm_request *ret)
{
	struct mover *m = state;
	int rc;

	pthread_mutex_lock(&m->lock);
	rc = m->inner.barrier(m->inner.state, ret);
	pthread_mutex_unlock(&m->lock);
	return rc;
}

static int mover_test(void *state, struct comm_request *r, bool *ret_done)
{
	struct mover *m = state;
	int rc;

	pthread_mutex_lock(&m->lock);
	rc = m->rc != 0 ? m->rc : m->inner.test(m->inner.state, r, ret_done);
	for (size_t i = 0; i < m->moving.n && (rc != 0 || *ret_done); i++)
		if (m->moving.at[i] == r) {
			drop(m, i);
			break;
		}
	pthread_mutex_unlock(&m->lock);
	return rc;
}

static void mover_forget(void *state)
{
	struct mover *m = state;

	pthread_mutex_lock(&m->lock);
	m->forgotten = true;
	m->moving.n = 0;
	if (m->inner.forget != NULL)
		m->inner.forget(m->inner.state);
	pthread_mutex_unlock(&m->lock);
}

static void mover_host(void *state, unsigned rank, char *out, size_t size)
{
	struct mover *m = state;

	m->inner.host(m->inner.state, rank, out, size);
}

static void end_thread(struct mover *m)
{
	pthread_mutex_lock(&m->lock);
	m->over = true;
	pthread_cond_signal(&m->changed);
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
}

static void mover_close(void *state)
{
	struct mover *m = state;

	end_thread(m);
	m->inner.close(m->inner.state);
	pthread_mutex_destroy(&m->lock);
	pthread_cond_destroy(&m->changed);
	vec_done(&m->moving);
	free(m);
}

/* The process ends: nothing is freed, and the thread not waited for, which may be what hangs. */
static void mover_abort(void *state, int status)
{
	struct mover *m = state;

	mover_forget(m);
	pthread_mutex_lock(&m->lock);
	m->inner.abort(m->inner.state, status);
	pthread_mutex_unlock(&m->lock);
}

static bool start(struct mover *m)
{
	sigset_t all, old;
	int rc;

	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->changed, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&m->thread, NULL, run, m);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc == 0;
}

struct comm_engine mover_wrap(const struct comm_engine *e)
{
	struct comm_engine outer = *e;
	struct mover *m;

	if (!e->any_thread)
		return outer;
	m = mem_zalloc(sizeof(*m));
	m->inner = *e;
	if (!start(m)) {
		free(m);
		return outer;
	}
	outer.state = m;
	outer.all_reduce = mover_reduce;
	outer.broadcast = mover_broadcast;
	outer.barrier = mover_barrier;
	outer.test = mover_test;
	outer.forget = mover_forget;
	outer.host = mover_host;
	outer.close = mover_close;
	outer.abort = mover_abort;
	return outer;
}

#include "trainer/ops/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

/* How often to look for new work before going to sleep: about 20 microseconds. */
enum { SPINS = 2000 };

struct helper {
	struct threads *team;
	pthread_t thread;
	unsigned number;
};

struct threads {
	unsigned n;
	struct helper *members; /* n - 1 helpers */
	pthread_mutex_t lock;
	pthread_cond_t wake, done;
	/* the current loop; written before `round` is raised */
	void (*task)(void *ctx, size_t i, unsigned worker);
	void *ctx;
	size_t n_tasks;
	atomic_size_t next;
	atomic_uint round, busy;
	bool stop;
};

static void pause_cpu(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static void work(struct threads *t, unsigned worker)
{
	size_t i;

	while ((i = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed)) < t->n_tasks)
		t->task(t->ctx, i, worker);
}

/* Waits for a round other than `seen`, first awake, then asleep. */
static unsigned await_round(struct threads *t, unsigned seen)
{
	for (unsigned i = 0; i < SPINS; i++) {
		unsigned round = atomic_load_explicit(&t->round, memory_order_acquire);

		if (round != seen)
			return round;
		pause_cpu();
	}
	pthread_mutex_lock(&t->lock);
	while (atomic_load(&t->round) == seen)
		pthread_cond_wait(&t->wake, &t->lock);
	pthread_mutex_unlock(&t->lock);
	return atomic_load(&t->round);
}

static void *help(void *arg)
{
	struct helper *self = arg;
	struct threads *t = self->team;
	unsigned seen = 0;

	for (;;) {
		seen = await_round(t, seen);
		if (t->stop)
			return NULL;
		work(t, self->number);
		if (atomic_fetch_sub(&t->busy, 1) == 1) {
			pthread_mutex_lock(&t->lock);
			pthread_cond_signal(&t->done);
			pthread_mutex_unlock(&t->lock);
		}
	}
}

static void start_round(struct threads *t)
{
	pthread_mutex_lock(&t->lock);
	atomic_store(&t->busy, t->n - 1);
	atomic_fetch_add_explicit(&t->round, 1, memory_order_release);
	pthread_cond_broadcast(&t->wake);
	pthread_mutex_unlock(&t->lock);
}

static void await_helpers(struct threads *t)
{
	for (unsigned i = 0; i < SPINS; i++) {
		if (atomic_load_explicit(&t->busy, memory_order_acquire) == 0)
			return;
		pause_cpu();
	}
	pthread_mutex_lock(&t->lock);
	while (atomic_load(&t->busy) != 0)
		pthread_cond_wait(&t->done, &t->lock);
	pthread_mutex_unlock(&t->lock);
}

void threads_run(struct threads *t, size_t n, void (*task)(void *ctx, size_t i, unsigned worker),
                 void *ctx)
{
	if (t == NULL || t->n == 1 || n <= 1) {
		for (size_t i = 0; i < n; i++)
			task(ctx, i, 0);
		return;
	}
	t->task = task;
	t->ctx = ctx;
	t->n_tasks = n;
	atomic_store_explicit(&t->next, 0, memory_order_relaxed);
	start_round(t);
	work(t, 0);
	await_helpers(t);
}

void threads_done(atomic_size_t *done)
{
	atomic_fetch_add_explicit(done, 1, memory_order_release);
}

void threads_await(const atomic_size_t *done, size_t n)
{
	for (unsigned i = 0; atomic_load_explicit(done, memory_order_acquire) < n; i++) {
		if (i < SPINS)
			pause_cpu();
		else
			sched_yield(); /* more threads than processors */
	}
}

struct threads *threads_new(unsigned n)
{
	struct threads *t = mem_zalloc(sizeof(*t));

	t->n = n > 0 ? n : 1;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->wake, NULL);
	pthread_cond_init(&t->done, NULL);
	t->members = mem_calloc(t->n, sizeof(t->members[0]));
	for (unsigned i = 0; i + 1 < t->n; i++) {
		t->members[i] = (struct helper){.team = t, .number = i + 1};
		if (pthread_create(&t->members[i].thread, NULL, help, &t->members[i]) != 0) {
			t->n = i + 1; /* fewer than asked for will do the same work */
			break;
		}
	}
	return t;
}

void threads_free(struct threads *t)
{
	if (t == NULL)
		return;
	t->stop = true;
	start_round(t);
	for (unsigned i = 0; i + 1 < t->n; i++)
		pthread_join(t->members[i].thread, NULL);
	pthread_cond_destroy(&t->wake);
	pthread_cond_destroy(&t->done);
	pthread_mutex_destroy(&t->lock);
	free(t->members);
	free(t);
}

unsigned threads_count(const struct threads *t)
{
	return t != NULL ? t->n : 1;
}

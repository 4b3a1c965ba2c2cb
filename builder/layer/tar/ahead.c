/* See ahead.h. */
#include "builder/layer/tar/ahead.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/mem.h"

enum { AHEAD_CHUNK = 256 << 10, AHEAD_CHUNKS = 4 };

struct ahead {
	struct source *in;
	unsigned char *buf[AHEAD_CHUNKS];
	size_t len[AHEAD_CHUNKS];
	bool threaded;
	pthread_t thread;
	pthread_mutex_t lock; /* guards everything below, and who owns which chunk */
	pthread_cond_t filled, freed;
	uint64_t n_filled, n_taken; /* chunk number i is in buf[i % AHEAD_CHUNKS] */
	bool lent;                  /* chunk n_taken is the caller's */
	bool end, stop;
	struct err err;
};

/* Fills a chunk as far as the source goes; fewer bytes mean its end. */
static int fill_chunk(struct ahead *a, size_t slot, struct err *err)
{
	size_t n = 1;

	a->len[slot] = 0;
	while (n > 0 && a->len[slot] < AHEAD_CHUNK) {
		if (source_read(a->in, a->buf[slot] + a->len[slot], AHEAD_CHUNK - a->len[slot], &n,
		                err) != 0)
			return -1;
		a->len[slot] += n;
	}
	return 0;
}

static void *read_ahead(void *ctx)
{
	struct ahead *a = ctx;

	pthread_mutex_lock(&a->lock);
	while (!a->end && !a->stop) {
		if (a->n_filled - a->n_taken == AHEAD_CHUNKS) {
			pthread_cond_wait(&a->freed, &a->lock);
			continue;
		}
		size_t slot = (size_t)(a->n_filled % AHEAD_CHUNKS);
		struct err err = {0};

		pthread_mutex_unlock(&a->lock);
		int rc = fill_chunk(a, slot, &err);

		pthread_mutex_lock(&a->lock);
		if (rc != 0)
			a->err = err;
		/* What was read before a failure is still handed out. */
		a->end = rc != 0 || a->len[slot] < AHEAD_CHUNK;
		a->n_filled += a->len[slot] > 0;
		pthread_cond_signal(&a->filled);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

struct ahead *ahead_new(struct source *in)
{
	struct ahead *a = mem_zalloc(sizeof(*a));

	a->in = in;
	for (size_t i = 0; i < AHEAD_CHUNKS; i++)
		a->buf[i] = mem_realloc(NULL, AHEAD_CHUNK, 1);
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->filled, NULL);
	pthread_cond_init(&a->freed, NULL);
	a->threaded = pthread_create(&a->thread, NULL, read_ahead, a) == 0;
	return a;
}

static int next_direct(struct ahead *a, const unsigned char **ret_bytes, size_t *ret_n,
                       struct err *err)
{
	if (fill_chunk(a, 0, err) != 0)
		return -1;
	*ret_bytes = a->buf[0];
	*ret_n = a->len[0];
	return 0;
}

int ahead_next(struct ahead *a, const unsigned char **ret_bytes, size_t *ret_n, struct err *err)
{
	int rc = 0;

	if (!a->threaded)
		return next_direct(a, ret_bytes, ret_n, err);
	pthread_mutex_lock(&a->lock);
	if (a->lent) {
		a->lent = false;
		a->n_taken++;
		pthread_cond_signal(&a->freed);
	}
	while (a->n_filled == a->n_taken && !a->end)
		pthread_cond_wait(&a->filled, &a->lock);
	if (a->n_filled > a->n_taken) {
		size_t slot = (size_t)(a->n_taken % AHEAD_CHUNKS);

		a->lent = true;
		*ret_bytes = a->buf[slot];
		*ret_n = a->len[slot];
	} else if (a->err.code != ERR_NONE) {
		*err = a->err;
		rc = -1;
	} else {
		*ret_n = 0;
	}
	pthread_mutex_unlock(&a->lock);
	return rc;
}

void ahead_close(struct ahead *a)
{
	if (a == NULL)
		return;
	if (a->threaded) {
		pthread_mutex_lock(&a->lock);
		a->stop = true;
		pthread_cond_signal(&a->freed);
		pthread_mutex_unlock(&a->lock);
		pthread_join(a->thread, NULL);
	}
	pthread_cond_destroy(&a->filled);
	pthread_cond_destroy(&a->freed);
	pthread_mutex_destroy(&a->lock);
	for (size_t i = 0; i < AHEAD_CHUNKS; i++)
		free(a->buf[i]);
	source_close(a->in);
	free(a);
}

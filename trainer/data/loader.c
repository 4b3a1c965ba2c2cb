#include "trainer/data/loader.h"

#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "trainer/data/order.h"

enum slot_state { SLOT_EMPTY, SLOT_WAITING, SLOT_FILLING, SLOT_READY };

struct slot {
	enum slot_state state;
	uint64_t first; /* its first sample */
	int rc;
	struct err err;
	float *image, *audio;
	int32_t *label;
};

struct clip_loader {
	struct dataset *data;
	struct loader_options o;
	size_t image_values; /* of a clip */
	struct slot *slots;  /* a ring: request k of a run of requests is in slot k % n_slots */
	size_t n_slots;
	uint64_t next_first; /* sample of the request after the newest one in the ring */
	size_t head;         /* slot of the next expected request */
	bool running, quit;
	pthread_mutex_t lock;
	pthread_cond_t work, ready;
	pthread_t *threads;
	unsigned n_threads;
};

static int fill(const struct clip_loader *l, struct slot *s, struct err *err)
{
	uint64_t n_clips = dataset_n_clips(l->data);

	for (size_t i = 0; i < l->o.batch; i++) {
		struct clip_room room = {s->image + i * l->image_values,
		                         s->audio + i * l->o.shape.samples, s->label + i};
		uint64_t clip = order_clip(l->o.seed, n_clips, s->first + i, l->o.shuffle);

		if (dataset_clip(l->data, clip, &room, err) != 0)
			return -1;
	}
	return 0;
}

/* The waiting slot that is needed first, NULL when there is none. */
static struct slot *pick(struct clip_loader *l)
{
	for (size_t i = 0; i < l->n_slots; i++) {
		struct slot *s = &l->slots[(l->head + i) % l->n_slots];

		if (s->state == SLOT_WAITING)
			return s;
	}
	return NULL;
}

static void *reader(void *arg)
{
	struct clip_loader *l = arg;

	pthread_mutex_lock(&l->lock);
	while (!l->quit) {
		struct slot *s = pick(l);

		if (s == NULL) {
			pthread_cond_wait(&l->work, &l->lock);
			continue;
		}
		s->state = SLOT_FILLING;
		pthread_mutex_unlock(&l->lock);
		s->rc = fill(l, s, &s->err);
		pthread_mutex_lock(&l->lock);
		s->state = SLOT_READY;
		pthread_cond_broadcast(&l->ready);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

struct clip_loader *loader_new(struct dataset *d, const struct loader_options *o)
{
	struct clip_loader *l = mem_zalloc(sizeof(*l));

	l->data = d;
	l->o = *o;
	l->image_values = clip_video_bytes(&o->shape);
	/* One slot is in the caller's hands, the others are read ahead. */
	l->n_slots = (size_t)o->ahead + 1;
	l->slots = mem_calloc(l->n_slots, sizeof(*l->slots));
	for (size_t i = 0; i < l->n_slots; i++) {
		l->slots[i].image = mem_calloc(o->batch * l->image_values, sizeof(float));
		l->slots[i].audio = mem_calloc(o->batch * o->shape.samples, sizeof(float));
		l->slots[i].label = mem_calloc(o->batch, sizeof(int32_t));
	}
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->work, NULL);
	pthread_cond_init(&l->ready, NULL);
	l->threads = mem_calloc(o->threads, sizeof(*l->threads));
	for (unsigned i = 0; i < o->threads; i++) {
		if (pthread_create(&l->threads[i], NULL, reader, l) != 0)
			break;
		l->n_threads++;
	}
	return l;
}

void loader_free(struct clip_loader *l)
{
	if (l == NULL)
		return;
	pthread_mutex_lock(&l->lock);
	l->quit = true;
	pthread_cond_broadcast(&l->work);
	pthread_mutex_unlock(&l->lock);
	for (unsigned i = 0; i < l->n_threads; i++)
		pthread_join(l->threads[i], NULL);
	for (size_t i = 0; i < l->n_slots; i++) {
		free(l->slots[i].image);
		free(l->slots[i].audio);
		free(l->slots[i].label);
	}
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->work);
	pthread_cond_destroy(&l->ready);
	free(l->slots);
	free(l->threads);
	free(l);
}

static void ask(struct clip_loader *l, struct slot *s)
{
	s->first = l->next_first;
	l->next_first += l->o.stride;
	s->rc = 0;
	s->state = SLOT_WAITING;
}

/* Empties the ring and begins it anew at sample `first`. Called with the lock held. */
static void restart(struct clip_loader *l, uint64_t first)
{
	for (size_t i = 0; i < l->n_slots; i++) {
		while (l->slots[i].state == SLOT_FILLING)
			pthread_cond_wait(&l->ready, &l->lock);
		l->slots[i].state = SLOT_EMPTY;
	}
	l->next_first = first;
	l->head = 0;
	for (size_t i = 0; i < l->n_slots; i++)
		ask(l, &l->slots[i]);
	l->running = true;
}

/* Without a thread of its own (none could be started) the loader reads when asked. */
static void read_here(struct clip_loader *l, struct slot *s)
{
	if (l->n_threads > 0 || s->state != SLOT_WAITING)
		return;
	s->rc = fill(l, s, &s->err);
	s->state = SLOT_READY;
}

int loader_next(void *loader, uint64_t first, size_t n, struct clips *ret, uint64_t *wait_ns,
                struct err *err)
{
	struct clip_loader *l = loader;
	int64_t since;
	struct slot *s;
	int rc;

	if (n != l->o.batch)
		BUG("asked for %zu clips, made for %zu", n, l->o.batch);
	since = clock_monotonic_ns();
	pthread_mutex_lock(&l->lock);
	if (l->running) {
		/* The slot lent last is free now. */
		ask(l, &l->slots[l->head]);
		l->head = (l->head + 1) % l->n_slots;
	}
	if (!l->running || l->slots[l->head].first != first)
		restart(l, first);
	pthread_cond_broadcast(&l->work);
	s = &l->slots[l->head];
	read_here(l, s);
	while (s->state != SLOT_READY)
		pthread_cond_wait(&l->ready, &l->lock);
	pthread_mutex_unlock(&l->lock);
	*wait_ns += (uint64_t)(clock_monotonic_ns() - since);
	rc = s->rc;
	if (rc != 0)
		*err = s->err;
	else
		*ret = (struct clips){s->image, s->audio, s->label};
	return rc;
}

void loader_name(void *loader, uint64_t sample, struct strbuf *sb)
{
	const struct clip_loader *l = loader;

	dataset_clip_name(
		l->data, order_clip(l->o.seed, dataset_n_clips(l->data), sample, l->o.shuffle), sb);
}

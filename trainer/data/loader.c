#include "trainer/data/loader.h"

#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/mem.h"

enum { FEW_THREADS = 4, MANY_THREADS = 16 };

/* A batch: `taken` of its clips are in the hands of readers, who are done with `done` of those. */
struct slot {
	uint64_t first; /* its first sample */
	size_t taken, done;
	size_t failed; /* the first clip that could not be read; batch: none */
	struct err err;
	float *image, *audio;
	uint8_t *video; /* or these, in their place */
	int16_t *sound;
	int32_t *label;
};

struct clip_loader {
	struct sample_reader reader;
	struct samples *samples; /* owned; NULL: another source */
	struct loader_options o;
	size_t image_values; /* of a clip */
	struct slot *slots;  /* a ring: request k of a run of requests is in slot k % n_slots */
	size_t n_slots;
	uint64_t next_first; /* sample of the request after the newest one in the ring */
	size_t head;         /* slot of the next expected request */
	bool running, quit;
	struct loader_counts counts;
	pthread_mutex_t lock;
	pthread_cond_t work, ready;
	pthread_t *threads;
	unsigned n_threads, max_threads;
};

/* ---- the readers ---- */

static int read_clip(const struct clip_loader *l, const struct slot *s, size_t i, struct err *err)
{
	size_t image = i * l->image_values, audio = i * l->o.samples.shape.samples;
	struct clip_room room = {.label = s->label + i};

	if (l->o.bytes) {
		room.video = s->video + image;
		room.sound = s->sound + audio;
	} else {
		room.image = s->image + image;
		room.audio = s->audio + audio;
	}

	return l->reader.read(l->reader.ctx, s->first + i, &room, err);
}

/* The clip that is needed first, of those nobody has taken; NULL when there is none. */
static struct slot *pick(struct clip_loader *l, size_t *ret_clip)
{
	for (size_t i = 0; l->running && i < l->n_slots; i++) {
		struct slot *s = &l->slots[(l->head + i) % l->n_slots];

		if (s->taken < l->o.batch) {
			*ret_clip = s->taken++;
			return s;
		}
	}
	return NULL;
}

/* Reads one clip, if there is one to read. Called with the lock held, which it lets go meanwhile.
 */
static bool read_one(struct clip_loader *l)
{
	struct err err = {0};
	struct slot *s;
	size_t clip;
	int rc;

	s = pick(l, &clip);
	if (s == NULL)
		return false;
	pthread_mutex_unlock(&l->lock);
	rc = read_clip(l, s, clip, &err);
	pthread_mutex_lock(&l->lock);
	if (rc != 0 && clip < s->failed) {
		s->failed = clip;
		s->err = err;
	}
	s->done++;
	l->counts.clips++;
	pthread_cond_broadcast(&l->ready);
	return true;
}

static void *read_on(void *arg)
{
	struct clip_loader *l = arg;

	pthread_mutex_lock(&l->lock);
	while (!l->quit)
		if (!read_one(l))
			pthread_cond_wait(&l->work, &l->lock);
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

static void start_thread(struct clip_loader *l)
{
	if (l->n_threads < l->max_threads &&
	    pthread_create(&l->threads[l->n_threads], NULL, read_on, l) == 0)
		l->n_threads++;
}

/* ---- making one ---- */

unsigned loader_threads_max(const struct loader_options *o, unsigned cpus)
{
	size_t clips = o->batch * ((size_t)o->ahead + 1);
	unsigned most = cpus < FEW_THREADS ? FEW_THREADS : cpus;

	if (most > MANY_THREADS)
		most = MANY_THREADS;
	return clips < most ? (unsigned)clips : most;
}

static void make_slots(struct clip_loader *l)
{
	const struct loader_options *o = &l->o;

	/* One slot is in the caller's hands, the others are read ahead. */
	l->n_slots = (size_t)o->ahead + 1;
	l->slots = mem_calloc(l->n_slots, sizeof(*l->slots));
	for (size_t i = 0; i < l->n_slots; i++) {
		size_t image = o->batch * l->image_values;
		size_t audio = o->batch * o->samples.shape.samples;
		struct slot *s = &l->slots[i];

		if (o->bytes) {
			s->video = mem_calloc(image, sizeof(*s->video));
			s->sound = mem_calloc(audio, sizeof(*s->sound));
		} else {
			s->image = mem_calloc(image, sizeof(*s->image));
			s->audio = mem_calloc(audio, sizeof(*s->audio));
		}
		s->label = mem_calloc(o->batch, sizeof(int32_t));
	}
}

struct clip_loader *loader_over(const struct sample_reader *r, const struct loader_options *o)
{
	struct clip_loader *l = mem_zalloc(sizeof(*l));
	unsigned first = o->threads > 0 ? o->threads : 1;

	l->reader = *r;
	l->o = *o;
	l->image_values = clip_video_bytes(&o->samples.shape);
	make_slots(l);
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->work, NULL);
	pthread_cond_init(&l->ready, NULL);
	l->max_threads = o->threads > 0 ? o->threads : loader_threads_max(o, cpus_usable());
	l->threads = mem_calloc(l->max_threads, sizeof(*l->threads));
	for (unsigned i = 0; i < first; i++)
		start_thread(l);
	return l;
}

struct clip_loader *loader_new(struct dataset *d, const struct loader_options *o)
{
	struct samples *samples = samples_new(d, &o->samples);
	struct sample_reader r = {samples_read, samples_name, samples};
	struct clip_loader *l = loader_over(&r, o);

	l->samples = samples;
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
		free(l->slots[i].video);
		free(l->slots[i].sound);
		free(l->slots[i].label);
	}
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->work);
	pthread_cond_destroy(&l->ready);
	samples_free(l->samples);
	free(l->slots);
	free(l->threads);
	free(l);
}

/* ---- requests; the lock is held ---- */

static void ask(struct clip_loader *l, struct slot *s)
{
	s->first = l->next_first;
	l->next_first += l->o.stride;
	s->taken = s->done = 0;
	s->failed = l->o.batch;
}

/* Empties the ring and begins it anew at sample `first`. */
static void restart(struct clip_loader *l, uint64_t first)
{
	l->running = false;
	for (size_t i = 0; i < l->n_slots; i++)
		while (l->slots[i].done < l->slots[i].taken)
			pthread_cond_wait(&l->ready, &l->lock);
	l->next_first = first;
	l->head = 0;
	for (size_t i = 0; i < l->n_slots; i++)
		ask(l, &l->slots[i]);
	l->running = true;
}

/* Puts the request's slot at the head. */
static void turn_to(struct clip_loader *l, uint64_t first)
{
	bool expected;

	if (l->running) {
		/* The slot lent last is free now. */
		ask(l, &l->slots[l->head]);
		l->head = (l->head + 1) % l->n_slots;
	}
	expected = l->running && l->slots[l->head].first == first;
	if (!expected)
		restart(l, first);
	l->counts.requests++;
	if (!expected || l->slots[l->head].done == l->o.batch)
		return;
	l->counts.waits++;
	if (l->o.threads == 0)
		start_thread(l);
}

int loader_next(void *loader, uint64_t first, size_t n, struct clips *ret, uint64_t *wait_ns,
                struct err *err)
{
	struct clip_loader *l = loader;
	int64_t since;
	struct slot *s;

	if (n != l->o.batch)
		BUG("asked for %zu clips, made for %zu", n, l->o.batch);
	since = clock_monotonic_ns();
	pthread_mutex_lock(&l->lock);
	turn_to(l, first);
	pthread_cond_broadcast(&l->work);
	s = &l->slots[l->head];
	/* Without a thread of its own (none could be started) the loader reads when asked. */
	while (s->done < n)
		if (l->n_threads > 0 || !read_one(l))
			pthread_cond_wait(&l->ready, &l->lock);
	pthread_mutex_unlock(&l->lock);
	*wait_ns += (uint64_t)(clock_monotonic_ns() - since);
	if (s->failed < n) {
		*err = s->err;
		return -1;
	}
	*ret = (struct clips){.image = s->image,
	                      .audio = s->audio,
	                      .label = s->label,
	                      .video = s->video,
	                      .sound = s->sound};
	return 0;
}

void loader_name(void *loader, uint64_t sample, struct strbuf *sb)
{
	const struct clip_loader *l = loader;

	l->reader.name(l->reader.ctx, sample, sb);
}

struct loader_counts loader_counts(struct clip_loader *l)
{
	struct loader_counts c;

	pthread_mutex_lock(&l->lock);
	c = l->counts;
	c.threads = l->n_threads;
	pthread_mutex_unlock(&l->lock);
	return c;
}

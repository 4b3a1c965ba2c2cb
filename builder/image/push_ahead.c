/* See push_ahead.h. */
#include "builder/image/push_ahead.h"

#include <pthread.h>

#include "base/mem.h"

/* Uploads beside a build that wants the processors: few, and enough to fill a line. */
enum { SENDERS = 3 };

struct push_ahead {
	struct registry *registry;
	struct layout *layout;
	pthread_t senders[SENDERS];
	unsigned n_senders;
	pthread_mutex_t lock; /* guards everything below */
	pthread_cond_t more;
	VEC(struct descriptor) blobs;
	size_t n_taken;
	bool end, failed;
	struct push_result result;
};

/* The next blob to send; false when there is no more. */
static bool take(struct push_ahead *p, struct descriptor *ret_blob)
{
	bool some;

	pthread_mutex_lock(&p->lock);
	while (!p->end && !p->failed && p->n_taken == p->blobs.n)
		pthread_cond_wait(&p->more, &p->lock);
	some = !p->failed && p->n_taken < p->blobs.n;
	if (some)
		*ret_blob = p->blobs.at[p->n_taken++];
	pthread_mutex_unlock(&p->lock);
	return some;
}

static void give(struct push_ahead *p, const struct descriptor *blob, bool sent, bool uploaded)
{
	pthread_mutex_lock(&p->lock);
	p->failed |= !sent;
	if (sent && uploaded) {
		p->result.n_uploaded++;
		p->result.bytes_uploaded += blob->size;
	}
	pthread_mutex_unlock(&p->lock);
}

static int send_blob(const struct push_ahead *p, const struct descriptor *blob,
                     enum blob_outcome *ret_outcome, struct err *err)
{
	AUTO_CLOSE int fd = -1;

	if (layout_open_fd(p->layout, &blob->digest, &fd, err) != 0)
		return -1;
	return registry_put_blob(p->registry, blob, fd, NULL, ret_outcome, err);
}

/* After a failure nothing more is tried: the registry is away, or does not want us. */
static void *sender_main(void *arg)
{
	struct push_ahead *p = arg;
	struct descriptor blob;

	while (take(p, &blob)) {
		enum blob_outcome outcome = BLOB_EXISTED;
		struct err ignored = {0};
		bool sent = send_blob(p, &blob, &outcome, &ignored) == 0;

		give(p, &blob, sent, outcome == BLOB_UPLOADED);
	}
	return NULL;
}

static int open_target(struct push_ahead *p, const struct remote *remote,
                       const struct image_target *target, struct err *err)
{
	static const struct descriptor unknown;
	struct image_target untagged = *target;

	/* Which image the tags will name is not known yet: the push asks about them. */
	untagged.tags = (struct strlist){0};
	if (remote_registry(remote, &target->to, &p->registry, err) != 0)
		return -1;
	return image_push_preflight(remote, &untagged, &unknown, p->registry, err);
}

struct push_ahead *push_ahead_new(const struct remote *remote, struct layout *layout,
                                  const struct image_target *target)
{
	struct push_ahead *p = mem_zalloc(sizeof(*p));
	struct push_result none;
	struct err ignored = {0};

	p->layout = layout;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->more, NULL);
	if (open_target(p, remote, target, &ignored) == 0)
		while (p->n_senders < SENDERS &&
		       pthread_create(&p->senders[p->n_senders], NULL, sender_main, p) == 0)
			p->n_senders++;
	if (p->n_senders > 0)
		return p;
	push_ahead_end(p, true, &none);
	return NULL;
}

void push_ahead_add(struct push_ahead *p, const struct descriptor *blob)
{
	if (p == NULL)
		return;
	pthread_mutex_lock(&p->lock);
	vec_push(&p->blobs, *blob);
	pthread_cond_signal(&p->more);
	pthread_mutex_unlock(&p->lock);
}

void push_ahead_end(struct push_ahead *p, bool stop, struct push_result *result)
{
	if (p == NULL)
		return;
	pthread_mutex_lock(&p->lock);
	p->end = true;
	p->failed |= stop;
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
	while (p->n_senders > 0)
		pthread_join(p->senders[--p->n_senders], NULL);
	*result = p->result;
	registry_close(p->registry);
	pthread_cond_destroy(&p->more);
	pthread_mutex_destroy(&p->lock);
	vec_done(&p->blobs);
	free(p);
}

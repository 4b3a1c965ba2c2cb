#include "trainer/ops/feed.h"

#include "base/mem.h"
#include "trainer/ops/ops.h"

static unsigned lane_of(uint64_t block)
{
	return (unsigned)(block % FEED_LANES);
}

static void await(struct ops *ops, unsigned lane)
{
	struct err stays = {0};

	if (ops->has_failed)
		return;
	if (ops->device->sent != NULL)
		ops->device->sent(ops, lane);
	else
		(void)!ops_sync(ops, &stays); /* whoever waits next is told */
}

void *feed_room(struct ops *ops, struct ops_feed *f, size_t n)
{
	unsigned lane = lane_of(f->sent);

	if (feed_waiting(f) == FEED_LANES)
		BUG("a third block is sent before the first was taken");
	if (f->here[lane].at != NULL)
		await(ops, lane);
	f->here[lane].pinned = true;
	buffer_reserve(ops, &f->here[lane], n, "clips on their way");
	buffer_reserve(ops, &f->there[lane], n, "clips on their way");
	f->n[lane] = n;
	return f->there[lane].at != NULL ? f->here[lane].at : NULL;
}

void feed_send(struct ops *ops, struct ops_feed *f)
{
	unsigned lane = lane_of(f->sent++);
	void *to = f->there[lane].at, *from = f->here[lane].at;

	if (ops->has_failed)
		return;
	if (ops->device->send != NULL)
		ops->device->send(ops, lane, to, from, f->n[lane]);
	else
		ops_upload(ops, to, from, f->n[lane]);
}

unsigned feed_waiting(const struct ops_feed *f)
{
	return (unsigned)(f->sent - f->taken);
}

void feed_take(struct ops *ops, struct ops_feed *f, void *to, size_t from, size_t n)
{
	unsigned lane = lane_of(f->taken);
	const char *block = f->there[lane].at;

	if (feed_waiting(f) == 0)
		BUG("a block is taken that was not sent");
	if (ops->has_failed || n == 0)
		return;
	if (ops->device->take != NULL)
		ops->device->take(ops, lane, to, block + from, n);
	else
		ops_copy(ops, to, block + from, n);
}

void feed_taken(struct ops_feed *f)
{
	f->taken++;
}

void feed_done(struct ops *ops, struct ops_feed *f)
{
	for (unsigned lane = 0; lane < FEED_LANES; lane++) {
		if (f->here[lane].at != NULL)
			await(ops, lane);
		buffer_free(ops, &f->here[lane]);
		buffer_free(ops, &f->there[lane]);
	}
	*f = (struct ops_feed){0};
}

#include "trainer/ops/device.h"

#include <math.h>

#include "trainer/ops/ops.h"

static struct buffer allocate(struct ops *ops, struct buffer b, const char *what)
{
	if (b.bytes > 0 && !ops->has_failed)
		ops->device->allocate(ops, &b, what);
	if (b.at == NULL)
		b.bytes = 0;
	return b;
}

struct buffer buffer_new(struct ops *ops, size_t n, const char *what)
{
	return allocate(ops, (struct buffer){.bytes = n}, what);
}

struct buffer buffer_new_pinned(struct ops *ops, size_t n, const char *what)
{
	return allocate(ops, (struct buffer){.bytes = n, .pinned = true}, what);
}

/* What a device that has failed held is given back, too. */
void buffer_free(struct ops *ops, struct buffer *b)
{
	if (b->at != NULL)
		ops->device->release(ops, b);
	*b = (struct buffer){0};
}

static void reserve(struct ops *ops, struct buffer *b, size_t n, bool pinned, const char *what)
{
	if (n <= b->bytes)
		return;
	buffer_free(ops, b);
	*b = allocate(ops, (struct buffer){.bytes = n, .pinned = pinned}, what);
}

void buffer_reserve(struct ops *ops, struct buffer *b, size_t n, const char *what)
{
	reserve(ops, b, n, b->pinned, what);
}

void ops_zero(struct ops *ops, void *to, size_t n)
{
	if (n > 0 && !ops->has_failed)
		ops->device->zero(ops, to, n);
}

void ops_copy(struct ops *ops, void *to, const void *from, size_t n)
{
	if (n > 0 && !ops->has_failed)
		ops->device->copy(ops, to, from, n);
}

void ops_upload(struct ops *ops, void *to, const void *from, size_t n)
{
	if (n > 0 && !ops->has_failed)
		ops->device->upload(ops, to, from, n);
}

void ops_download(struct ops *ops, void *to, const void *from, size_t n)
{
	if (n > 0 && !ops->has_failed)
		ops->device->download(ops, to, from, n);
}

const void *ops_stage(struct ops *ops, struct buffer *room, const void *from, size_t n,
                      const char *what)
{
	if (from == NULL || ops->device->shared)
		return from;
	reserve(ops, room, n, false, what);
	ops_upload(ops, room->at, from, n);
	return room->at;
}

const void *ops_fetch(struct ops *ops, struct buffer *room, const void *from, size_t n,
                      const char *what)
{
	if (from == NULL || ops->device->shared)
		return from;
	reserve(ops, room, n, true, what);
	ops_download(ops, room->at, from, n);
	return room->at;
}

double *ops_figures(struct ops *ops)
{
	reserve(ops, &ops->figures, OPS_FIGURES * sizeof(double), false, "figures");
	return ops->figures.at != NULL ? ops->figures.at : ops->no_figures;
}

void ops_read_figures(struct ops *ops, double *ret, size_t n)
{
	struct err stays = {0};
	const double *seen =
		ops_fetch(ops, &ops->figures_seen, ops->figures.at, n * sizeof(*seen), "figures");
	bool failed = ops_sync(ops, &stays) != 0;

	for (size_t i = 0; i < n; i++)
		ret[i] = failed ? (double)NAN : seen[i];
}

void ops_fail(struct ops *ops, const struct err *err)
{
	if (ops->has_failed)
		return;
	ops->has_failed = true;
	ops->failure = *err;
}

bool ops_failed(const struct ops *ops)
{
	return ops->has_failed;
}

int ops_sync(struct ops *ops, struct err *err)
{
	if (!ops->has_failed)
		ops->device->sync(ops);
	if (!ops->has_failed)
		return 0;
	*err = ops->failure;
	return -1;
}

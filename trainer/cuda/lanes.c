/* What the host sends ahead: a stream of its own, ordered with the other one by events. */
#include "trainer/cuda/driver_internal.h"

static void open_lanes(struct cuda_device *d)
{
	struct cuda_lanes *l = &d->lanes;

	(void)DO(d, stream_new, (&l->stream, STREAM_NON_BLOCKING));
	for (unsigned i = 0; i < CUDA_LANES; i++)
		(void)(DO(d, event_new, (&l->sent[i], EVENT_DISABLE_TIMING)) &&
		       DO(d, event_new, (&l->taken[i], EVENT_DISABLE_TIMING)));
}

void cuda_lanes_close(struct cuda_device *d)
{
	struct cuda_lanes *l = &d->lanes;

	for (unsigned i = 0; i < CUDA_LANES; i++) {
		if (l->sent[i] != NULL)
			(void)d->library.call.event_free(l->sent[i]);
		if (l->taken[i] != NULL)
			(void)d->library.call.event_free(l->taken[i]);
	}
	if (l->stream != NULL)
		(void)d->library.call.stream_free(l->stream);
	*l = (struct cuda_lanes){0};
}

/* An event that was never recorded holds nobody up. */
void cuda_send(struct cuda_device *d, unsigned lane, void *to, const void *from, size_t n)
{
	struct cuda_lanes *l = &d->lanes;

	if (l->stream == NULL)
		open_lanes(d);
	(void)(DO(d, stream_wait, (l->stream, l->taken[lane], 0)) &&
	       DO(d, upload, (cuda_address(to), from, n, l->stream)) &&
	       DO(d, event_record, (l->sent[lane], l->stream)));
}

void cuda_sent(struct cuda_device *d, unsigned lane)
{
	if (d->lanes.stream != NULL)
		(void)DO(d, event_sync, (d->lanes.sent[lane]));
}

void cuda_take(struct cuda_device *d, unsigned lane, void *to, const void *from, size_t n)
{
	struct cuda_lanes *l = &d->lanes;

	(void)(DO(d, stream_wait, (d->stream, l->sent[lane], 0)) &&
	       DO(d, copy, (cuda_address(to), cuda_address(from), n, d->stream)) &&
	       DO(d, event_record, (l->taken[lane], d->stream)));
}

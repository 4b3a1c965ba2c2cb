#include "trainer/cuda/side.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trainer/cuda/driver_internal.h"

struct cuda_side {
	struct cuda_device *device;
	void *stream;
	void *asked, *given; /* events: in the device's stream, and at this one's end */
};

static int result_of(const struct cuda_device *d, bool fine, struct err *err)
{
	if (fine)
		return 0;
	*err = d->failure;
	return -1;
}

int cuda_side_new(struct cuda_device *d, struct cuda_side **ret, struct err *err)
{
	struct cuda_side *s = mem_zalloc(sizeof(*s));

	s->device = d;
	if (DO(d, stream_new, (&s->stream, STREAM_NON_BLOCKING)) &&
	    DO(d, event_new, (&s->asked, EVENT_DISABLE_TIMING)) &&
	    DO(d, event_new, (&s->given, EVENT_DISABLE_TIMING))) {
		*ret = s;
		return 0;
	}
	cuda_side_free(s);
	return result_of(d, false, err);
}

void cuda_side_free(struct cuda_side *s)
{
	if (s == NULL)
		return;
	if (s->given != NULL)
		(void)s->device->library.call.event_free(s->given);
	if (s->asked != NULL)
		(void)s->device->library.call.event_free(s->asked);
	if (s->stream != NULL)
		(void)s->device->library.call.stream_free(s->stream);
	free(s);
}

void *cuda_side_stream(struct cuda_side *s)
{
	return s->stream;
}

int cuda_side_follow(struct cuda_side *s, struct err *err)
{
	struct cuda_device *d = s->device;
	bool fine = DO(d, event_record, (s->asked, d->stream)) &&
	            DO(d, stream_wait, (s->stream, s->asked, 0));

	return result_of(d, fine, err);
}

int cuda_side_mark(struct cuda_side *s, struct err *err)
{
	struct cuda_device *d = s->device;

	return result_of(d, DO(d, event_record, (s->given, s->stream)), err);
}

int cuda_side_done(struct cuda_side *s, bool *ret, struct err *err)
{
	struct cuda_device *d = s->device;
	int result = d->failed ? 0 : d->library.call.event_query(s->given);

	*ret = result == 0 && !d->failed;
	if (result == RESULT_NOT_READY && !d->failed)
		return 0;
	return result_of(d, cuda_done(d, result, cuda_call_names.event_query), err);
}

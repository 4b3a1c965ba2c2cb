#include "trainer/ops/recording.h"

#include <stddef.h>

#include "trainer/ops/ops.h"

bool ops_record(struct ops *ops)
{
	return ops->device->record != NULL && !ops->has_failed && ops->device->record(ops);
}

void *ops_record_end(struct ops *ops)
{
	return ops->device->record_end(ops);
}

bool ops_replay(struct ops *ops, void *recording)
{
	return !ops->has_failed && ops->device->replay(ops, recording);
}

void ops_forget(struct ops *ops, void *recording)
{
	if (recording != NULL)
		ops->device->forget(ops, recording);
}

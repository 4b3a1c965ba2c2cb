/* What a result of the driver means to the user: its code, cause and next step. */
#ifndef SLIPWAY_TRAINER_CUDA_FAILURE_H
#define SLIPWAY_TRAINER_CUDA_FAILURE_H

#include "base/err.h"

/* call: the driver's function; name: what the driver calls the result. Returns -1. */
int cuda_failure(struct err *err, int result, const char *call, const char *name);

#endif

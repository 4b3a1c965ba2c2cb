/*
 * The driver's library, libcuda.so.1. It is the node's: loaded at run time from where the
 * environment's search finds it, never linked and never in the image.
 */
#ifndef SLIPWAY_TRAINER_CUDA_LIBRARY_H
#define SLIPWAY_TRAINER_CUDA_LIBRARY_H

#include "base/err.h"
#include "trainer/cuda/calls.h"

struct cuda_library {
	void *handle;
	struct cuda_calls call;
};

/*
 * path: NULL for libcuda.so.1. ERR_NOT_FOUND: there is none; ERR_UNSUPPORTED: it lacks a function.
 * It stays loaded until the process ends, since threads of the driver may run in it.
 */
int cuda_library_open(const char *path, struct cuda_library *ret, struct err *err) MUST_USE;

/* The name of a result, "CUDA_ERROR_OUT_OF_MEMORY". */
const char *cuda_result_name(const struct cuda_library *l, int result);

/*
 * *ret: how many GPUs this process may use; 0 where there is no driver, or one without GPUs. What a
 * driver answers that does not work is an error: its GPUs were meant to be used.
 */
int cuda_count(unsigned *ret, struct err *err) MUST_USE;

#endif

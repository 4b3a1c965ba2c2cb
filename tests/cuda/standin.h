/*
 * A stand-in for libcuda.so.1: one device whose memory the host cannot touch, whose kernels are the
 * trainer's, compiled for the host (tests/cuda/emulate.h). Work waits in the stream until somebody
 * waits for it, as on a device that is behind. Every address, size, handle and launch is checked;
 * what is wrong is a result of the API and a line in standin_state().problem.
 */
#ifndef SLIPWAY_TESTS_CUDA_STANDIN_H
#define SLIPWAY_TESTS_CUDA_STANDIN_H

#include <stddef.h>

struct standin_state {
	size_t calls;        /* of the API, cuGetErrorName aside */
	size_t held;         /* allocations, streams, modules and contexts not given back */
	const char *problem; /* the first misuse, or NULL */
};

/* Sets everything back. The call number `fail_at`, from 1, returns `result` and does nothing; 0:
 * none does. A GPU of compute capability major.minor with `memory` bytes. */
void standin_reset(size_t fail_at, int result, int major, int minor, size_t memory);
struct standin_state standin_state(void);

#endif

/*
 * A stand-in for libcuda.so.1: one device whose memory the host cannot touch, whose kernels are the
 * trainer's, compiled for the host (tests/cuda/emulate.h). Work waits in its stream until somebody
 * waits for it, as on a device that is behind, and what another stream was asked for waits on: where
 * an event is missing, one sees memory that the other has not written. Every address, size, handle
 * and launch is checked; what is wrong is a result of the API and a line in standin_state().problem.
 * As with a driver, memory that is not pinned is read when an upload is asked for, pinned memory
 * when it is made, and must not have been changed by then. A graph must hold no memory of the host,
 * and none that was given back.
 *
 * Programs set it up by variables: STANDIN_DEVICES (1), STANDIN_COMPUTE (86: 8.6),
 * STANDIN_MEMORY_MIB (512), STANDIN_FAIL_AT and STANDIN_RESULT as standin_reset's, where
 * STANDIN_FAIL_CALL has calls of that name counted alone; STANDIN_REPORT names a file that gets a
 * line when the process ends (STANDIN_USES: tests/cuda/uses.h): "calls N held N device N
 * replays N late N problem TEXT"; late: blocks of memory that were taken after the first update.
 */
#ifndef SLIPWAY_TESTS_CUDA_STANDIN_H
#define SLIPWAY_TESTS_CUDA_STANDIN_H

#include <stddef.h>

struct standin_state {
	size_t counted;             /* of the calls, those that were counted for fail_at */
	size_t calls;               /* of the API, cuGetErrorName aside */
	size_t held;                /* allocations, streams, modules and contexts not given back */
	const char *problem;        /* the first misuse, or NULL */
	size_t allocations;         /* ever, of the device's memory and of pinned memory */
	size_t recordings, replays; /* graphs made, and launched */
	size_t launches;            /* of kernels, those that recordings asked for aside */
	size_t most; /* bytes of the device that were held at once, each block rounded up to 512 */
};

/* Sets everything back. The call number `fail_at`, from 1, returns `result` and does nothing; 0:
 * none does; after an error that is fatal to a context, every call returns it. A GPU of compute capability major.minor with `memory` bytes. */
void standin_reset(size_t fail_at, int result, int major, int minor, size_t memory);
void standin_devices(unsigned n); /* 1 otherwise */
/* Until the next standin_reset, kernels' threads run in the orders of another seed. */
void standin_order(size_t seed);
/* Of calls, those of this name alone are counted for fail_at; until the next standin_reset. */
void standin_fail_call(const char *name);
struct standin_state standin_state(void);

#endif

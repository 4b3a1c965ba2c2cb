/*
 * The inside of struct cuda_device, shared by the files that ask a driver for something: driver.c
 * (opening, memory, launches), lanes.c (what the host sends ahead), graph.c (what is recorded). For
 * this folder only.
 */
#ifndef SLIPWAY_TRAINER_CUDA_DRIVER_INTERNAL_H
#define SLIPWAY_TRAINER_CUDA_DRIVER_INTERNAL_H

#include "trainer/cuda/driver.h"
#include "trainer/cuda/library.h"
#include "trainer/cuda/nvml.h"

enum { CUDA_LANES = 2 };

/* The stream of what the host sends ahead, and its order with the other one. */
struct cuda_lanes {
	void *stream;            /* NULL: nothing was sent yet */
	void *sent[CUDA_LANES];  /* events: the last block is there */
	void *taken[CUDA_LANES]; /* events: it was read */
};

struct cuda_device {
	struct cuda_queue queue; /* first: a queue is its device */
	struct cuda_library library;
	struct cuda_about about;
	void *context, *stream;
	int device;
	void *modules[MODULES], *functions[KERNELS];
	void *scratch;
	size_t scratch_n;
	struct cuda_lanes lanes;
	struct cuda_gemm *gemm;  /* who computes products; NULL: the kernels, always */
	struct nvml *nvml;       /* NULL: nobody tells how the device is */
	bool recording, spoiled; /* spoiled: what is recorded asked for what cannot be */
	uint64_t given_back;     /* blocks of memory: what was recorded before may hold one */
	bool failed;
	struct err failure;
};

#define CUDA_NAME_MEMBER(member, name, parameters) const char *member;
struct cuda_call_names {
	CUDA_CALLS(CUDA_NAME_MEMBER)
};
#undef CUDA_NAME_MEMBER
extern const struct cuda_call_names cuda_call_names;

/* Keeps the first failure; true when this call was fine and none was before. */
bool cuda_done(struct cuda_device *d, int result, const char *call);

/* The call, unless one failed before: DO(d, init, (0)). */
#define DO(d, member, arguments)                                                                   \
	(!(d)->failed && cuda_done(d, (d)->library.call.member arguments, cuda_call_names.member))

/* An address as the driver's functions take it. */
static inline uint64_t cuda_address(const void *at)
{
	return (uint64_t)(uintptr_t)at;
}

/* lanes.c */
void cuda_lanes_close(struct cuda_device *d);

#endif

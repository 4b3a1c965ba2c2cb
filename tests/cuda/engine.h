/*
 * Ways to run the trainer's kernels where there is no GPU, all on tests/cuda/emulate.h: compiled
 * for the host, and as the PTX that is shipped for devices from 7.5 and from 8.0 on; as devices of
 * many multiprocessors, where products are cut into small tiles, and of few.
 */
#ifndef SLIPWAY_TESTS_CUDA_ENGINE_H
#define SLIPWAY_TESTS_CUDA_ENGINE_H

#include "trainer/cuda/launch.h"

struct engine {
	const char *name;
	/* Of the device; by them tiles are chosen (trainer/cuda/product_tiles.h) */
	unsigned compute, multiprocessors;
	void (*run[KERNELS])(const void *params); /* NULL: the text does not have it */
};

enum { ENGINES = 6 };
extern const struct engine engines[ENGINES];

/* A queue that runs a kernel when it is launched. */
struct emulated_queue {
	struct cuda_queue queue;
	const struct engine *engine;
	uint64_t seed;       /* of the order of threads */
	const char *problem; /* the first, and the kernel that had it; then launches do nothing */
	const char *problem_kernel;
	void *scratch;
};

struct emulated_queue emulated_queue(const struct engine *engine, enum cuda_operands operands,
                                     uint64_t seed);
void emulated_queue_done(struct emulated_queue *q);

#endif

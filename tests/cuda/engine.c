#include "tests/cuda/engine.h"

#include <stdlib.h>
#include <string.h>

#include "tests/cuda/emulate.h"
#include "trainer/cuda/kernels/entries.h"

#define HOST_CALL(source, name, type, threads, bytes)                                              \
	static void host_##name(const void *params)                                                \
	{                                                                                          \
		struct type p;                                                                     \
                                                                                                   \
		memcpy(&p, params, sizeof(p));                                                     \
		name(p);                                                                           \
	}                                                                                          \
	void ptx_75_##name(const void *params) __attribute__((weak));                              \
	void ptx_80_##name(const void *params) __attribute__((weak));
CUDA_KERNELS(HOST_CALL)

#define HOST_ROW(source, name, type, threads, bytes) [KERNEL_##name] = host_##name,
#define ROW_75(source, name, type, threads, bytes)   [KERNEL_##name] = ptx_75_##name,
#define ROW_80(source, name, type, threads, bytes)   [KERNEL_##name] = ptx_80_##name,

const struct engine engines[ENGINES] = {
	{"the host's", 80, 108, {CUDA_KERNELS(HOST_ROW)}},
	{"PTX of 7.5", 75, 40, {CUDA_KERNELS(ROW_75)}},
	{"PTX of 8.0", 80, 108, {CUDA_KERNELS(ROW_80)}},
	{"the host's for 7.5", 75, 40, {CUDA_KERNELS(HOST_ROW)}},
	{"the host's in large tiles", 80, 1, {CUDA_KERNELS(HOST_ROW)}},
	{"PTX of 8.0 in large tiles", 80, 1, {CUDA_KERNELS(ROW_80)}},
};

static void run(struct cuda_queue *queue, enum cuda_kernel kernel, const unsigned grid[3],
                const void *params)
{
	struct emulated_queue *q = (struct emulated_queue *)queue;
	struct emulated launch = {.kernel = q->engine->run[kernel],
	                          .args = params,
	                          .grid = {grid[0], grid[1], grid[2]},
	                          .threads = cuda_kernels[kernel].threads,
	                          .shared = cuda_kernels[kernel].shared};

	if (q->problem != NULL)
		return;
	q->problem =
		launch.kernel == NULL ? "there is no such kernel" : emulate(&launch, q->seed++);
	q->problem_kernel = cuda_kernels[kernel].name;
}

static void zero(struct cuda_queue *queue, void *to, size_t n)
{
	(void)queue;
	memset(to, 0, n);
}

/* Exactly what was asked for, so that valgrind sees what is beyond; undefined, so that it shows. */
static void *scratch(struct cuda_queue *queue, size_t n)
{
	struct emulated_queue *q = (struct emulated_queue *)queue;

	free(q->scratch);
	q->scratch = aligned_alloc(256, (n + 255) / 256 * 256);
	memset(q->scratch, 0xff, n);
	return q->scratch;
}

struct emulated_queue emulated_queue(const struct engine *engine, enum cuda_operands operands,
                                     uint64_t seed)
{
	return (struct emulated_queue){.queue = {.launch = run,
	                                         .zero = zero,
	                                         .scratch = scratch,
	                                         .operands = operands,
	                                         .compute = engine->compute,
	                                         .multiprocessors = engine->multiprocessors},
	                               .engine = engine,
	                               .seed = seed};
}

void emulated_queue_done(struct emulated_queue *q)
{
	free(q->scratch);
	q->scratch = NULL;
}

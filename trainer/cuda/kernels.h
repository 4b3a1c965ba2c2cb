/*
 * The kernels as the host knows them: what to launch, and the texts that a driver compiles. Made
 * from trainer/cuda/kernels/list.h.
 */
#ifndef SLIPWAY_TRAINER_CUDA_KERNELS_H
#define SLIPWAY_TRAINER_CUDA_KERNELS_H

#include <stddef.h>

#define CUDA_ENUMERATOR(source, name, type, threads, bytes) KERNEL_##name,
#define CUDA_MODULE_ENUMERATOR(source, oldest)              MODULE_##source,

#include "trainer/cuda/kernels/list.h"

enum cuda_kernel { CUDA_KERNELS(CUDA_ENUMERATOR) KERNELS };
enum cuda_module { CUDA_MODULES(CUDA_MODULE_ENUMERATOR) MODULES };

#undef CUDA_ENUMERATOR
#undef CUDA_MODULE_ENUMERATOR

struct cuda_kernel_row {
	const char *name;
	enum cuda_module module;
	unsigned threads;      /* of a block */
	size_t shared, params; /* bytes */
};
extern const struct cuda_kernel_row cuda_kernels[KERNELS];

/* Two texts of a module: for devices from 7.5 on, and from 8.0 on. */
enum cuda_text { TEXT_75, TEXT_80, TEXTS };

struct cuda_module_row {
	const char *name;
	const char
		*text[TEXTS]; /* PTX, with a NUL at its end; NULL where the device cannot run it */
};
extern const struct cuda_module_row cuda_modules[MODULES];

#endif

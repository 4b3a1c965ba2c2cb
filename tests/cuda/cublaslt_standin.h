/* What a test asks the stand-in for libcublasLt.so.12 (cublaslt_standin.c) for. */
#ifndef SLIPWAY_TESTS_CUDA_CUBLASLT_STANDIN_H
#define SLIPWAY_TESTS_CUDA_CUBLASLT_STANDIN_H

#include <stddef.h>

struct standin_cublaslt_state {
	size_t calls;
	size_t products, recorded; /* asked for; recorded: while a stream recorded */
	size_t held;               /* objects not given back */
	const char *problem;       /* the first misuse, or NULL */
};

struct standin_cublaslt_state standin_cublaslt_state(void);

/* Sets the state back; from then on the call's `at`th use, from 1, fails with the status. "": none
 * does. */
void standin_cublaslt_fail(const char *call, size_t at, int status);

#endif

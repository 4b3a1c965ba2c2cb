/*
 * NVIDIA's library of matrix products, libcublasLt.so, loaded where the node or the base image
 * brings it; slipway never does, and links nothing of it. Names, numbers and layouts are those of
 * the cuBLAS documentation's part "Using the cuBLASLt API"; a cublasStatus_t is an int.
 */
#ifndef SLIPWAY_TRAINER_CUDA_CUBLASLT_LIBRARY_H
#define SLIPWAY_TRAINER_CUDA_CUBLASLT_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* cublasLtMatmulAlgo_t: opaque, copied as it is. */
struct cublaslt_algorithm {
	uint64_t data[8];
};

/* cublasLtMatmulHeuristicResult_t. */
struct cublaslt_found {
	struct cublaslt_algorithm algorithm;
	size_t workspace;
	int state; /* a status */
	float waves;
	int reserved[4];
};

enum {
	/* cudaDataType_t */
	CUBLASLT_FLOAT = 0,
	CUBLASLT_HALF = 2,
	CUBLASLT_BFLOAT = 14,
	/* cublasComputeType_t: sums are floats; operands are, or are rounded on their way */
	CUBLASLT_COMPUTE_F32 = 68,
	CUBLASLT_COMPUTE_F16 = 74,
	CUBLASLT_COMPUTE_BF16 = 75,
	CUBLASLT_COMPUTE_TF32 = 77,
	/* cublasLtMatmulDescAttributes_t, and two values */
	CUBLASLT_TRANSPOSE_A = 3,
	CUBLASLT_TRANSPOSE_B = 4,
	CUBLASLT_EPILOGUE = 7,
	CUBLASLT_BIAS = 8,
	CUBLASLT_TRANSPOSED = 1,
	CUBLASLT_EPILOGUE_BIAS = 4,
	/* cublasLtMatmulPreferenceAttributes_t; the alignments of a, b, c and d follow each other
	 */
	CUBLASLT_WORKSPACE_MAX = 1,
	CUBLASLT_ALIGNMENT = 5
};

/* CALL(member, exported name, parameters) */
#define CUBLASLT_CALLS(CALL)                                                                       \
	CALL(create, cublasLtCreate, (void **handle))                                              \
	CALL(destroy, cublasLtDestroy, (void *handle))                                             \
	CALL(operation_new, cublasLtMatmulDescCreate, (void **operation, int compute, int scale))  \
	CALL(operation_set, cublasLtMatmulDescSetAttribute,                                        \
	     (void *operation, int attribute, const void *value, size_t n))                        \
	CALL(operation_free, cublasLtMatmulDescDestroy, (void *operation))                         \
	CALL(layout_new, cublasLtMatrixLayoutCreate,                                               \
	     (void **layout, int type, uint64_t rows, uint64_t columns, int64_t stride))           \
	CALL(layout_free, cublasLtMatrixLayoutDestroy, (void *layout))                             \
	CALL(preference_new, cublasLtMatmulPreferenceCreate, (void **preference))                  \
	CALL(preference_set, cublasLtMatmulPreferenceSetAttribute,                                 \
	     (void *preference, int attribute, const void *value, size_t n))                       \
	CALL(preference_free, cublasLtMatmulPreferenceDestroy, (void *preference))                 \
	CALL(find, cublasLtMatmulAlgoGetHeuristic,                                                 \
	     (void *handle, void *operation, void *a, void *b, void *c, void *d, void *preference, \
	      int wanted, struct cublaslt_found *found, int *n_found))                             \
	CALL(multiply, cublasLtMatmul,                                                             \
	     (void *handle, void *operation, const void *alpha, const void *a, void *a_layout,     \
	      const void *b, void *b_layout, const void *beta, const void *c, void *c_layout,      \
	      void *d, void *d_layout, const struct cublaslt_algorithm *algorithm,                 \
	      void *workspace, size_t workspace_n, void *stream))

#define CUBLASLT_CALL_MEMBER(member, name, parameters) int(*member) parameters;
struct cublaslt_calls {
	CUBLASLT_CALLS(CUBLASLT_CALL_MEMBER)
	size_t (*version)(void); /* cublasLtGetVersion: 120405 is 12.4.5 */
};
#undef CUBLASLT_CALL_MEMBER

/* The functions' names, by member. */
#define CUBLASLT_NAME_MEMBER(member, name, parameters) const char *member;
struct cublaslt_names {
	CUBLASLT_CALLS(CUBLASLT_NAME_MEMBER)
};
#undef CUBLASLT_NAME_MEMBER
extern const struct cublaslt_names cublaslt_names;

struct cublaslt_library {
	struct cublaslt_calls call;
	unsigned version;
};

/*
 * Of the versions 13, 12 and 11, the first that is there and whose functions are. `driver` is the
 * CUDA that the driver knows (12040 is 12.4): a library of a newer major version is not tried.
 * ERR_NOT_FOUND: there is none; ERR_UNSUPPORTED: it lacks a function. It stays loaded until the
 * process ends.
 */
int cublaslt_library_open(int driver, struct cublaslt_library *ret, struct err *err) MUST_USE;

/* What a status means to the user; call: the function that returned it. Returns -1. */
int cublaslt_failure(int status, const char *call, struct err *err);

#endif

/*
 * What was measured of products, kept beside the driver's cache of compiled kernels, so that a
 * restart need not measure again. A file is of one GPU's kind, driver, library's version and
 * operands' format, which its first line says. A line of it is a shape and times:
 *
 *   slipway products 2: A10G, compute capability 8.6, CUDA 12.4, cuBLASLt 12.4.5, f32
 *   nn 784 512 512 512 512 512 ways 0 aligned 256 256 256 own 51.400 three 33.100 cublaslt 0.000
 *
 * Times are microseconds, 0 where nobody was asked; ways and aligned are struct product_shape's. A
 * file that has anything else in it holds nothing: what it would have said is measured again.
 */
#ifndef SLIPWAY_TRAINER_CUDA_GEMM_FILE_H
#define SLIPWAY_TRAINER_CUDA_GEMM_FILE_H

#include <limits.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "trainer/cuda/product_shape.h"

struct gemm_times {
	struct product_shape shape;
	double own_us;               /* of one product by the kernels; above 0 */
	double three_us, library_us; /* by three of tf32, by cuBLASLt; 0: not measured */
};

struct gemm_times_list {
	VEC(struct gemm_times) all;
};

enum { GEMM_FILE_MAX = 512 << 10 };

/* The file's text. title: of its first line, behind the colon. */
void gemm_file_text(const char *title, const struct gemm_times *times, size_t n,
                    struct strbuf *ret);

/* False, and then *ret stays empty, when the text is not such a file, or another title's. The
 * caller: vec_done(&ret->all). */
bool gemm_file_parse(const char *text, const char *title, struct gemm_times_list *ret);

/* Where the file of a title is: in CUDA_CACHE_PATH, or ~/.nv/ComputeCache, as the driver's own.
 * False where neither is known. */
bool gemm_file_path(const char *title, char ret[PATH_MAX]);

/* The whole file, of GEMM_FILE_MAX bytes at most. Anything but a regular file is an error. */
int gemm_file_read(const char *path, struct strbuf *ret, struct err *err) MUST_USE;

/* Replaces it, and makes its folder. */
int gemm_file_write(const char *path, const struct strbuf *text, struct err *err) MUST_USE;

#endif

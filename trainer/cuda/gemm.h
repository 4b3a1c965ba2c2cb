/*
 * Who computes a device's products: the trainer's own kernels, or cuBLASLt where it is here. With
 * `auto` each shape is timed both ways when it is first met, and goes to cuBLASLt if that is
 * clearly faster; what was measured is kept in a file (gemm_file.h). cuBLASLt is then never needed:
 * what it refuses, and everything after its first failure, is the kernels'. With `cublaslt` a
 * failure is the device's.
 */
#ifndef SLIPWAY_TRAINER_CUDA_GEMM_H
#define SLIPWAY_TRAINER_CUDA_GEMM_H

#include "base/strbuf.h"
#include "trainer/cuda/driver.h"

struct cuda_gemm;

/*
 * From now on d's products are computed as `choice` says; the operands' format is set before. An
 * error only with OP_GEMM_CUBLASLT. cuda_gemm_close before cuda_close.
 */
int cuda_gemm_open(struct cuda_device *d, enum op_gemm choice, struct err *err) MUST_USE;
/* Fine where there is none. */
void cuda_gemm_close(struct cuda_device *d);

/* Writes down what was measured since the last time; where it cannot, nothing happens. */
void cuda_gemm_keep(struct cuda_device *d);

/* "own kernels", or "cuBLASLt 12.4.5 for 14 of 20 shapes" and why not for all, of those that were
 * met so far. */
void cuda_gemm_describe(const struct cuda_device *d, struct strbuf *sb);

#endif

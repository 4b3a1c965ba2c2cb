/* Who computes a device's matrix products, where there is a choice. */
#ifndef SLIPWAY_TRAINER_OPS_GEMM_CHOICE_H
#define SLIPWAY_TRAINER_OPS_GEMM_CHOICE_H

#include "base/err.h"

enum op_gemm {
	OP_GEMM_AUTO,     /* whichever is measured faster, by shape */
	OP_GEMM_OWN,      /* the trainer's kernels */
	OP_GEMM_CUBLASLT, /* NVIDIA's library, of which a lack is an error */
	OP_GEMMS
};

/* "auto", "own" or "cublaslt"; ERR_USAGE for another text. */
int gemm_choice_parse(const char *text, enum op_gemm *ret, struct err *err) MUST_USE;

#endif

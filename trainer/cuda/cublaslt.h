/*
 * Products by cuBLASLt (cublaslt_library.h) on a device's stream, with its memory.
 *
 * What makes them a part of a recording (a CUDA graph, graph.c): a plan is made when its shape is
 * first met, before anything is recorded, and is run once then, so that the library has loaded its
 * kernel; the workspace is one block, taken at the beginning and for all products, which one stream
 * does one after the other; alpha and beta are the host's values, which a recording copies. So a
 * recorded product is a kernel like any other, and the same one in every replay.
 */
#ifndef SLIPWAY_TRAINER_CUDA_CUBLASLT_H
#define SLIPWAY_TRAINER_CUDA_CUBLASLT_H

#include "trainer/cuda/driver.h"
#include "trainer/cuda/product_shape.h"

struct cublaslt;      /* opaque */
struct cublaslt_plan; /* opaque: how products of one shape are computed */

/*
 * d is borrowed, outlives *ret, and has the operands' format (struct cuda_queue) already. Errors
 * are of the library and do not stick to d. ERR_NOT_FOUND: it is not here.
 */
int cublaslt_open(struct cuda_device *d, struct cublaslt **ret, struct err *err) MUST_USE;
/* NULL is fine. After the plans. */
void cublaslt_close(struct cublaslt *c);

unsigned cublaslt_version(const struct cublaslt *c); /* 120405: 12.4.5 */

/* What it can do in one call: the sizes are not 0, and c's former value and a residual are not both
 * to be added. GELU and its slope are the caller's. */
bool cublaslt_takes(const struct product_shape *shape);

/* bias: of one of the shape's products, or NULL. ERR_UNSUPPORTED: the library has no kernel for it.
 */
int cublaslt_plan_new(struct cublaslt *c, const struct product_shape *shape, const float *bias,
                      struct cublaslt_plan **ret, struct err *err) MUST_USE;
/* NULL is fine. */
void cublaslt_plan_free(struct cublaslt *c, struct cublaslt_plan *p);

/* Asks for the product l, which has the plan's shape; GELU and slope are left out. */
int cublaslt_multiply(struct cublaslt *c, struct cublaslt_plan *p, const struct product_launch *l,
                      struct err *err) MUST_USE;

#endif

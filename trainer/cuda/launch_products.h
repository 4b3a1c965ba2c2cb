/* Products and sums down columns, as ops are made of them (launch_rows.c). */
#ifndef SLIPWAY_TRAINER_CUDA_LAUNCH_PRODUCTS_H
#define SLIPWAY_TRAINER_CUDA_LAUNCH_PRODUCTS_H

#include "trainer/cuda/launch.h"

/* By whoever is to: cuBLASLt or the kernels; depth_each is not looked at. */
void cuda_multiply(struct cuda_queue *q, enum product_form form, const struct product_launch *l);

/* By the kernels. One of the form tn that adds to c and has nothing else on its way out may be
 * taken in parts, which scratch holds. */
void cuda_product(struct cuda_queue *q, enum product_form form, const struct product_launch *l);

/* out[n] += the sum over parts of partial[part * stride + i] */
void cuda_add_parts(struct cuda_queue *q, const float *partial, size_t n, unsigned parts,
                    size_t stride, float *out);

#endif

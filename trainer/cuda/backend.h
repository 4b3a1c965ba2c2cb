/*
 * One of NVIDIA's GPUs as a device of the ops (trainer/ops/ops.h, trainer/ops/device.h): a table in
 * which every op is launches (launch.h), on a device reached through its driver (driver.h). Never
 * run on a GPU so far.
 */
#ifndef SLIPWAY_TRAINER_CUDA_BACKEND_H
#define SLIPWAY_TRAINER_CUDA_BACKEND_H

#include "trainer/ops/ops.h"

/*
 * The ops of GPU `index`; ops_done gives it back. ERR_USAGE: the options are a processor's;
 * ERR_UNSUPPORTED also when the GPU has no products of the precision that is asked for; else as
 * cuda_open.
 */
int cuda_ops_open(unsigned index, const struct ops_options *options, struct ops *ret,
                  struct err *err) MUST_USE;

#endif

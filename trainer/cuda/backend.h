/*
 * One of NVIDIA's GPUs as a device of the ops (trainer/ops/ops.h, trainer/ops/device.h): a table in
 * which every op is launches (launch.h), on a device reached through its driver (driver.h). Never
 * run on a GPU so far.
 */
#ifndef SLIPWAY_TRAINER_CUDA_BACKEND_H
#define SLIPWAY_TRAINER_CUDA_BACKEND_H

#include "trainer/cuda/launch.h"
#include "trainer/ops/ops.h"
#include "trainer/ops/tally.h"

/*
 * The ops of GPU `index`; ops_done gives it back. ERR_USAGE: the options are a processor's;
 * ERR_UNSUPPORTED also when the GPU has no products of the precision that is asked for; else as
 * cuda_open.
 */
int cuda_ops_open(unsigned index, const struct ops_options *options, struct ops *ret,
                  struct err *err) MUST_USE;

/* Ops that launch nothing and count the memory that they are asked for; ops_done, before *tally
 * goes. The last that is counted includes what the launches take for themselves. */
void cuda_ops_rehearse(const struct ops_options *options, struct tally *tally, struct ops *ret);

/* Bytes that the GPU had free when it was opened. */
size_t cuda_ops_room(const struct ops *ops);

/* For this folder. */
enum cuda_operands cuda_operands_of(enum op_precision p);

/* The launches; `own` of their ops begins with a struct cuda_queue. For this folder. */
extern const struct op_table cuda_op_table;

#endif

/*
 * The parts of the bench command.
 */
#ifndef SLIPWAY_TRAINER_CMD_BENCH_H
#define SLIPWAY_TRAINER_CMD_BENCH_H

#include "base/strbuf.h"
#include "trainer/model/config.h"
#include "trainer/ops/ops.h"

/* Floating operations per second of multiply-add in registers, all threads; fast ops only. */
double bench_peak(struct ops *ops);

/* The model's matrix products for `batch` clips and `points` decoded points, timed one by one. */
void bench_shapes(struct ops *ops, const struct model_config *c, size_t batch, size_t points,
                  bool json, struct strbuf *sb);

#endif

/*
 * bench --bounds: the products and exponentials of one head of the encoder's self attention at a
 * time, with packing, from matrices as wide as a layer (cmd_bench_heads.c).
 */
#ifndef SLIPWAY_TRAINER_CMD_CMD_BENCH_HEADS_H
#define SLIPWAY_TRAINER_CMD_CMD_BENCH_HEADS_H

#include "trainer/ops/cpu.h"

struct heads;

/* For n threads, one each. */
struct heads *heads_new(const struct cpu *ops, unsigned n);
void heads_free(struct heads *all, unsigned n);

/* Does a thread's next head once; returns its scores. */
double heads_forward(struct heads *all, unsigned thread);
double heads_backward(struct heads *all, unsigned thread);

#endif

/*
 * bench --bounds: the products and exponentials of the decoder's attention, whose one head is as
 * wide as the layer (cmd_bench_wide.c). Each thread has queries of its own and all keys.
 */
#ifndef SLIPWAY_TRAINER_CMD_CMD_BENCH_WIDE_H
#define SLIPWAY_TRAINER_CMD_CMD_BENCH_WIDE_H

#include "trainer/ops/cpu.h"

struct wide;

enum { WIDE_DEPTH = 512 }; /* of its head, in the full configuration */

/* For n threads. */
struct wide *wide_new(const struct cpu *ops, unsigned n);
void wide_free(struct wide *w);

/* Goes through a thread's queries once; returns its scores, which are as many for each thread. */
double wide_forward(struct wide *w, unsigned thread);
double wide_backward(struct wide *w, unsigned thread);

#endif

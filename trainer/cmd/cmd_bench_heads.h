/*
 * bench --bounds: the products and exponentials of one head of the encoder's self attention at a
 * time, with packing, from matrices as wide as a layer (cmd_bench_heads.c).
 */
#ifndef SLIPWAY_TRAINER_CMD_CMD_BENCH_HEADS_H
#define SLIPWAY_TRAINER_CMD_CMD_BENCH_HEADS_H

#include "trainer/ops/attention_fast.h"

struct heads;

/* For n threads, one each. */
struct heads *heads_new(const struct cpu *ops, unsigned n);
void heads_free(struct heads *all, unsigned n);

/* Does a thread's next head once; returns its scores. */
double heads_forward(struct heads *all, unsigned thread);
double heads_backward(struct heads *all, unsigned thread);

/* Panels of all keys by channel and of all values by key, and a block's memory. */
struct forward_block {
	const float *keys_t, *values;
	float *q, *scores, *max, *sum, *o;
	size_t o_row;
};

/* A block of queries goes through all strips; its sums are not divided. */
void heads_forward_block(const struct attention_run *a, const struct query_block *q,
                         const struct forward_block *f);

#endif

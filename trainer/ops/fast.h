/*
 * The fast implementation of the op contract, file by file; fast.c joins them into its tables.
 */
#ifndef SLIPWAY_TRAINER_OPS_FAST_H
#define SLIPWAY_TRAINER_OPS_FAST_H

#include "trainer/ops/cpu.h"

/* Cross attention folded where it folds (one head), plain otherwise; and plain always. */
extern const struct op_table ops_fast, ops_fast_plain;

/* attention_fast.c */
void attention_fast_forward(struct cpu *ops, const struct op_attention *p);
void attention_fast_backward(struct cpu *ops, const struct op_attention *p);

/* cross_folded.c: configurations with one head */
void cross_folded_forward(struct cpu *ops, const struct op_cross *p);
void cross_folded_backward(struct cpu *ops, const struct op_cross *p);
void *cross_folded_new(const struct op_cross *p);
void cross_folded_free(void *state);

#endif

/*
 * What the folded cross attention does with its latents' rows, between the products and the sweeps
 * (cross_rows.c): scaling, transposing, and sums over the rows. p->state is the struct folded.
 */
#ifndef SLIPWAY_TRAINER_OPS_CROSS_ROWS_H
#define SLIPWAY_TRAINER_OPS_CROSS_ROWS_H

#include "trainer/ops/cross_folded.h"

/* t, which is q Wk, becomes s q Wk, and q'' = gain * t in panels. */
void cross_fold_queries(struct cpu *ops, const struct op_cross *p);

/* z = gain * U + R shift. */
void cross_scale_shift(struct cpu *ops, const struct op_cross *p);

/* context += R bv. */
void cross_add_bias(struct cpu *ops, const struct op_cross *p);

/* dbv += the sum of R dcontext. */
void cross_bias_gradient(struct cpu *ops, const struct op_cross *p);

/* z, which is dcontext Wv, becomes dU; d gain and d shift are added to, delta and d R are set. */
void cross_unfold_values(struct cpu *ops, const struct op_cross *p);

/* dq'' becomes the derivative of q Wk; d gain is added to. */
void cross_unfold_queries(struct cpu *ops, const struct op_cross *p);

#endif

/*
 * The encoder's cross attention as its definition says: form the tokens, normalise them, project
 * keys and values, attend. Written over the op table in use, so that it is the reference of the
 * folded form with reference ops, and the fast path of the configurations that do not fold (several
 * cross-attention heads) with fast ones.
 */
#ifndef SLIPWAY_TRAINER_OPS_CROSS_PLAIN_H
#define SLIPWAY_TRAINER_OPS_CROSS_PLAIN_H

#include "trainer/ops/ops.h"

void cross_plain_forward(struct ops *ops, const struct op_cross *p);
void cross_plain_backward(struct ops *ops, const struct op_cross *p);
void *cross_plain_new(struct ops *ops, const struct op_cross *p);
void cross_plain_free(struct ops *ops, void *state);

#endif

/*
 * What the operands of matrix products are rounded to. Sums, and all that is not a product, are
 * float32 in each. bf16 has float32's range; f16 has more digits and ends at 65504 and 2^-24, so
 * that gradients in it are those of a scaled loss (trainer/train/loss_scale.h). tf32 has f16's
 * digits and float32's range, and is of linear layers alone: attentions are in float32 with it.
 */
#ifndef SLIPWAY_TRAINER_OPS_PRECISION_H
#define SLIPWAY_TRAINER_OPS_PRECISION_H

#include "base/err.h"

enum op_precision { PRECISION_F32, PRECISION_BF16, PRECISION_F16, PRECISION_TF32, PRECISIONS };

const char *precision_name(enum op_precision p); /* "f32" */

/* The value of --precision; ERR_USAGE for no such name. */
int precision_parse(const char *text, enum op_precision *ret, struct err *err) MUST_USE;

#endif

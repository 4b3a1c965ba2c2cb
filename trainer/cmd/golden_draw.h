/*
 * Ops whose products have operands that err as those of bf16, f16 or tf32 do: rounded to nearest on
 * the format's grid, but with the grid moved by a part of a place, another for every seed and
 * binade.
 * Slow and exact otherwise (they stand on the reference). What a network's results differ by over
 * many seeds is how far an implementation in the format may be off, whatever it folds and in
 * whichever order it adds.
 *
 * A moved grid errs as the real one does: evenly up to half a place over many values, alike for
 * equal values and for values closer than a place (the probabilities of a flat attention, whose
 * errors therefore add up), and not at all where the format holds a value exactly.
 * trainer/README.md, "In bf16", says which operands are rounded: both of each product in linear
 * layers and attentions, forward and backward, with the probabilities and their derivatives among
 * them. In tf32 they are the linear layers' alone.
 */
#ifndef SLIPWAY_TRAINER_CMD_GOLDEN_DRAW_H
#define SLIPWAY_TRAINER_CMD_GOLDEN_DRAW_H

#include "trainer/ops/ops.h"

struct drawn_ops {
	struct ops ops; /* for model_new; first, so that an op finds the rest */
	struct op_table table;
	uint32_t seed; /* may be changed between the steps of a model; 0 draws no errors */
};

/* Of any precision but PRECISION_F32. *ret stays where it is while its ops are used;
 * ops_done(&ret->ops) at the end. */
void drawn_ops_open(enum op_precision precision, struct drawn_ops *ret);

/* x as an operand under a seed. */
float drawn_operand(float x, enum op_precision precision, uint32_t seed);

#endif

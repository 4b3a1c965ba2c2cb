/*
 * The scale of the loss in f16 (Micikevicius et al. 2018, section 3.2): gradients are those of the
 * loss times a power of two, so that small ones do not round to 0, and are divided by it, exactly,
 * before anybody looks at them. A step whose gradients are not finite at one scale is done again,
 * from the same clips, masks and points, at half of it, so nothing is lost and no step counted
 * twice; after LOSS_SCALE_RAISE good steps the scale is doubled. At a scale of 1 what is not finite
 * is the network's own, as in other precisions.
 */
#ifndef SLIPWAY_TRAINER_TRAIN_LOSS_SCALE_H
#define SLIPWAY_TRAINER_TRAIN_LOSS_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#include "trainer/ops/precision.h"

enum { LOSS_SCALE_FIRST = 16, LOSS_SCALE_LARGEST = 24, LOSS_SCALE_RAISE = 2000 };

/* All zero: the one that a run begins with. Part of a run's state (struct train_state). */
struct loss_scale {
	int moved; /* the scale is 2^(LOSS_SCALE_FIRST + moved), from 1 to 2^LOSS_SCALE_LARGEST */
	uint64_t good; /* updates since it was set */
};

/* 1 in other precisions than f16. */
double loss_scale_of(const struct loss_scale *s, enum op_precision precision);

/* Halves it; false, and nothing is changed, when it is 1 or the precision is not f16. */
bool loss_scale_lower(struct loss_scale *s, enum op_precision precision);

/* An update was made. */
void loss_scale_update(struct loss_scale *s, enum op_precision precision);

#endif

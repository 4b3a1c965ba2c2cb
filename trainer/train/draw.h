/*
 * The random draws of training: output points and token masks, each a function of the seed and a
 * number alone (see philox.h), so that they do not depend on ranks or on what was drawn before.
 */
#ifndef SLIPWAY_TRAINER_TRAIN_DRAW_H
#define SLIPWAY_TRAINER_TRAIN_DRAW_H

#include <stddef.h>
#include <stdint.h>

/* n points in [0, limit), with replacement, for draw number `index`. */
void draw_points(uint64_t seed, uint64_t index, size_t limit, int32_t *out, size_t n);

/* mask[i] = 1 with probability p, else 0, for token mask `kind` of global sample `sample`. */
void draw_mask(uint64_t seed, uint64_t sample, unsigned kind, double p, float *mask, size_t n);

#endif

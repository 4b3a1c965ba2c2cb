/*
 * The order of clips: sample number g of a run is clip order_clip(...) of the dataset. Every epoch
 * is another permutation, computed and not stored: a Feistel network over the next power of four,
 * walked until it lands inside (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002).
 * So any sample of any epoch is known at once, on any rank, after any restart.
 */
#ifndef SLIPWAY_TRAINER_DATA_ORDER_H
#define SLIPWAY_TRAINER_DATA_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "trainer/ops/philox.h"

/* Where x, 0 .. n - 1, goes in permutation number `which` of n things, n > 0. Every stream has
 * permutations of its own. */
uint64_t order_permute(uint64_t seed, enum philox_stream stream, uint64_t which, uint64_t n,
                       uint64_t x);

/* The clip, 0 .. n_clips - 1, for sample `sample`; epoch = sample / n_clips. n_clips > 0. Without
 * shuffling: sample % n_clips. */
uint64_t order_clip(uint64_t seed, uint64_t n_clips, uint64_t sample, bool shuffle);

#endif

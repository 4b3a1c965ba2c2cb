/*
 * Counter-based random numbers: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, SC'11). A draw is a
 * function of (key, counter) alone, so any draw can be repeated without its predecessors.
 */
#ifndef SLIPWAY_TRAINER_OPS_PHILOX_H
#define SLIPWAY_TRAINER_OPS_PHILOX_H

#include <stdint.h>

struct philox {
	uint32_t key[2];     /* the seed */
	uint32_t counter[4]; /* [0] draw, [1] stream, [2..3] step or sample */
	uint32_t out[4];
	unsigned left; /* of out */
};

/* What a stream of draws is for; each has its own counters. */
enum philox_stream {
	STREAM_INIT = 1,
	STREAM_POINTS,
	STREAM_MASK,
	STREAM_DROPOUT,
	STREAM_SHUFFLE,
	STREAM_SYNTHETIC,
	STREAM_AUGMENT,
	STREAM_CLASSES,    /* the order of classes */
	STREAM_CLASS_CLIPS /* the order of clips within one */
};

/* The block for this key and counter. */
void philox_block(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4]);

struct philox philox_start(uint64_t seed, enum philox_stream stream, uint64_t index);
uint32_t philox_u32(struct philox *p);
double philox_uniform(struct philox *p);             /* [0, 1), 24 bits */
double philox_normal(struct philox *p);              /* N(0, 1), Box-Muller */
uint32_t philox_below(struct philox *p, uint32_t n); /* 0 .. n - 1, unbiased */

#endif

/*
 * Random numbers for jitter, where nothing depends on them being hard to guess: xorshift64* (S.
 * Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled"). Thread rule:
 * a state belongs to one thread at a time.
 */
#ifndef SLIPWAY_BASE_RANDOM_H
#define SLIPWAY_BASE_RANDOM_H

#include <stdint.h>

/* The next number in [0, 1); the state is never 0. */
static inline double random_unit(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (double)((*state * 0x2545f4914f6cdd1dull) >> 11) / 9007199254740992.0;
}

#endif

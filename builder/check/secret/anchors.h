/*
 * Looking for many short texts at once. Every anchor has two overlapping groups of three bytes, of
 * which one begins at an even place: a bit per group (hashed) says whether to look closer.
 * Nobody outside this room includes it.
 */
#ifndef SLIPWAY_BUILDER_CHECK_SECRET_ANCHORS_H
#define SLIPWAY_BUILDER_CHECK_SECRET_ANCHORS_H

#include <stdint.h>
#include <string.h>

#include "builder/check/secret/patterns.h"

enum { ANCHOR_BITS = 16, ANCHOR_ROWS_MAX = 128, ANCHOR_NONE = 0xff };

struct secret_anchors {
	uint32_t bits[(1 << ANCHOR_BITS) / 32]; /* by the hash of three bytes */
	uint8_t first[256];                     /* row by that of an anchor's first three */
	uint8_t next[ANCHOR_ROWS_MAX];
};

void anchors_init(struct secret_anchors *a);

/* The hash of the three bytes at p; a fourth one is read and not looked at. */
static inline uint32_t anchors_hash(const unsigned char *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	word <<= 8;
#else
	word &= 0xffffff00;
#endif
	return (word * UINT32_C(0x9E3779B1)) >> (32 - ANCHOR_BITS);
}

static inline bool anchors_hit(const struct secret_anchors *a, uint32_t hash)
{
	return (a->bits[hash / 32] >> (hash % 32) & 1) != 0;
}

#endif

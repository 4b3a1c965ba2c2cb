/*
 * Looking for many short texts at once. Every anchor has two overlapping groups of three bytes, of
 * which one begins at an even place: a table (by a hash) says whether to look closer.
 * Nobody outside this room includes it.
 */
#ifndef SLIPWAY_BUILDER_CHECK_SECRET_ANCHORS_H
#define SLIPWAY_BUILDER_CHECK_SECRET_ANCHORS_H

#include <stdint.h>
#include <string.h>

#include "builder/check/secret/patterns.h"

enum { ANCHOR_BITS = 16, ANCHOR_ROWS_MAX = 128, ANCHOR_NONE = 0xff };
enum { ANCHOR_FIRST = 1, ANCHOR_SECOND = 2 }; /* which group of an anchor it is */

struct secret_anchors {
	uint8_t seen[1 << ANCHOR_BITS]; /* by the hash of three bytes: ANCHOR_* or 0 */
	uint8_t first[256];             /* row by that of an anchor's looked-up bytes */
	uint8_t next[ANCHOR_ROWS_MAX];
	uint8_t probe[ANCHOR_ROWS_MAX]; /* where in the anchor its looked-up bytes begin */
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

/* Which list of rows a hash belongs to. */
static inline uint32_t anchors_list(uint32_t hash)
{
	return hash >> (ANCHOR_BITS - 8);
}

#endif

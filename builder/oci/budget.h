/*
 * What reading one image may cost, so that a few bytes made to do harm cannot take a machine for
 * hours. What an image stands for (unpacked bytes, members, links) is bounded by what it weighs:
 * each cost has a floor that every small image may use, and grows with the compressed bytes that
 * were really read. gzip cannot pack tighter than 1:1032 (zlib's technical details), so a bound on
 * unpacked bytes above that meets only files of zeros in zstd, and bombs.
 *
 * One budget serves all layers and platforms of an image, and both sides of a diff. A zeroed one is
 * ready for use. Thread rule: safe from several threads.
 */
#ifndef SLIPWAY_BUILDER_OCI_BUDGET_H
#define SLIPWAY_BUILDER_OCI_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum budget_cost {
	BUDGET_UNPACKED, /* bytes of uncompressed layers, and of the holes in them */
	BUDGET_KEPT,     /* bytes of memory for members, paths, links and differences */
	BUDGET_STEPS,    /* segments of paths that are followed */
	BUDGET_COSTS
};

struct budget {
	int64_t max_unpacked; /* the user's own bound on unpacked bytes; 0 = by what was read */
	_Atomic int64_t packed;
	_Atomic int64_t spent[BUDGET_COSTS];
	atomic_bool large_window; /* somebody decompresses with one */
};

/* Compressed bytes that were read: they raise every bound. */
void budget_earn(struct budget *b, int64_t packed);

/* Adds to a cost. A NULL budget has no bounds. */
void budget_spend(struct budget *b, enum budget_cost cost, int64_t amount);

/* Adds what an arena grew by since *mark bytes (0 at first), and moves the mark. */
void budget_spend_arena(struct budget *b, const struct arena *a, size_t *mark);

/* Whether some cost is over its bound. */
bool budget_exceeded(const struct budget *b);

/* 0, or -1 with ERR_LIMIT: which cost is over its bound, and what can be done. */
int budget_check(const struct budget *b, struct err *err) MUST_USE;

/*
 * Waits until nobody else of this budget holds a large window, and holds it: several layers with
 * windows of 128 MiB are decompressed one after the other. ERR_INTERRUPTED. With NULL nobody waits.
 */
int budget_hold_window(struct budget *b, struct err *err) MUST_USE;
void budget_release_window(struct budget *b);

#endif

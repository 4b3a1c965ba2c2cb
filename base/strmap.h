/*
 * A small map from string to string (annotations, labels, environment): an array in insertion
 * order, keys unique, all memory in the arena given to strmap_set.
 */
#ifndef SLIPWAY_BASE_STRMAP_H
#define SLIPWAY_BASE_STRMAP_H

#include <stddef.h>

#include "base/arena.h"

struct strpair {
	const char *key;
	const char *value;
};

struct strmap {
	struct strpair *at;
	size_t n;
	size_t cap;
};

/* Sets key to value (both copied), replacing the value in place when the key exists. */
void strmap_set(struct strmap *map, struct arena *a, const char *key, const char *value);

/* The value of key, or NULL. */
const char *strmap_get(const struct strmap *map, const char *key);

/* Sorts the pairs by key in byte order. */
void strmap_sort(struct strmap *map);

#endif

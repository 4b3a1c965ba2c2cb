/*
 * Where the build cache keeps things: shared by cache.c and cache_prune.c, nobody else's business.
 */
#ifndef SLIPWAY_BUILDER_LAYER_PACK_CACHE_DIR_H
#define SLIPWAY_BUILDER_LAYER_PACK_CACHE_DIR_H

#include <limits.h>

#include "base/attr.h"

struct layer_cache;

#define CACHE_BLOBS   "blobs"
#define CACHE_RECORDS "records"

/* dir/folder/name into out; -1 when it is too long. */
int cache_path(char out[PATH_MAX], const char *dir, const char *folder, const char *name) MUST_USE;

/* The cache's folder, borrowed. */
const char *cache_dir(const struct layer_cache *c);

#endif

/*
 * Answers about a base image that outlive the build: a reader of base files in front of another,
 * which is asked only what was never asked before. The build cache keeps the answers by the digest
 * of the base's manifest, which decides them all, so that an unchanged build reads no base layer.
 * What may be asked has a limit (ERR_LIMIT), for a base's ELF files say what to look for next.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_BASE_MEMO_H
#define SLIPWAY_BUILDER_IMAGE_BASE_MEMO_H

#include "builder/layer/pack/cache.h"
#include "builder/layer/source/base_files.h"
#include "builder/oci/platform.h"

/*
 * Reads what the cache (NULL = none) remembers; `inner` is borrowed, outlives it and
 * answers the rest. Of the
 * manifest the digest counts, and the architecture whose loaders are looked for.
 */
struct base_files *base_memo_open(struct base_files *inner, struct layer_cache *cache,
                                  const struct digest *manifest, const struct platform *platform);

/* Puts what was learnt into the cache, and frees; accepts NULL. */
void base_memo_close(struct base_files *files);

#endif

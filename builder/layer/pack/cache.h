/*
 * The build cache: which blob a layer became. Two questions, both answered by one small file each:
 *
 *   stat key  -> diff ID   a hint: entries with device, inode, size, mtime and ctime of every
 * source file unchanged mean the tar is unchanged, without reading a byte diff ID + codec -> blob
 * the truth: content addressed, so a fresh checkout on another machine hits
 *
 * A third record, keyed by paths and sizes only, says whether it is worth computing the diff ID
 * before compressing. Blobs live in DIR/blobs as hard links of what the layouts hold; DIR is
 * $XDG_CACHE_HOME/slipway. Losing any of it costs time, never correctness: a blob enters a layout
 * only after it was read whole and has its digest; one that has not is removed, and progress is
 * told. What a layout holds already is the layout's own and costs a stat: whoever reads it (push,
 * export, the check, a deploy's registry) verifies it then. So a rebuild in place reads nothing,
 * and one into a new layout reads its blobs once, at the speed of SHA-256. Thread
 * rule: safe from several threads and processes.
 */
#ifndef SLIPWAY_BUILDER_LAYER_PACK_CACHE_H
#define SLIPWAY_BUILDER_LAYER_PACK_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/crypto/digest.h"
#include "base/err.h"
#include "base/progress.h"
#include "base/strbuf.h"
#include "builder/oci/layout.h"
#include "builder/oci/mediatype.h"

struct layer_cache; /* opaque */

/* Opens (creates) the cache in dir, which has to be the user's own: cache_check_owner. */
int cache_open(const char *dir, struct layer_cache **ret_cache, struct err *err) MUST_USE;
void cache_close(struct layer_cache *c); /* accepts NULL */

/* Who is told of damaged blobs; borrowed, NULL = nobody. */
void cache_tell(struct layer_cache *c, struct progress *progress);

struct cache_blob {
	struct digest diff_id, digest;
	int64_t size, raw_size;
};

/* True with *ret_diff_id when the stat key is known. */
bool cache_find_stat(struct layer_cache *c, const struct digest *stat_key,
                     struct digest *ret_diff_id);
void cache_put_stat(struct layer_cache *c, const struct digest *stat_key,
                    const struct digest *diff_id);

/* True when a layer of this shape (paths and sizes) was packed before. */
bool cache_find_shape(struct layer_cache *c, const struct digest *shape_key);
void cache_put_shape(struct layer_cache *c, const struct digest *shape_key);

/* Finds a blob by diff ID and format text, and makes sure that `layout` holds it (linking it
 * there). */
bool cache_find_blob(struct layer_cache *c, const struct digest *diff_id, const char *format,
                     struct layout *layout, struct cache_blob *ret_blob);

/* Remembers a blob that `layout` holds. Failure to remember is not an error. */
void cache_put_blob(struct layer_cache *c, const char *format, struct layout *layout,
                    const struct cache_blob *blob);

/* A verified foreign blob (base layers): link between cache and layout by digest alone. False when
 * the cache has none, or had a damaged one. */
bool cache_fetch(struct layer_cache *c, const struct digest *digest, int64_t size,
                 struct layout *layout);
void cache_store(struct layer_cache *c, const struct digest *digest, struct layout *layout);

/* Remembered verdicts of the image check, by an opaque key. */
bool cache_find_verdict(struct layer_cache *c, const struct digest *key);
void cache_put_verdict(struct layer_cache *c, const struct digest *key);

/*
 * What was learnt of a base image, by an opaque key: one line of text of at most CACHE_FACTS_MAX
 * bytes, appended to `facts` when it is there and whole. Longer text is not remembered.
 */
enum { CACHE_FACTS_MAX = 4 << 20 };
bool cache_find_facts(struct layer_cache *c, const struct digest *key, struct strbuf *facts);
void cache_put_facts(struct layer_cache *c, const struct digest *key, const char *facts);

/* Removes least recently used blobs until at most max_bytes remain. */
int cache_prune(struct layer_cache *c, int64_t max_bytes, struct err *err) MUST_USE;

#endif

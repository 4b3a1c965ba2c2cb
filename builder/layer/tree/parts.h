/*
 * One tree as several: by size, for layers that change little from build to build, and by what is
 * equal on all platforms.
 */
#ifndef SLIPWAY_BUILDER_LAYER_TREE_PARTS_H
#define SLIPWAY_BUILDER_LAYER_TREE_PARTS_H

#include "builder/layer/tree/tree.h"

/*
 * Splits a finished tree into parts of about `target` bytes of content by a stable rule: whole
 * files, the part chosen by the hash of the path's folder, never by size order, so that one changed
 * file changes one part; hard links stay with their file. Parts share the arena and the spool of t,
 * which outlives them: no tree_done for a part. Each part holds the parents of what is in it, as
 * they are in t. *ret_parts is in the arena; empty parts are left out.
 */
int tree_split(const struct tree *t, int64_t target, struct tree **ret_parts, size_t *ret_n,
               struct err *err) MUST_USE;

/*
 * Takes out of the n trees (one per platform, n >= 2) the regular files that are equal in all of
 * them: same path, metadata and content, in folders of equal metadata. They land in *ret_shared
 * with their folders; *ret_shared is empty (n == 0) when nothing is equal. Files of hard-link
 * groups, and everything else, stay where they were; implied folders left empty go. *ret_shared
 * lives in the arena and spool of trees[0], which outlives it: no tree_done for it. ERR_IO when a
 * file cannot be compared.
 */
int tree_share(struct tree *const *trees, size_t n, struct tree *ret_shared,
               struct err *err) MUST_USE;

#endif

/*
 * A finished tree as a tar: headers and contents in order, read straight into the blocks of a
 * tar_out. A regular file must be what the tree says it is from its first byte to its last.
 */
#ifndef SLIPWAY_BUILDER_LAYER_PACK_PACK_H
#define SLIPWAY_BUILDER_LAYER_PACK_PACK_H

#include "base/progress.h"
#include "builder/layer/pack/blocks.h"
#include "builder/layer/tree/tree.h"

/*
 * Writes the whole tar. ERR_CONFLICT when a file on disk is not the one that was listed (size,
 * time, identity) or changes while it is read; ERR_INTERRUPTED when a stop was requested.
 * `progress` (may be NULL) task `task` advances by bytes of content.
 */
int pack_tree(const struct tree *t, struct tar_out *out, struct progress *progress, unsigned task,
              struct err *err) MUST_USE;

#endif

/*
 * A layer that is not packed yet as the result of a scan, so that one reader (inventory_read)
 * serves images and trees. ELF files are looked for among those that may be executed and those with
 * ".so" in their name: nothing else is opened, unless every file is wanted.
 */
#ifndef SLIPWAY_BUILDER_SBOM_TREE_SCAN_H
#define SLIPWAY_BUILDER_SBOM_TREE_SCAN_H

#include "builder/check/scan.h"
#include "builder/layer/tree/tree.h"

/*
 * Fills the zeroed scan's members with the tree's entries (finished), up to now without a blob; of
 * every file the digest when `digests`. The tree outlives the scan.
 */
int tree_scan(const struct tree *t, bool digests, struct layer_scan *scan,
              struct err *err) MUST_USE;

/* The entry that a member of such a scan was made from. */
const struct entry *tree_scan_entry(const struct scan_member *m);

#endif

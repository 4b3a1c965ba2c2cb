/*
 * The members of a tar, as a zTOC lists them.
 */
#ifndef SLIPWAY_BUILDER_LAYER_ZTOC_TOC_H
#define SLIPWAY_BUILDER_LAYER_ZTOC_TOC_H

#include "base/stream.h"
#include "builder/layer/tree/tree.h"
#include "builder/layer/ztoc/ztoc.h"

/*
 * Reads the tar to its end mark, a record of zeros and what follows it up to a second one, and
 * sets z->files and z->unpacked. ERR_FORMAT as tar_read.h; ERR_UNSUPPORTED for a sparse file or a
 * member of a kind that no zTOC can name; ERR_LIMIT as ztoc_weigh.
 */
int toc_of_tar(struct source *tar, struct ztoc *z, struct err *err) MUST_USE;

/* The same of the tar that a finished tree makes, without its contents. */
int toc_of_tree(const struct tree *t, struct ztoc *z, struct err *err) MUST_USE;

#endif

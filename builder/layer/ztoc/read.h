/*
 * A zTOC of a layer that somebody made, by reading it once.
 */
#ifndef SLIPWAY_BUILDER_LAYER_ZTOC_READ_H
#define SLIPWAY_BUILDER_LAYER_ZTOC_READ_H

#include "base/stream.h"
#include "builder/layer/ztoc/ztoc.h"

/*
 * Reads `packed`, a gzip file (borrowed), to its end into z, fresh from ztoc_init. ERR_FORMAT for
 * damaged data, ERR_UNSUPPORTED and ERR_LIMIT as toc.h: a layer that has to do without.
 */
int ztoc_read(struct source *packed, struct ztoc *z, struct err *err) MUST_USE;

#endif

/*
 * zTOCs of layers, as blobs of a layout: made while the layer is packed, remembered by the build
 * cache, or made by reading the layer. All three give the same bytes.
 */
#ifndef SLIPWAY_BUILDER_LAYER_PACK_ZTOCS_H
#define SLIPWAY_BUILDER_LAYER_PACK_ZTOCS_H

#include "base/progress.h"
#include "builder/layer/pack/cache.h"
#include "builder/layer/ztoc/ztoc.h"
#include "builder/oci/layout.h"

/* What is written into a zTOC as its maker. Part of its bits, so no version stands in it. */
#define ZTOCS_TOOL "slipway"

/* Smaller layers have none: reading them whole is as fast. What SOCI's own tool takes. */
enum { ZTOCS_LAYER_MIN = 10 << 20 };

struct ztocs {
	struct layout *layout;     /* where zTOCs go */
	struct layer_cache *cache; /* NULL = none */
	struct progress *progress; /* NULL = silent */
};

/* A layer that is to be read, if nobody remembers its zTOC. */
struct ztocs_layer {
	struct store *store; /* that has the layer */
	const struct descriptor *desc;
};

/* Stores z, the zTOC of the layer with this digest. */
int ztocs_put(const struct ztocs *s, const struct ztoc *z, const struct digest *layer,
              struct descriptor *ret_ztoc, struct err *err) MUST_USE;

/*
 * Remembers, or reads the layer. A layer that cannot have one (a sparse file, too many members)
 * gets a note and a zTOC of size 0.
 */
int ztocs_of_layer(const struct ztocs *s, const struct ztocs_layer *layer,
                   struct descriptor *ret_ztoc, struct err *err) MUST_USE;

#endif

/*
 * Decompression as a source: gzip (any number of members), zstd (any number of frames) or none.
 */
#ifndef SLIPWAY_OCI_INFLATE_H
#define SLIPWAY_OCI_INFLATE_H

#include "base/stream.h"
#include "builder/oci/mediatype.h"

/*
 * Takes over `inner` (compressed bytes). Reads to the very end of it, so that a verifying inner
 * source has its say; ERR_FORMAT for damaged or truncated data.
 */
MUST_USE struct source *inflate_source(struct source *inner, enum compression compression);

#endif

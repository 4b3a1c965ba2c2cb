/*
 * Decompression of layers as a source, by hand, because a diff ID is over the exact bytes.
 * Thread rule: a source belongs to one thread at a time.
 */
#ifndef SLIPWAY_BUILDER_OCI_DECOMPRESS_H
#define SLIPWAY_BUILDER_OCI_DECOMPRESS_H

#include "base/stream.h"
#include "builder/oci/budget.h"
#include "builder/oci/mediatype.h"

/*
 * The uncompressed bytes of `in`, taken over, also on failure: every gzip member (RFC 1952, 2.2),
 * every zstd frame (RFC 8878, 3) in turn. Reads `in` to its end. Reading gives ERR_FORMAT for
 * damaged or cut data and ERR_LIMIT for a zstd window over 128 MiB. Of the sources of one budget
 * (may be NULL, else it outlives them) one at a time has a window over 16 MiB.
 */
MUST_USE struct source *source_decompress(struct source *in, enum compression compression,
                                          struct budget *budget);

#endif

/*
 * Decompression as a source: the codecs of layers by hand, because a diff ID is over the exact
 * bytes; anything libarchive reads for archives that users bring. Neither runs another program.
 * Thread rule: a source belongs to one thread at a time.
 */
#ifndef SLIPWAY_LAYER_DECOMPRESS_H
#define SLIPWAY_LAYER_DECOMPRESS_H

#include "base/stream.h"
#include "builder/oci/mediatype.h"

/*
 * The uncompressed bytes of `in`, taken over, also on failure: every gzip member (RFC 1952, 2.2),
 * every zstd frame (RFC 8878, 3) in turn. Reads `in` to its end. Reading gives ERR_FORMAT for
 * damaged or cut data and ERR_LIMIT for a zstd window over 128 MiB.
 */
MUST_USE struct source *source_decompress(struct source *in, enum compression compression);

/*
 * The uncompressed bytes of `in` (taken over, also on failure), whose compression is found out:
 * gzip, bzip2, xz, lzma, lzip, lz4, zstd, compress, uuencode, several of them nested, or none.
 */
int source_unpack(struct source *in, struct source **ret_source, struct err *err) MUST_USE;

#endif

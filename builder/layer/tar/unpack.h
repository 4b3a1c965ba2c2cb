/*
 * Decompression of archives that users bring: whatever libarchive reads, found out from the bytes.
 * Runs no other program. Thread rule: a source belongs to one thread at a time.
 */
#ifndef SLIPWAY_BUILDER_LAYER_TAR_UNPACK_H
#define SLIPWAY_BUILDER_LAYER_TAR_UNPACK_H

#include "base/stream.h"

/*
 * The uncompressed bytes of `in` (taken over, also on failure), whose compression is found out:
 * gzip, bzip2, xz, lzma, lzip, lz4, zstd, compress, uuencode, several of them nested, or none.
 */
int source_unpack(struct source *in, struct source **ret_source, struct err *err) MUST_USE;

#endif

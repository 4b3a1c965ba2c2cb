/*
 * Tar headers, the deterministic way: ustar (POSIX.1-2017, pax, "ustar Interchange Format") where
 * the entry fits, a pax extended header before it where it does not. Knows nothing of files or
 * blocks. The rules are part of the declared bit format (docs/FORMAT.md): a change raises
 * LAYER_FORMAT_VERSION.
 */
#ifndef SLIPWAY_BUILDER_LAYER_TAR_TAR_H
#define SLIPWAY_BUILDER_LAYER_TAR_TAR_H

#include <stdint.h>

#include "base/strbuf.h"
#include "builder/layer/tree/tree.h"

enum {
	TAR_BLOCK = 512,            /* bytes of a record */
	TAR_END_BYTES = 1024,       /* two zero records end the archive; no further padding */
	TAR_PAX_BYTES_MAX = 1 << 20 /* what Go's archive/tar, so every container runtime, reads */
};

/*
 * Appends the header records of one entry: [pax header, its records] header. ERR_LIMIT when the
 * extended header is larger than TAR_PAX_BYTES_MAX, ERR_FORMAT when an attribute's name holds '='.
 */
int tar_header(const struct entry *e, struct strbuf *sb, struct err *err) MUST_USE;

/* Zero bytes that follow `size` bytes of content: 0..511. */
size_t tar_padding(int64_t size);

#endif

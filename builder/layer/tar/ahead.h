/*
 * Reads a source ahead on a thread of its own, so that decompression and what is done with the
 * bytes share two processors. Bytes come in large chunks, lent without a copy. Holds about 1 MiB.
 * Thread rule: one thread calls these functions; the source is read by another one until
 * ahead_close.
 */
#ifndef SLIPWAY_BUILDER_LAYER_TAR_AHEAD_H
#define SLIPWAY_BUILDER_LAYER_TAR_AHEAD_H

#include "base/stream.h"

struct ahead; /* opaque */

/* Takes `in` over. Without a thread (the machine refuses one) chunks are read when asked for. */
MUST_USE struct ahead *ahead_new(struct source *in);

/* The next chunk, valid until the next call; *ret_n = 0 at the end. The error is that of the
 * source. */
int ahead_next(struct ahead *a, const unsigned char **ret_bytes, size_t *ret_n,
               struct err *err) MUST_USE;

void ahead_close(struct ahead *a); /* accepts NULL; may be called before the end */

#endif

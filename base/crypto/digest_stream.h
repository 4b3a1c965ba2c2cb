/*
 * Streams that know the digest of what passes: a sink that computes it, a source that holds the
 * bytes against an expected one.
 */
#ifndef SLIPWAY_BASE_CRYPTO_DIGEST_STREAM_H
#define SLIPWAY_BASE_CRYPTO_DIGEST_STREAM_H

#include "base/crypto/digest.h"
#include "base/stream.h"

/* A sink that hashes and counts, and passes the bytes on to `next` (NULL = nowhere). */
struct digest_sink {
	struct sink sink;
	struct hasher hasher;
	int64_t bytes;
	struct sink *next;
};
void digest_sink_init(struct digest_sink *s, struct sink *next);
struct digest digest_sink_final(struct digest_sink *s); /* once */
void digest_sink_done(struct digest_sink *s);

/*
 * A source that passes `inner` (taken over) on and fails with ERR_DIGEST at the end, or as soon as
 * there are too many bytes, unless exactly `size` bytes with `digest` were read.
 */
MUST_USE struct source *source_verified(struct source *inner, const struct digest *digest,
                                        int64_t size);

#endif

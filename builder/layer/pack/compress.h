/*
 * The codecs of layers, one block at a time. A compressed layer is head + blocks + tail, and every
 * block is compressed on its own, so that any number of threads gives the same bytes:
 *
 *   none  the bytes
 *   gzip  one member (RFC 1952): each block is DEFLATE blocks brought to a byte border; the tail
 * ends the stream and holds CRC-32 and length zstd  each block is a frame with its content size and
 * without checksum (RFC 8878, 3.1.1)
 *
 * Block sizes and parameters are part of the declared bit format (docs/FORMAT.md).
 * Thread rule: one codec belongs to one thread.
 */
#ifndef SLIPWAY_BUILDER_LAYER_PACK_COMPRESS_H
#define SLIPWAY_BUILDER_LAYER_PACK_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "builder/oci/mediatype.h"

enum { CODEC_HEAD_MAX = 16, CODEC_TAIL_MAX = 16 };

struct codec; /* opaque: encoder state of one thread */

/* 0 = the default level. ERR_USAGE when the codec has no such level: gzip 1..12, zstd 1..19. */
int codec_level(enum compression compression, int level, int *ret_level, struct err *err) MUST_USE;

/* `level` as codec_level gives it. Aborts when memory runs out. */
MUST_USE struct codec *codec_new(enum compression compression, int level);
void codec_free(struct codec *c); /* accepts NULL */

/* Bytes of a whole block, and the room its compressed form needs at most. */
size_t codec_block_size(enum compression compression);
size_t codec_bound(enum compression compression);

/* "zstd-1.5.4", "libdeflate-1.14", "tar": the encoder whose bits these are. Static. */
const char *codec_encoder(enum compression compression);

/*
 * Compresses one block of len <= codec_block_size bytes into out (codec_bound bytes); gzip also
 * gives the block's CRC-32 in *ret_crc (others 0).
 */
int codec_block(struct codec *c, const void *bytes, size_t len, void *out, size_t *ret_len,
                uint32_t *ret_crc, struct err *err) MUST_USE;

/* What stands before the first and behind the last block; returns its length, maybe 0. */
size_t codec_head(enum compression compression, unsigned char out[CODEC_HEAD_MAX]);
size_t codec_tail(enum compression compression, uint32_t crc, uint64_t raw_size,
                  unsigned char out[CODEC_TAIL_MAX]);

/* CRC-32 of A and B joined, from that of each. */
uint32_t codec_crc_join(uint32_t crc_a, uint32_t crc_b, size_t len_b);

#endif

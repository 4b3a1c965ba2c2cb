/*
 * Joining DEFLATE streams (RFC 1951) without recompressing them. An encoder that only makes whole
 * streams marks its last block as final; here that mark is cleared and the stream is brought to a
 * byte border by an empty stored block, so that another stream can simply follow.
 *
 * The end of each block is only known by reading its codes; that is done without producing a byte
 * of output. Distances are not resolved, so a stream that a decoder would refuse for what it copies
 * is passed on as it is. Hostile streams give ERR_FORMAT. Pure functions on memory.
 */
#ifndef SLIPWAY_BUILDER_LAYER_PACK_DEFLATE_JOIN_H
#define SLIPWAY_BUILDER_LAYER_PACK_DEFLATE_JOIN_H

#include <stddef.h>

#include "base/err.h"

enum { DEFLATE_JOIN_SLACK = 16 /* bytes of room needed behind a stream */ };

/* One complete stream bytes[0..len) in a buffer of `cap` >= len + DEFLATE_JOIN_SLACK bytes;
 * borrowed. */
struct deflate_stream {
	unsigned char *bytes;
	size_t len, cap;
};

/*
 * Turns the stream into one that goes on, at most 5 bytes longer. ERR_FORMAT when it is malformed,
 * does not end, or ends before its last byte.
 */
int deflate_join(struct deflate_stream *s, struct err *err) MUST_USE;

/* The same for two streams at once, which takes little longer than for one. */
int deflate_join_two(struct deflate_stream *s, struct deflate_stream *r, struct err *err) MUST_USE;

#endif

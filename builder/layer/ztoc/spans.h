/*
 * The points of a gzip stream where decompression can begin, and the digests of the spans between
 * them. One lies before the first DEFLATE block; another at the end of each block, but the last of
 * a stream, that is more than the span's bytes behind the point before it.
 * Source: awslabs/soci-snapshotter, ztoc/compression/gzip_zinfo.c (after zlib's examples/zran.c).
 *
 * A stream is taken in one of two ways: a reader gives any gzip file and gets its bytes inflated; a
 * writer that knows how its stream is made gives it piece by piece, and only the pieces in which a
 * point falls are inflated again. Both find the same points.
 * Thread rule: an object belongs to one thread at a time.
 */
#ifndef SLIPWAY_BUILDER_LAYER_ZTOC_SPANS_H
#define SLIPWAY_BUILDER_LAYER_ZTOC_SPANS_H

#include "base/stream.h"
#include "builder/layer/ztoc/ztoc.h"

/* A source of the uncompressed bytes of `packed` (borrowed), every member of it, which fills
 * z->points and z->packed, complete when it has been read to its end. ERR_FORMAT as decompress.h,
 * ERR_LIMIT as ztoc_weigh. */
MUST_USE struct source *spans_reader(struct source *packed, struct ztoc *z);

struct spans_writer; /* opaque */

MUST_USE struct spans_writer *spans_writer_new(struct ztoc *z);
void spans_writer_free(struct spans_writer *w); /* accepts NULL */

/* Bytes of DEFLATE blocks that begin and end at a byte's border, none of them final, and refer to
 * nothing before them. */
struct spans_piece {
	const void *bytes;
	size_t len;
	size_t raw_len;
	const unsigned char *raw_end; /* the last bytes of what they stand for, */
	size_t raw_end_len;           /* ZTOC_WINDOW of them, or all */
};

/* The stream in order: what stands before its blocks (a gzip header), the blocks, what ends it. */
void spans_writer_head(struct spans_writer *w, const void *bytes, size_t len);
int spans_writer_piece(struct spans_writer *w, const struct spans_piece *piece,
                       struct err *err) MUST_USE;
void spans_writer_tail(struct spans_writer *w, const void *bytes, size_t len);

#endif

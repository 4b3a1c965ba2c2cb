/*
 * A zTOC: what a reader needs to take single files out of a gzip layer. It lists the tar's members
 * with the place of their content, and points in the compressed stream from which decompression can
 * begin. Pure: no files. Made from a layer by reading it (read.h) or while it is packed (spans.h,
 * toc.h).
 * Source: awslabs/soci-snapshotter, ztoc/fbs/ztoc.fbs and ztoc/compression/gzip_zinfo.c. The tables
 * are written in the order of its own builder, so that equal layers give equal bytes.
 */
#ifndef SLIPWAY_BUILDER_LAYER_ZTOC_ZTOC_H
#define SLIPWAY_BUILDER_LAYER_ZTOC_ZTOC_H

#include <stdint.h>

#include "base/arena.h"
#include "base/crypto/digest.h"
#include "base/mem.h"
#include "base/strbuf.h"

/* Bytes of uncompressed data between two points, at least: what every SOCI tool takes. */
enum { ZTOC_SPAN_BYTES = 4 << 20, ZTOC_WINDOW = 32 << 10 };

/* A zTOC is held in memory while it is made; this is one for a layer of some 60 GB. */
enum { ZTOC_BYTES_MAX = 512 << 20 };

/* One record of a member's pax header. */
struct ztoc_record {
	const char *key, *value;
	size_t value_len;
};

struct ztoc_file {
	const char *name, *link, *user, *group; /* as stored; "" = none */
	const char *type;                       /* "reg", "dir", ... ; static */
	const char *time;                       /* RFC 3339, "" when its year has not four digits */
	int64_t offset, size;                   /* of the content in the uncompressed tar */
	int64_t mode, major, minor;
	uint32_t uid, gid;
	struct ztoc_record *records; /* sorted by key */
	size_t n_records;
};

/* A point where decompression can begin, and the digest of the compressed bytes up to the next. */
struct ztoc_point {
	int64_t in;   /* offset of the first whole compressed byte */
	int64_t out;  /* uncompressed bytes before it */
	uint8_t bits; /* of the byte before `in` that belong behind the point, 0..7 */
	unsigned char window[ZTOC_WINDOW]; /* the uncompressed bytes before it, oldest first */
	struct digest span;
};

struct ztoc {
	struct arena arena; /* of the files' texts */
	VEC(struct ztoc_file) files;
	VEC(struct ztoc_point *) points; /* each on the heap */
	int64_t span_bytes;              /* see ZTOC_SPAN_BYTES */
	int64_t packed, unpacked;        /* bytes of the layer, and of its tar up to its end mark */
	size_t weight; /* bytes that it will take, roughly; bounded by ZTOC_BYTES_MAX */
};

void ztoc_init(struct ztoc *z, int64_t span_bytes);
void ztoc_done(struct ztoc *z); /* for AUTO(ztoc), of a zeroed one too */

/* Counts `bytes` of what is to be added; ERR_LIMIT beyond ZTOC_BYTES_MAX. */
int ztoc_weigh(struct ztoc *z, size_t bytes, struct err *err) MUST_USE;

/* The bytes of the zTOC; caller: strbuf_done. `tool` is written into it, so it is part of them. */
int ztoc_print(const struct ztoc *z, const char *tool, struct strbuf *ret_bytes,
               struct err *err) MUST_USE;

#endif

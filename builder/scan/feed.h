/*
 * The documents of a database file, one after another and each parsed: what people have of a
 * database is a zip archive, a folder, or one JSON text, compressed or not (gzip, xz, zstd, bzip2).
 *
 *   all.zip, a folder     a record in each member NAME.json
 *   [ {...}, {...} ]      a record in each entry, as in {...} {...}, one behind the other
 *   { "glibc": {...} }    Debian's tracker: what each member says, with its key
 *
 * No more than one document is in memory. Caps: FEED_DOCUMENT_MAX, FEED_DOCUMENTS_MAX,
 * FEED_BYTES_MAX uncompressed.
 */
#ifndef SLIPWAY_BUILDER_SCAN_FEED_H
#define SLIPWAY_BUILDER_SCAN_FEED_H

#include "base/jsonr.h"

enum { FEED_DOCUMENT_MAX = 64 << 20, FEED_DOCUMENTS_MAX = 10000000 };
#define FEED_BYTES_MAX ((int64_t)16 << 30)

struct feed_document {
	const char *key; /* of the member that it is; NULL: it stands for itself */
	const struct jsonr *doc;
};

typedef int feed_take(void *ctx, const struct feed_document *d, struct err *err);

struct feed_facts {
	int64_t modified_ms; /* of the file or folder */
	size_t n;            /* documents */
};

/* ERR_NOT_FOUND, ERR_IO, ERR_FORMAT with document and position, ERR_LIMIT, ERR_INTERRUPTED, or
 * what `take` fails with. Messages name the file. */
int feed_read(const char *path, feed_take *take, void *ctx, struct feed_facts *ret_facts,
              struct err *err) MUST_USE;

#endif

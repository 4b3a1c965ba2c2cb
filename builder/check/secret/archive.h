/*
 * Looks into one archive while it streams by: gzip (RFC 1952; also several members) and zip
 * (APPNOTE 6.3; so wheels, jars, eggs), stored or deflated. Members are handed on as they come;
 * nothing is kept, and what is inside a member is not unpacked again. Zip is read by its local
 * headers, so that bytes which the central directory no longer names are seen, too. Bounded: in
 * bytes of one archive, and of all of them together by a budget. Nobody outside this room includes
 * it.
 */
#ifndef SLIPWAY_BUILDER_CHECK_SECRET_ARCHIVE_H
#define SLIPWAY_BUILDER_CHECK_SECRET_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Unpacked bytes of one archive that are looked at. */
#define ARCHIVE_BYTES_MAX (INT64_C(128) << 20)
enum { ARCHIVE_NAME_MAX = 256 };

struct archive_events {
	void (*begin)(void *ctx, const char *name); /* name: cut to ARCHIVE_NAME_MAX, "" in gzip */
	void (*bytes)(void *ctx, const void *bytes, size_t len);
	void (*end)(void *ctx);
	void *ctx;
};

enum archive_result {
	ARCHIVE_WHOLE,     /* all of it was looked at */
	ARCHIVE_TOO_LARGE, /* a bound was met */
	ARCHIVE_UNREADABLE /* encrypted, damaged, or of a method that we do not read */
};

struct secret_archive; /* opaque; reused from file to file */

struct secret_archive *secret_archive_new(const struct archive_events *events);
void secret_archive_free(struct secret_archive *a);

/*
 * A file begins with these bytes: whether it is an archive. *budget is what may still be
 * unpacked; it is borrowed until secret_archive_end, and counted down.
 */
bool secret_archive_begin(struct secret_archive *a, const void *bytes, size_t len, int64_t *budget);
void secret_archive_feed(struct secret_archive *a, const void *bytes, size_t len);
enum archive_result secret_archive_end(struct secret_archive *a);

#endif

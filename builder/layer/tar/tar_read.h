/*
 * Reading a tar stream member by member: v7, ustar and pax (POSIX.1-2017, pax), GNU long names,
 * sparse files in GNU's old form and in pax forms 0.0, 0.1 and 1.0, with holes filled by zeros.
 * Names are bytes: no character set, no locale. Interprets as container runtimes do (Go's
 * archive/tar): links, folders and devices have no content, global pax headers say nothing of
 * members. Hostile input is expected: every number is checked, every header has a cap. Does not
 * extract, does not judge paths.
 *
 *   struct tar_reader *r = tar_reader_new(source);
 *   while (tar_reader_next(r, &member, &more, err) == 0 && more)
 *           tar_reader_read(r, buf, sizeof(buf), &n, err) ...
 *   tar_reader_free(r);
 *
 * Ownership: the source is borrowed; what a member points to is valid until the next call.
 * Thread rule: one reader belongs to one thread.
 */
#ifndef SLIPWAY_BUILDER_LAYER_TAR_TAR_READ_H
#define SLIPWAY_BUILDER_LAYER_TAR_TAR_READ_H

#include "base/stream.h"
#include "builder/layer/tar/reader.h"

enum { TAR_PATH_MAX = 4096, TAR_MEMBERS_MAX = 8000000, TAR_SPARSE_MAX = 1 << 20 };

struct tar_reader; /* opaque */

MUST_USE struct tar_reader *tar_reader_new(struct source *in);
void tar_reader_free(struct tar_reader *r); /* accepts NULL */

/*
 * The next member; *ret_more = false behind the last one. Unread content is skipped. The size of a
 * sparse file is that with its holes. ERR_FORMAT when the stream is damaged or cut, ERR_LIMIT
 * beyond a cap.
 */
int tar_reader_next(struct tar_reader *r, struct member *ret_member, bool *ret_more,
                    struct err *err) MUST_USE;

/* Content of the current regular file; *ret_n = 0 at its end, at once for other types. */
int tar_reader_read(struct tar_reader *r, void *buf, size_t cap, size_t *ret_n,
                    struct err *err) MUST_USE;

/*
 * True once the end was marked by a zero record. A stream that ends between two members without one
 * is read without complaint, as runtimes do; it may be a cut one.
 */
bool tar_reader_marked_end(const struct tar_reader *r);

#endif

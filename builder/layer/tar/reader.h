/*
 * Reading a layer blob back: decompression and tar, member by member, for the image check, diff and
 * base images. Never extracts to disk. Caps: path 4096 bytes, 8 million members, zstd windows of
 * 128 MiB (RFC 8878, 3.1.1.1.2), and a budget (builder/oci/budget.h) of unpacked bytes, holes
 * included. Links, folders and devices have no content, whatever size their header claims, as
 * container runtimes read them. Sparse files are read with their holes. Names are bytes: no locale.
 * Thread rule: one reader belongs to one thread; it reads the blob on a thread of its own.
 */
#ifndef SLIPWAY_BUILDER_LAYER_TAR_READER_H
#define SLIPWAY_BUILDER_LAYER_TAR_READER_H

#include "base/arena.h"
#include "base/crypto/digest.h"
#include "base/stream.h"
#include "builder/layer/tree/tree.h"
#include "builder/oci/budget.h"

enum member_type {
	MEMBER_FILE,
	MEMBER_DIR,
	MEMBER_SYMLINK,
	MEMBER_HARDLINK,
	MEMBER_CHAR,
	MEMBER_BLOCK,
	MEMBER_FIFO,
	MEMBER_OTHER
};

struct member {
	/* As stored, without leading "./" and "/" and trailing '/'; "" is the root. Valid until the
	 * next call. */
	const char *path;
	enum member_type type;
	uint32_t mode, uid, gid;
	int64_t mtime, size;
	int64_t holes; /* bytes of the size that a sparse file does not store */
	const char *
		link; /* symlink target, or hard-link path normalised like `path`; NULL otherwise */
	size_t n_xattrs;
	const struct entry_xattr *xattrs; /* sorted by name */
};

struct layer_reader; /* opaque */

/*
 * Takes over `blob` (the compressed bytes, usually verified by the store), also on failure.
 * ERR_UNSUPPORTED for a media type that is no layer's. What it may unpack to is bounded by its own
 * weight, or by a budget that it shares (borrowed; it outlives the reader).
 */
int layer_reader_open(struct source *blob, const char *media_type, struct layer_reader **ret_reader,
                      struct err *err) MUST_USE;
int layer_reader_open_within(struct source *blob, const char *media_type, struct budget *budget,
                             struct layer_reader **ret_reader, struct err *err) MUST_USE;

/*
 * The next member; *ret_more = false at the end. Unread content of the last one is skipped.
 * ERR_FORMAT when the blob is damaged or cut, ERR_LIMIT beyond a cap, or the blob's own error.
 */
int layer_reader_next(struct layer_reader *r, struct member *ret_member, bool *ret_more,
                      struct err *err) MUST_USE;

/* Reads content of the current regular file; *ret_n = 0 at its end. */
int layer_reader_read(struct layer_reader *r, void *buf, size_t cap, size_t *ret_n,
                      struct err *err) MUST_USE;

/*
 * Reads the blob to its very end (so that its digest is verified) and gives the digest of the
 * uncompressed tar, the diff ID. Call once, after the last member.
 */
int layer_reader_finish(struct layer_reader *r, struct digest *ret_diff_id, int64_t *ret_raw_size,
                        struct err *err) MUST_USE;

void layer_reader_close(struct layer_reader *r); /* accepts NULL */

#endif

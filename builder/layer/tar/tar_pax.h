/*
 * Inside of tar_read.c: numbers, pax extended headers and maps of sparse files. Nobody else
 * includes this.
 */
#ifndef SLIPWAY_BUILDER_LAYER_TAR_TAR_PAX_H
#define SLIPWAY_BUILDER_LAYER_TAR_TAR_PAX_H

#include "base/mem.h"
#include "base/strbuf.h"
#include "builder/layer/tar/tar.h"
#include "builder/layer/tar/tar_raw.h"
#include "builder/layer/tar/tar_read.h"

/* A piece of a sparse file that is stored. */
struct tar_piece {
	int64_t offset, len;
};

struct tar_pieces {
	struct tar_piece *at;
	size_t n, cap;
};

struct tar_xattrs {
	struct entry_xattr *at;
	size_t n, cap;
};

struct tar_pax_records {
	struct tar_pax_record *at;
	size_t n, cap;
};

/* What extended headers said of the next member. Texts point into `records`. */
struct tar_pax {
	struct strbuf records;
	struct tar_pax_records all; /* in their order */
	const char *path, *link;
	int64_t size, uid, gid, mtime; /* with has_... */
	bool has_size, has_uid, has_gid, has_mtime;
	struct tar_xattrs xattrs; /* sorted by name once parsed */
	/* GNU.sparse.*: */
	bool sparse, map_in_content;
	const char *sparse_name;
	int64_t real_size;      /* -1 = not said */
	int64_t pending_offset; /* form 0.0: an offset without its length; -1 = none */
	struct tar_pieces map;
};

void tar_pax_reset(struct tar_pax *p);
void tar_pax_done(struct tar_pax *p);

/* Takes p->records apart. */
int tar_pax_parse(struct tar_pax *p, struct err *err) MUST_USE;

/* A number of a header: octal, or base-256 when its first bit is set (GNU, star). */
int tar_number(const unsigned char *field, size_t len, const char *what, int64_t *ret_value,
               struct err *err) MUST_USE;

/* Adds a piece; it must lie behind the one before it. */
int tar_map_add(struct tar_pieces *map, int64_t offset, int64_t len, struct err *err) MUST_USE;

/* Checks a complete map against the size with holes; *ret_stored = the bytes it stores. */
int tar_map_check(const struct tar_pieces *map, int64_t real_size, int64_t *ret_stored,
                  struct err *err) MUST_USE;

/* The map and real size of GNU's old form: in the header's tail, and in records behind it. */
int tar_gnu_map(struct source *in, const unsigned char *header, struct tar_pax *p,
                struct err *err) MUST_USE;

/* The map of form 1.0, at the beginning of a content of *stored bytes; takes off what it read. */
int tar_content_map(struct source *in, int64_t *stored, struct tar_pieces *map,
                    struct err *err) MUST_USE;

/* Exactly len bytes; *ret_end (if not NULL) when there are none at all. */
int tar_read_exactly(struct source *in, void *buf, size_t len, bool *ret_end,
                     struct err *err) MUST_USE;

/* Sets the error of a stream that is cut; returns -1. */
int tar_ends_early(struct err *err);

#endif

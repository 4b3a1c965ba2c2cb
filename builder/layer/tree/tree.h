/*
 * The content of one layer as a sorted list of entries, before a byte of it is packed.
 * Sources (files, tar, deb, closure, run-time data) add entries; tree_finish sorts them by path in
 * byte order, makes missing parent folders, merges equal ones and reports real duplicates. After
 * that the tree is immutable and says everything about the layer's bits.
 *
 * Ownership: entries' strings live in the arena given to tree_init. Spooled content (from archives)
 * lives in one unlinked temporary file, closed by tree_done. Thread rule: filled by one thread.
 */
#ifndef SLIPWAY_BUILDER_LAYER_TREE_TREE_H
#define SLIPWAY_BUILDER_LAYER_TREE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/err.h"
#include "base/srcpos.h"
#include "base/stream.h"

enum entry_type { ENTRY_FILE, ENTRY_DIR, ENTRY_SYMLINK, ENTRY_HARDLINK };

/* Where a regular file's bytes are. */
enum entry_content {
	CONTENT_NONE,  /* size 0, or not a regular file */
	CONTENT_PATH,  /* `source` on disk */
	CONTENT_BYTES, /* `bytes` in memory */
	CONTENT_SPOOL  /* `offset` in the tree's spool file */
};

struct entry_xattr {
	const char *name; /* "security.capability", "user.x" */
	const void *value;
	size_t len;
};

/* Identity of a file on disk, as a hint that its content has not changed. All zero = none. */
struct entry_stamp {
	uint64_t dev, ino;
	int64_t mtime_ns, ctime_ns;
};

/* The Debian package that brought an entry (deb-control(5)); NULL = the field is absent. */
struct entry_package {
	const char *name, *version, *architecture;
	const char *source; /* "NAME" or "NAME (VERSION)", as it stands there */
	const char *maintainer;
	const char *file; /* the .deb on this machine */
};

struct entry {
	/* in the image, no leading or trailing '/', no '.', no '..': "usr/bin/x" */
	const char *path;
	enum entry_type type;
	uint32_t mode; /* permission bits, 07777 at most */
	uint32_t uid, gid;
	int64_t mtime; /* seconds; already clamped */
	int64_t size;  /* bytes of a regular file, 0 otherwise */
	/* symlink: its target as is; hard link: path of an earlier entry of this tree */
	const char *link;
	struct entry_xattr *xattrs; /* sorted by name */
	size_t n_xattrs;
	enum entry_content content;
	/* CONTENT_PATH: file on disk; otherwise a label for messages, or NULL */
	const char *source;
	const void *bytes;
	int64_t offset;
	struct entry_stamp stamp;
	const struct entry_package *package; /* NULL = not from a .deb */
	bool implied;                        /* a parent folder nobody asked for */
	struct srcpos at;                    /* the spec item that brought it */
};

struct tree {
	struct arena *arena;
	struct entry *at;
	size_t n, cap;
	int spool_fd; /* -1 until something is spooled; O_TMPFILE or unlinked */
	int64_t spool_size;
	int64_t epoch;     /* mtimes are clamped to this (SOURCE_DATE_EPOCH, default 0) */
	const char *label; /* the layer's name, for messages */
};

void tree_init(struct tree *t, struct arena *a, const char *label, int64_t epoch);
void tree_done(struct tree *t);

/*
 * Adds a copy of e; strings must already live in the tree's arena. The path is checked: relative
 * after removing leading '/', no '..', no NUL, at most 4096 bytes, no segment starting with ".wh."
 * (image-spec, layer.md "Whiteouts": such a file cannot be shipped). ERR_FORMAT names path and
 * position. Empty and '.' segments are taken out; the root itself, as a folder, is left out.
 */
int tree_add(struct tree *t, const struct entry *e, struct err *err) MUST_USE;

/*
 * Appends src's content to the spool file; its offset in *ret_offset. ERR_FORMAT unless it is
 * exactly `size` bytes. The file is made in $TMPDIR, else /var/tmp; zeros take no room in it.
 */
int tree_spool(struct tree *t, struct source *src, int64_t size, int64_t *ret_offset,
               struct err *err) MUST_USE;

/*
 * Sorts, adds implied parents (0755 0:0), merges. The same folder twice: the one asked for wins
 * over an implied one, two asked for must agree. Two files of one path: fine when they are the same
 * source, otherwise a problem in diags naming both positions. A file where a folder is needed is a
 * problem. Hard links whose first name sorts later are re-pointed so that the first path in order
 * is the file; all names of a file have its metadata. A hard link to something that is no file of
 * the tree is a problem. What caused a problem is left out: callers look at d->n_errors before they
 * go on.
 */
int tree_finish(struct tree *t, struct diags *d, struct err *err) MUST_USE;

/*
 * Opens the bytes of a regular file. A file on disk that is not the one that was seen gives
 * ERR_CONFLICT, and so does reading one that changes its size meanwhile.
 */
int tree_open_content(const struct tree *t, const struct entry *e, struct source **ret_source,
                      struct err *err) MUST_USE;

/* The first entry of path[0..len) in a tree that is sorted, t->n when there is none. */
size_t tree_find(const struct tree *t, const char *path, size_t len);

/* Marks, in marks[t->n], the folders above `path`; above a marked entry all are marked already. */
void tree_mark_parents(const struct tree *t, const char *path, bool *marks);

/* True when mode, owner and extended attributes are equal. */
bool entry_same_metadata(const struct entry *a, const struct entry *b);

/* Total bytes of regular files. */
int64_t tree_bytes(const struct tree *t);

#endif

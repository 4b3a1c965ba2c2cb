/*
 * Inside of the sources of run-time data: the few folders of a root file system that such data come
 * from, read from this machine, from a folder of the user's or from a Debian package, as one sorted
 * tree. Nobody else includes this.
 *
 *   AUTO(origin) struct origin o = {0};
 *   if (origin_read(&o, &request, t, d, err) != 0) ...
 *   const struct entry *e = origin_find(&o, "usr/share/zoneinfo/UTC");
 *   if (e != NULL && origin_copy(&o, e, "usr/share/zoneinfo/UTC", at, t, err) != 0) ...
 *
 * Ownership: strings live in the arena of the layer's tree; a package's content in a file without a
 * name that origin_done closes. Thread rule: one thread.
 */
#ifndef SLIPWAY_BUILDER_LAYER_SOURCE_SOURCE_ORIGIN_H
#define SLIPWAY_BUILDER_LAYER_SOURCE_SOURCE_ORIGIN_H

#include "builder/layer/source/sources.h"

enum origin_kind { ORIGIN_MACHINE, ORIGIN_FOLDER, ORIGIN_PACKAGE, ORIGIN_FILE, ORIGIN_NONE };

struct origin_request {
	const char *from; /* NULL = this machine */
	struct srcpos at;
	const struct platform *platform; /* what a package may be of */
	const char *const *paths;        /* folders and files, without leading '/'; ended by NULL */
};

struct origin {
	struct tree tree; /* what is there of the paths, sorted */
	enum origin_kind kind;
	const char *name; /* for messages: "this machine", "'tzdata.deb'" */
	struct srcpos at;
};

/*
 * Paths that are not there are left out: the caller knows whether that matters. ORIGIN_FILE: `from`
 * is a regular file that is no package; nothing was read. ORIGIN_NONE: it cannot be read, which is
 * a problem in d already.
 */
int origin_read(struct origin *o, const struct origin_request *req, const struct tree *t,
                struct diags *d, struct err *err) MUST_USE;
void origin_done(struct origin *o);

/*
 * The regular file or folder at a path, with symbolic links followed inside what was read; NULL
 * when it is not there.
 */
const struct entry *origin_find(const struct origin *o, const char *path);

/* A regular file as one of the layer: 0644, root's, with its time. */
int origin_copy(const struct origin *o, const struct entry *file, const char *to, struct srcpos at,
                struct tree *t, struct err *err) MUST_USE;

/* Its content; ERR_LIMIT beyond the buffer's cap. */
int origin_load(const struct origin *o, const struct entry *file, struct strbuf *sb,
                struct err *err) MUST_USE;

/* Adds a file of the layer's own making, or a symbolic link; strings are copied. */
int data_file_add(struct tree *t, const char *path, const char *bytes, size_t len, struct srcpos at,
                  struct err *err) MUST_USE;
int data_link_add(struct tree *t, const char *path, const char *target, struct srcpos at,
                  struct err *err) MUST_USE;

#endif

/*
 * What fills a tree: one function per kind of source in the spec. Each adds entries and reports
 * problems of the user's making (missing file, escaping link, device node, unreadable file) in
 * diags with the spec's position, going on to find more; err is for failures of the machine. Names
 * are bytes: no locale, no order of the file system shows in the result.
 */
#ifndef SLIPWAY_BUILDER_LAYER_SOURCE_SOURCES_H
#define SLIPWAY_BUILDER_LAYER_SOURCE_SOURCES_H

#include "builder/layer/source/base_files.h"
#include "builder/layer/source/model.h"
#include "builder/layer/tree/tree.h"
#include "builder/oci/platform.h"

/*
 * One item of `files:`. Hard links inside the source stay hard links; sockets are skipped; device
 * nodes and fifos are problems; symbolic links are kept as they are, or followed inside the source.
 *
 * Without `mode` a file is 0755 when its owner may execute it, else 0644, and folders are 0755:
 * umask, setuid, setgid and sticky bits of the building machine do not show. Times are min(mtime,
 * epoch). A glob in `from` matches names that start with a dot, too; each match lands in `to` by
 * its last name. `from` itself, when it is a symbolic link, is entered only if it ends in '/' or
 * with `follow`. include and exclude: builder/layer/tree/select.h; they do not apply to `from`
 * itself. Folders that are needed on the way to something included are implied. After 20 problems
 * an item is given up.
 */
int source_files_add(struct tree *t, const struct layer_files *item, struct diags *d,
                     struct err *err) MUST_USE;

/*
 * One item of `tar:`: every dialect of tar (builder/layer/tar/tar_read.h) in any compression
 * libarchive reads without starting a program; contents are spooled, holes of sparse files filled.
 * Hostile members ('..', device, fifo, whiteout, a hard link out of the archive) and damage are
 * problems; a leading '/' is dropped. Caps: 64 GiB, 2 million members. Modes and owners are the
 * members'; include and exclude look at a member's path before `strip`. Of several members of one
 * path the last one counts.
 */
int source_tar_add(struct tree *t, const struct layer_tar *item, struct diags *d,
                   struct err *err) MUST_USE;

/* One .deb (an ar archive): its data.tar.* lands at /; package name, version and architecture are
 * read from control.tar.*; an architecture other than `platform`'s or "all" is a problem. */
int source_deb_add(struct tree *t, const struct layer_path *item, const struct platform *platform,
                   struct diags *d, struct err *err) MUST_USE;

/* The ELF dependency closure of `layer->closure` (builder/layer/source/closure.h), above the files
 * of the base image; NULL = there is none. */
int source_closure_add(struct tree *t, const struct layer_spec *layer,
                       const struct platform *platform, struct base_files *base, struct diags *d,
                       struct err *err) MUST_USE;

/* Everything a layer asks for, in the order files, tar, deb, closure, run-time data; then
 * tree_finish. */
int source_layer(struct tree *t, const struct layer_spec *layer, const struct platform *platform,
                 struct base_files *base, struct diags *d, struct err *err) MUST_USE;

#endif

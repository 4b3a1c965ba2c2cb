/*
 * The file system of the base image below the layers, as the sources of a layer may ask for it: a
 * seam, because what reads images stands above this room (builder/image/base_view.c). Nothing is
 * unpacked. The first question reads the base; every call may therefore fail as a download does.
 *
 *   if (base != NULL && base_landing(base, "lib64/ld-linux-x86-64.so.2", a, &image, err) != 0) ...
 *   if (base != NULL && base_text(base, "/etc/passwd", 1 << 20, &sb, err) != 0) ...
 *
 * A base that is scratch is NULL: there is nothing to ask. Ownership: answers live as long as the
 * base_files, paths in the arena given. Thread rule: one thread at a time.
 */
#ifndef SLIPWAY_BUILDER_LAYER_SOURCE_BASE_FILES_H
#define SLIPWAY_BUILDER_LAYER_SOURCE_BASE_FILES_H

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "builder/layer/elf/elf.h"

enum base_kind { BASE_NOTHING, BASE_FILE, BASE_FOLDER, BASE_LINK, BASE_OTHER };

/* What lies at a path. */
struct base_entry {
	enum base_kind kind;
	const char *link; /* target of a BASE_LINK */
	/*
	 * Of a BASE_FILE that is a dynamic ELF file: machine, bits, names, paths and the versions
	 * that it defines; not what it needs of other libraries' versions. NULL otherwise.
	 */
	const struct elf_info *elf;
	struct strlist loader_dirs; /* of a dynamic loader: the folders it searches by default */
};

struct base_files {
	const char *name; /* the image's, as the user wrote it */
	/* What lies at an absolute path free of links; BASE_NOTHING is an answer, not an error. */
	int (*look)(struct base_files *b, const char *path, struct base_entry *ret_entry,
	            struct err *err);
	/* The names in a folder (a path free of links) in byte order; none when it is no folder. */
	int (*names)(struct base_files *b, const char *path, struct strlist *ret_names,
	             struct err *err);
	/* The content of a regular file (a path free of links) into sb, which is emptied first.
	 * ERR_NOT_FOUND when there is none, ERR_LIMIT when it has more than max_bytes. */
	int (*read)(struct base_files *b, const char *path, size_t max_bytes, struct strbuf *sb,
	            struct err *err);
};

/* What lies at a path, links followed. *ret_path (may be NULL) is the path free of links. */
int base_look(struct base_files *b, const char *path, struct arena *a, struct base_entry *ret_entry,
              const char **ret_path, struct err *err) MUST_USE;

/* The content of a file, links followed; errors as base_files.read. */
int base_text(struct base_files *b, const char *path, size_t max_bytes, struct strbuf *sb,
              struct err *err) MUST_USE;

/*
 * Where a file of a layer lands so that no link of the base is replaced by a folder: the links of
 * its folder followed, also to what the base does not have; the last name stays. Both paths are
 * an image's, without leading '/'. ERR_FORMAT when the base's links go in a circle.
 */
int base_landing(struct base_files *b, const char *image_path, struct arena *a,
                 const char **ret_path, struct err *err) MUST_USE;

#endif

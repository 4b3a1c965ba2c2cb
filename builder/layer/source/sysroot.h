/*
 * Where the libraries of a platform lie on the build machine, and where they belong in an image.
 * Without a named root the machine's own folders are taken: Debian multiarch (also of foreign
 * architectures), the cross toolchain's /usr/MULTIARCH/lib, then lib64 and lib. A named root is
 * looked at alone: symbolic links in it, absolute ones too, are followed inside it and never lead
 * out. Every path in this interface is "in the sysroot": absolute, as a program living there would
 * see it. Ownership: strings live in the arena. Thread rule: read-only after sysroot_init.
 */
#ifndef SLIPWAY_BUILDER_LAYER_SOURCE_SYSROOT_H
#define SLIPWAY_BUILDER_LAYER_SOURCE_SYSROOT_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strlist.h"
#include "builder/oci/platform.h"

struct sysroot_dir {
	const char *path;  /* folder in the sysroot */
	const char *image; /* folder in the image */
};

struct sysroot {
	const char *root; /* host folder, "" for the machine's own "/" */
	const struct platform_arch *arch;
	struct sysroot_dir *dirs; /* folders that exist, in the loader's order */
	size_t n_dirs;
	struct sysroot_dir *extra; /* folders found only by way of its ld.so.conf */
	size_t n_extra;
	const char *lib_token; /* what $LIB stands for there */
	bool named;            /* a root was named */
};

/* root NULL or "/" = the machine itself. ERR_NOT_FOUND when a named root is not a folder. */
int sysroot_init(struct sysroot *s, const char *root, const struct platform_arch *arch,
                 struct arena *a, struct err *err) MUST_USE;

/*
 * Follows every symbolic link of `path` inside the root; *ret_path is free of links, in the
 * sysroot. ERR_NOT_FOUND when a part is missing, ERR_FORMAT for more than 40 links.
 */
int sysroot_resolve(const struct sysroot *s, const char *path, struct arena *a,
                    const char **ret_path, struct err *err) MUST_USE;

/* The host's name of a path that is free of links. */
const char *sysroot_host_path(const struct sysroot *s, const char *path, struct arena *a);

/* The path in the sysroot of a host path, NULL when it lies outside or does not exist. */
const char *sysroot_path_of(const struct sysroot *s, const char *host_path, struct arena *a);

/*
 * The folder in the image for a folder of the sysroot: that of the equal search folder (links
 * resolved), else the same path.
 */
const char *sysroot_image_dir(const struct sysroot *s, const char *path, struct arena *a);

/* Whether the path, links followed, is a regular file; its resolved path in *ret_path (may be
 * NULL). */
bool sysroot_is_file(const struct sysroot *s, const char *path, struct arena *a,
                     const char **ret_path);

#endif

/*
 * Whose package a file of the building machine is, by dpkg's own lists: what no scanner of the
 * image can see. A root is a folder with a file system whose packages dpkg installed ("" = this
 * machine). Lists may say /lib/x where the file is /usr/lib/x (merged /usr), or the other way.
 *
 * Packages for cross compilers (libc6-arm64-cross) are named as themselves, with the source that
 * their native twin is built from (glibc), by which advisories name them.
 */
#ifndef SLIPWAY_BUILDER_SBOM_MACHINE_H
#define SLIPWAY_BUILDER_SBOM_MACHINE_H

#include "builder/sbom/inventory.h"

struct machine_file {
	const char *path;                   /* in the root, absolute, free of links */
	const struct sbom_package *package; /* set by machine_owners; NULL: of none */
};

/*
 * Finds the owners of n files. Packages are added to inv, each once. A root without dpkg's database
 * has none; what of it cannot be read is a gap of the inventory. ERR_INTERRUPTED.
 */
int machine_owners(struct inventory *inv, const char *root, struct machine_file *files, size_t n,
                   struct err *err) MUST_USE;

/* A root's os-release, in the arena; NULL when it has none. */
const struct sbom_distro *machine_distro(const char *root, struct arena *a);

#endif

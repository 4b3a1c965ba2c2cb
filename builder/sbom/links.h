/*
 * Who links with whom: DT_NEEDED of the ELF files of an inventory as edges between what a document
 * lists, its packages and the ELF files of no package ("parts"). Names are found among the image's
 * own files: by soname or file name, of the same machine and class, in the needing file's folder
 * first, a variant for some processors (glibc-hwcaps) last. What the node brings has no edge.
 */
#ifndef SLIPWAY_BUILDER_SBOM_LINKS_H
#define SLIPWAY_BUILDER_SBOM_LINKS_H

#include "builder/sbom/inventory.h"

/* Numbers of parts: packages first, in their order, then the objects of no package in theirs. */
struct sbom_link {
	size_t from, to;
};

struct sbom_links {
	const struct sbom_object **loose; /* the objects of no package: part packages.n + i */
	size_t n_loose;
	struct sbom_link *at; /* sorted by from, then to; each once; never from a part to itself */
	size_t n;
};

/* Of a sorted inventory; the result is in the arena. */
struct sbom_links links_make(const struct inventory *inv, struct arena *a);

/* The links of part `from`: *ret_n of them from the returned one on. */
const struct sbom_link *links_from(const struct sbom_links *l, size_t from, size_t *ret_n);

#endif

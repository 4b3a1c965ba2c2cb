/*
 * The ELF dependency closure of native programs: their program interpreter and every shared library
 * the dynamic loader would map at start, found by the loader's own rules (ld.so(8)) in the sysroot
 * of the platform, and where each belongs in an image. Reads ELF files only: nothing is executed,
 * so any architecture works on any machine. Libraries that a program opens by dlopen are in it only
 * where the item names them as plug-ins. Above a base image every file lands where the base's links
 * lead; an item `on` the base leaves out what the base's loader finds there.
 *
 *   struct closure_request req = {.items = items, .n_items = 1, .platform = &arm64};
 *   struct closure c;
 *   if (closure_compute(&req, &arena, &c, &diags, &err) != 0) ...
 *   for (size_t i = 0; i < c.n; i++) use(c.files[i].image, c.files[i].source);
 *
 * Ownership: all results in the arena. Thread rule: no shared state.
 */
#ifndef SLIPWAY_BUILDER_LAYER_SOURCE_CLOSURE_H
#define SLIPWAY_BUILDER_LAYER_SOURCE_CLOSURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/err.h"
#include "builder/layer/source/base_files.h"
#include "builder/layer/source/model.h"
#include "builder/oci/platform.h"

struct closure_request {
	const struct layer_closure *items;
	size_t n_items;
	const struct platform *platform;
	const struct strlist *provided; /* sonames or globs the node brings; NULL = none */
	const char *sysroot;     /* NULL = found by itself (builder/layer/source/sysroot.h) */
	struct base_files *base; /* the file system below the layer; NULL = empty */
};

struct closure_file {
	const char *image;  /* path in the image, without leading '/' */
	const char *source; /* file on this machine, free of symbolic links; NULL for a link */
	const char *link;   /* target of a symbolic link in the same folder; NULL for a file */
	bool interpreter;
	struct srcpos at; /* the first program that needed it */
};

struct closure {
	struct closure_file *files; /* sorted by image path, each path once */
	size_t n;
};

/*
 * What the user can repair (a missing program or library, a glob that matches nothing, a wrong
 * architecture, a library the image's loader would not find, a symbol version that the base lacks)
 * is an error in diags, and the search goes on to find more; a packed library that is older than
 * the base's is a warning, a static program a note. err: ERR_NOT_FOUND for a sysroot that is not a
 * folder, ERR_UNSUPPORTED for an architecture without ELF facts, or the base could not be read.
 */
int closure_compute(const struct closure_request *req, struct arena *a, struct closure *ret_closure,
                    struct diags *d, struct err *err) MUST_USE;

#endif

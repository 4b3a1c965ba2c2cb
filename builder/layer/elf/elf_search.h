/*
 * Where a dynamic loader looks for libraries (ld.so(8)): expansion of RPATH and RUNPATH, the
 * folders built into a loader, ld.so.conf. Pure functions over texts and bytes, shared by the
 * dependency closure (which searches the build machine) and the image check (which searches an
 * image). No file is opened. Ownership: results live in the arena given.
 */
#ifndef SLIPWAY_BUILDER_LAYER_ELF_ELF_SEARCH_H
#define SLIPWAY_BUILDER_LAYER_ELF_ELF_SEARCH_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/strlist.h"
#include "builder/oci/platform.h"

enum { ELF_SEARCH_DIRS_MAX = 256 };

/* What the dynamic string tokens stand for (ld.so(8), "Dynamic string tokens"). */
struct elf_tokens {
	const char *origin;   /* folder of the object; NULL = not known: such items are dropped */
	const char *lib;      /* "lib/x86_64-linux-gnu", "lib64", "lib" */
	const char *platform; /* "x86_64" */
};

/*
 * The folders of an RPATH or RUNPATH text, expanded and lexically normalised, in order. Relative
 * items (empty ones too) are dropped: they depend on the working directory and never hold in an
 * image.
 */
struct strlist elf_search_path(const char *text, const struct elf_tokens *tokens, struct arena *a);

/* One name or folder with its tokens replaced; NULL when $ORIGIN is used and not known. */
const char *elf_search_expand(const char *text, size_t len, const struct elf_tokens *tokens,
                              struct arena *a);

/* True when the text uses $ORIGIN or ${ORIGIN}. */
bool elf_search_has_origin(const char *text);

/*
 * The folders that the loader in `bytes` searches by default, in its order: read from its own
 * string table (glibc's trusted folders end in "/"; musl has one colon list). Empty when none is
 * recognised.
 */
struct strlist elf_search_builtin(const void *bytes, size_t len, const struct platform_arch *arch,
                                  struct arena *a);

/* What to assume when the loader cannot be read: Debian's folders, then those of other systems. */
struct strlist elf_search_usual(const struct platform_arch *arch, struct arena *a);

/*
 * One ld.so.conf text: folders are appended to *dirs, patterns of `include` lines to *includes (the
 * caller resolves them). Lines beyond ELF_SEARCH_DIRS_MAX are dropped.
 */
void elf_search_conf(const char *text, size_t len, struct strlist *dirs, struct strlist *includes,
                     struct arena *a);

/* Appends to a list in an arena; a name that is there already is not added again. */
void elf_search_add(struct strlist *list, const char *name, struct arena *a);

/* Removes "//", "." and ".." of an absolute path without looking at any file system. */
char *elf_search_normalise(const char *path, struct arena *a);

/*
 * True when the loader itself answers to a needed name: its own name (libc.so.6 needs
 * ld-linux-x86-64.so.2), or any of the C library's when musl's loader is all of them. `interpreter`
 * is PT_INTERP, NULL when there is none: then every name of a loader counts.
 */
bool elf_search_is_loader(const char *interpreter, const char *needed);

/* True when a soname is among the names or globs. */
bool elf_search_provided(const struct strlist *provided, const char *soname);

#endif

/*
 * ld.so.cache, which ldconfig(8) makes and glibc's loader reads (glibc, sysdeps/generic/ldconfig.h
 * and dl-cache.h): which file each soname is. Both formats: "ld.so-1.7.0", and
 * "glibc-ld.so.cache1.1", alone or behind the older one. Ownership: everything lives in the arena;
 * texts point into the bytes given, which must outlive it.
 */
#ifndef SLIPWAY_BUILDER_LAYER_ELF_ELF_CACHE_H
#define SLIPWAY_BUILDER_LAYER_ELF_ELF_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "builder/oci/platform.h"

enum { ELF_CACHE_BYTES_MAX = 1 << 20 };

struct elf_cache_entry {
	const char *name, *path;
	bool variant; /* for processors that have more than the least */
	size_t order; /* its place in the file */
};

struct elf_cache {
	struct elf_cache_entry *at; /* sorted by name; those for any processor first */
	size_t n;
};

/* The entries for an architecture. A cache that the loader would not take has none. */
struct elf_cache elf_cache_read(const void *bytes, size_t len, const struct platform_arch *arch,
                                struct arena *a);

/* The file that a soname is, NULL when the cache does not list it. */
const char *elf_cache_find(const struct elf_cache *cache, const char *name);

#endif

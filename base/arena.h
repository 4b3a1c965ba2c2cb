/*
 * An arena: many small allocations that live and die together (one per command, one per document).
 * Nothing in an arena is freed alone. Thread rule: one arena belongs to one thread at a time.
 *
 *   AUTO(arena) struct arena a = {0};
 *   char *name = arena_printf(&a, "%s/%s", dir, file);
 */
#ifndef SLIPWAY_BASE_ARENA_H
#define SLIPWAY_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/attr.h"

struct arena_block;

struct arena {
	struct arena_block *head; /* newest block, NULL when empty */
	size_t bytes;             /* of all blocks */
};

/* Frees everything; accepts a zeroed arena; leaves it empty and usable. */
void arena_done(struct arena *a);

/* Moves everything of `from` into a: it lives as long as a does. `from` is empty afterwards. */
void arena_join(struct arena *a, struct arena *from);

/* `size` zeroed bytes, aligned for any type. */
void *arena_alloc(struct arena *a, size_t size);

/* n zeroed items of `size` bytes; an overflowing product aborts. */
void *arena_calloc(struct arena *a, size_t n, size_t size);

/* Copies into the arena; arena_strdup(NULL) is NULL. */
char *arena_strdup(struct arena *a, const char *text);
char *arena_strndup(struct arena *a, const char *text, size_t len);
void *arena_memdup(struct arena *a, const void *bytes, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
char *arena_vprintf(struct arena *a, const char *fmt, va_list args) PRINTF_LIKE(2, 0);

/* A copy of `len` bytes with the ASCII capitals made small. */
char *arena_lower(struct arena *a, const char *text, size_t len);

#endif

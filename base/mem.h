/*
 * Allocation that does not return NULL: running out of memory ends the program with one line.
 * Sizes that come from outside are capped by the caller first.
 */
#ifndef SLIPWAY_BASE_MEM_H
#define SLIPWAY_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/*
 * The one policy for an exhausted machine: one line that names who asked, and the end of the
 * program with RUN_EXIT_MEMORY. For libraries that have an allocator of their own.
 */
_Noreturn void mem_exhausted(const char *who);

/* `size` zeroed bytes (at least 1); the caller frees. */
MUST_USE void *mem_zalloc(size_t size);

/* Room for n items of `size` bytes, zeroed; a product that overflows aborts; the caller frees. */
MUST_USE void *mem_calloc(size_t n, size_t size);

/* realloc of n items of `size` bytes; new bytes are not zeroed; the caller frees. */
MUST_USE void *mem_realloc(void *ptr, size_t n, size_t size);

/* Copies of a string, of `len` bytes plus NUL; the caller frees. */
MUST_USE char *mem_strdup(const char *text);
MUST_USE char *mem_strndup(const char *text, size_t len);

/* Overwrites and frees a secret, and sets *text to NULL; NULL is fine. */
void mem_free_secret(char **text);

/* True when all bytes are zero, or there are none. */
bool mem_is_zero(const void *bytes, size_t len);

/*
 * A growing array: `VEC(struct entry) list = {0};`, `vec_push(&list, item)`, `vec_done(&list)`.
 * Items are moved by memcpy; what they own is the caller's.
 */
#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *at;                                                                          \
		size_t n;                                                                          \
		size_t cap;                                                                        \
	}

#define vec_push(v, item)                                                                          \
	((v)->at = mem_vec_grow((v)->at, (v)->n, &(v)->cap, sizeof(*(v)->at)),                     \
	 (v)->at[(v)->n++] = (item))

#define vec_done(v) (free((v)->at), (v)->at = NULL, (v)->n = 0, (v)->cap = 0)

/* For vec_push only: returns `at` with room for one item more. */
MUST_USE void *mem_vec_grow(void *at, size_t n, size_t *cap, size_t size);

#endif

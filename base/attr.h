/*
 * Compiler attributes and small macros that every file may use.
 * Holds no code and no state.
 */
#ifndef SLIPWAY_BASE_ATTR_H
#define SLIPWAY_BASE_ATTR_H

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#define MUST_USE          __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define NORETURN          __attribute__((noreturn))
#define UNUSED            __attribute__((unused))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Scope clean-up (gcc and clang). AUTO(x) runs x_done(&variable) when the scope ends;
 * destructors therefore accept zero-initialised and half-built objects.
 *
 *   AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
 *   AUTO_FREE char *name = strdup(...);
 *   AUTO_CLOSE int fd = open(...);
 */
#define AUTO(x)    __attribute__((cleanup(x##_done)))
#define AUTO_FREE  __attribute__((cleanup(attr_free_ptr)))
#define AUTO_CLOSE __attribute__((cleanup(attr_close_fd)))

/* Frees what *pp (a pointer to any object pointer) points to. For AUTO_FREE only. */
static inline void attr_free_ptr(void *pp)
{
	free(*(void **)pp);
}

/* Closes *fd when it is not negative, and sets it to -1. For AUTO_CLOSE only. */
static inline void attr_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

#endif

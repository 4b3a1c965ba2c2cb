/*
 * A growing byte buffer with a declared maximum: the first defence against hostile input.
 * Always NUL-terminated when ptr is set. Appending beyond `max` drops the bytes and sets
 * `overflow`; a caller that reads outside input checks it once at the end.
 *
 *   AUTO(strbuf) struct strbuf sb = STRBUF_INIT(64 << 10);
 *   strbuf_addf(&sb, "%s:%u", host, port);
 */
#ifndef SLIPWAY_BASE_STRBUF_H
#define SLIPWAY_BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

struct strbuf {
	char *ptr;     /* NULL until the first byte; owned */
	size_t len;    /* bytes without the NUL */
	size_t cap;    /* bytes allocated */
	size_t max;    /* most bytes ever held; 0 = 1 GiB */
	bool overflow; /* bytes were dropped */
};

#define STRBUF_INIT(max_bytes)                                                                     \
	{                                                                                          \
		.max = (max_bytes)                                                                 \
	}

void strbuf_done(struct strbuf *sb);  /* frees, keeps max */
void strbuf_reset(struct strbuf *sb); /* empties, keeps the memory */

void strbuf_add(struct strbuf *sb, const void *bytes, size_t len);
void strbuf_adds(struct strbuf *sb, const char *text);
void strbuf_addc(struct strbuf *sb, char c);
void strbuf_addf(struct strbuf *sb, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The content as a string, "" when empty; borrowed until the next change. */
const char *strbuf_str(const struct strbuf *sb);

/* Hands the content out ("" when empty); the caller frees; the buffer is empty afterwards. */
MUST_USE char *strbuf_take(struct strbuf *sb);

#endif

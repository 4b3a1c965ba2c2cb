/*
 * Byte sinks and byte sources: one write call and one read call behind which files, digests,
 * compressors and HTTP bodies stand, so that bytes flow through a chain in one pass.
 * Embed `struct sink` / `struct source` as the first member of a larger struct.
 * Thread rule: an object is used by one thread at a time.
 */
#ifndef SLIPWAY_BASE_STREAM_H
#define SLIPWAY_BASE_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

struct sink {
	/* Takes all len bytes or fails. */
	int (*write)(struct sink *s, const void *bytes, size_t len, struct err *err);
};

struct source {
	/* Reads up to cap bytes (cap > 0); *ret_n = 0 means end of data. */
	int (*read)(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err);
	/* Releases the source and, when it was allocated, its memory. May be NULL. */
	void (*close)(struct source *s);
};

int sink_write(struct sink *s, const void *bytes, size_t len, struct err *err) MUST_USE;
int source_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err) MUST_USE;
void source_close(struct source *s); /* accepts NULL */

/* Copies everything from src to dst; *ret_bytes (may be NULL) = how many. */
int stream_copy(struct source *src, struct sink *dst, int64_t *ret_bytes, struct err *err) MUST_USE;

/* Reads src to its end into sb; ERR_LIMIT when sb's max is reached. */
int stream_read_all(struct source *src, struct strbuf *sb, struct err *err) MUST_USE;

/* A sink to a file descriptor (borrowed) and one to a strbuf (borrowed; ERR_LIMIT beyond max). */
struct fd_sink {
	struct sink sink;
	int fd;
};
void fd_sink_init(struct fd_sink *s, int fd);
struct strbuf_sink {
	struct sink sink;
	struct strbuf *sb;
};
void strbuf_sink_init(struct strbuf_sink *s, struct strbuf *sb);

/* Heap sources: over a file descriptor (taken over, closed at close) and over borrowed bytes. */
MUST_USE struct source *source_from_fd(int fd);
MUST_USE struct source *source_from_bytes(const void *bytes, size_t len);

#endif

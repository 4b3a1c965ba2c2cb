/*
 * Holds one file's bytes for random access: in memory while small, then in an unlinked temporary
 * file, so that a large library costs no memory; zeros take no room there. Reused from file to
 * file. Thread rule: one thread.
 */
#ifndef SLIPWAY_BUILDER_CHECK_SPOOL_H
#define SLIPWAY_BUILDER_CHECK_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { SPOOL_MEMORY_MAX = 4 << 20 };
#define SPOOL_BYTES_MAX (INT64_C(8) << 30)

struct spool {
	unsigned char *memory; /* SPOOL_MEMORY_MAX bytes once used; owned */
	int fd;                /* -1 until something did not fit */
	uint64_t size;
};
#define SPOOL_INIT                                                                                 \
	{                                                                                          \
		.fd = -1                                                                           \
	}

void spool_done(struct spool *s);
void spool_reset(struct spool *s); /* empties */

/* Appends, at most SPOOL_BYTES_MAX in all; ERR_IO when the temporary file cannot be written. */
int spool_write(struct spool *s, const void *bytes, size_t len, struct err *err) MUST_USE;

/* An elf_read_at over a spool (ctx). */
int spool_read_at(void *ctx, uint64_t offset, void *buf, size_t len, struct err *err);

/* The bytes when they are all in memory, NULL otherwise. */
const void *spool_bytes(const struct spool *s);

#endif

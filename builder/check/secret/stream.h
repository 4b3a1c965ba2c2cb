/*
 * Finds secrets in a stream of bytes: by their form anywhere (patterns.c), by the file's name
 * (named.c), and in files that are a key from their first byte to their last (whole.c). Says what
 * and where, never shows a byte of it. Made for layers of gigabytes: two bytes at a time are looked
 * up among those that begin a pattern, and only the surroundings of a hit are looked at. Thread
 * rule: one scanner, one thread.
 */
#ifndef SLIPWAY_BUILDER_CHECK_SECRET_STREAM_H
#define SLIPWAY_BUILDER_CHECK_SECRET_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "builder/check/secret/kinds.h"
#include "builder/check/secret/named.h"
#include "builder/check/secret/whole.h"

enum { SECRET_LOOK = 1024, SECRET_CHUNK = 128 << 10, SECRET_FILE_MAX = 256 << 10 };

struct secret_anchors; /* the patterns' anchors, ready to be looked up */

struct secret_scanner {
	/* SECRET_LOOK looked-at bytes before, then what is to be looked at; owned */
	unsigned char *buf;
	size_t len;                     /* bytes in buf */
	size_t done;                    /* of these, already looked at */
	int64_t start;                  /* file offset of buf[0] */
	struct secret_anchors *anchors; /* owned */
	/* what the file's name promises, NULL = nothing, and the content of such a file */
	const struct secret_named *named;
	struct strbuf text;
	struct secret_whole whole;
	bool found[SECRET_KINDS];
	int64_t offset[SECRET_KINDS]; /* of the first one of each kind */
};

void secret_init(struct secret_scanner *s);
void secret_done(struct secret_scanner *s);

/* A new file begins; its path in the image decides whether the whole is looked at. */
void secret_begin(struct secret_scanner *s, const char *path);
void secret_feed(struct secret_scanner *s, const void *bytes, size_t len);
/* The file ends; found[] and offset[] are complete. */
void secret_end(struct secret_scanner *s);

#endif

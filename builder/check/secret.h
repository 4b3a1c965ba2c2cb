/*
 * Finds secrets in a stream of bytes: AWS keys, private keys, GitHub tokens anywhere; .netrc,
 * .pgpass and Docker credentials by the file's name. Says what and where, never shows a byte of it.
 * Made for layers of gigabytes: bytes are compared in blocks for a few anchors, and only the
 * surroundings of a hit are looked at. Thread rule: one scanner, one thread.
 */
#ifndef SLIPWAY_BUILDER_CHECK_SECRET_H
#define SLIPWAY_BUILDER_CHECK_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

enum { SECRET_LOOK = 1024, SECRET_CHUNK = 128 << 10, SECRET_FILE_MAX = 256 << 10 };

enum secret_kind {
	SECRET_AWS,
	SECRET_PRIVATE_KEY,
	SECRET_GITHUB,
	SECRET_NETRC,
	SECRET_PGPASS,
	SECRET_DOCKER,
	SECRET_KINDS
};

struct secret_scanner {
	/* SECRET_LOOK looked-at bytes before, then what is to be looked at; owned */
	unsigned char *buf;
	size_t len;             /* bytes in buf */
	size_t done;            /* of these, already looked at */
	int64_t start;          /* file offset of buf[0] */
	enum secret_kind named; /* what the file's name promises, SECRET_KINDS = nothing */
	struct strbuf text;     /* content of such a file */
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

/* "a private key", ... */
const char *secret_text(enum secret_kind kind);

#endif

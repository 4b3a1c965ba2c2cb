/*
 * SHA-256 (FIPS 180-4) without a foreign library, for slipway-trainer, whose checkpoints carry the
 * digests of their files. The builder uses OpenSSL's through base/crypto/digest.h, which is several
 * times faster.
 */
#ifndef SLIPWAY_BASE_SHA256_H
#define SLIPWAY_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { SHA256_BYTES = 32, SHA256_HEX_MAX = 65, SHA256_BLOCK = 64 };

struct sha256 {
	uint32_t state[8];
	uint64_t len;
	unsigned char block[SHA256_BLOCK];
};

void sha256_init(struct sha256 *s);
void sha256_update(struct sha256 *s, const void *bytes, size_t len);
/* 64 lower-case hex digits and NUL into out; s must be init'ed before the next use. Returns out. */
char *sha256_hex(struct sha256 *s, char out[SHA256_HEX_MAX]);

/* Digest and size of a regular file. ERR_NOT_FOUND, ERR_IO. */
int sha256_file(const char *path, char ret_hex[SHA256_HEX_MAX], uint64_t *ret_size,
                struct err *err) MUST_USE;

#endif

/*
 * SHA-256 digests as OCI writes them: "sha256:" and 64 lower-case hex digits
 * (image-spec, descriptor.md, "Digests"). Other algorithms are refused: no registry of ours uses
 * one.
 */
#ifndef SLIPWAY_BASE_CRYPTO_DIGEST_H
#define SLIPWAY_BASE_CRYPTO_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { DIGEST_BYTES = 32, DIGEST_HEX_MAX = 65, DIGEST_TEXT_MAX = 72 };

struct digest {
	unsigned char bytes[DIGEST_BYTES];
};

/* Reads "sha256:<64 hex>". ERR_FORMAT on anything else (upper case included). */
int digest_parse(const char *text, struct digest *ret_digest, struct err *err) MUST_USE;

/* Writes "sha256:<hex>" / "<hex>" with NUL into out and returns out. */
char *digest_text(const struct digest *d, char out[DIGEST_TEXT_MAX]);
char *digest_hex(const struct digest *d, char out[DIGEST_HEX_MAX]);

bool digest_equal(const struct digest *a, const struct digest *b);
bool digest_is_zero(const struct digest *d);

/* The digest of len bytes. */
struct digest digest_of(const void *bytes, size_t len);

/*
 * Incremental hashing: a zeroed object, init, update any number of times, final once, done always.
 */
struct hasher {
	void *ctx; /* EVP_MD_CTX, owned */
};
void hasher_init(struct hasher *h);
void hasher_update(struct hasher *h, const void *bytes, size_t len);
struct digest hasher_final(struct hasher *h); /* h may be init'ed again afterwards */
void hasher_done(struct hasher *h);

#endif

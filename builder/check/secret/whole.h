/*
 * Files that are a key or a store of keys as a whole, in binary: DER, PKCS#12, Java's key stores,
 * Kerberos keytabs. Judged by the first bytes and the file's size, so that key pairs inside other
 * files (test vectors of libraries) are not taken for one. Nobody outside this room includes it.
 */
#ifndef SLIPWAY_BUILDER_CHECK_SECRET_WHOLE_H
#define SLIPWAY_BUILDER_CHECK_SECRET_WHOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/check/secret/kinds.h"

enum { SECRET_HEAD_BYTES = 64 };

struct secret_whole {
	unsigned char head[SECRET_HEAD_BYTES]; /* zeros behind a shorter file's end */
	size_t n;                              /* bytes in head */
	int64_t size;                          /* of the file as far as it was fed */
	bool keytab_name;                      /* the path ends in .keytab */
};

void secret_whole_begin(struct secret_whole *f, const char *path);
void secret_whole_feed(struct secret_whole *f, const void *bytes, size_t len);

/* After the last byte. False when it is no such file. */
bool secret_whole_judge(const struct secret_whole *f, enum secret_kind *ret_kind);

/* Whether the file is a PKCS#12 store (RFC 7292), with or without a private key. */
bool secret_whole_is_pkcs12(const struct secret_whole *f);

#endif

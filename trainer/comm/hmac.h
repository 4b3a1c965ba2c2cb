/*
 * HMAC-SHA256 (RFC 2104) over base/sha256.h: the trainer links no library that has one.
 */
#ifndef SLIPWAY_TRAINER_COMM_HMAC_H
#define SLIPWAY_TRAINER_COMM_HMAC_H

#include "base/sha256.h"

/* 64 hex digits and NUL into out. Both texts end at their NUL. Returns out. */
char *hmac_sha256_hex(const char *key, const char *text, char out[SHA256_HEX_MAX]);

#endif

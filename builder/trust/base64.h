/*
 * Base64 as JSON documents carry bytes (RFC 4648, section 4), strict: padding is due, white space,
 * other letters and stray bits are refused, so that there is one text for the same bytes.
 */
#ifndef SLIPWAY_BUILDER_TRUST_BASE64_H
#define SLIPWAY_BUILDER_TRUST_BASE64_H

#include "base/strbuf.h"

/* Appends the text of len bytes. */
void base64_encode(const void *bytes, size_t len, struct strbuf *sb);

/* Appends the bytes of a text; false when it is not base64. */
bool base64_decode(const char *text, struct strbuf *sb) MUST_USE;

#endif

/*
 * Protocol buffers, written: fields in the order in which they are put. Source: the "Encoding" page
 * of Protocol Buffers (varint 0, 64 bit 1, length-delimited 2, 32 bit 5). Zero scalars are left
 * out, as in proto3.
 */
#ifndef SLIPWAY_TRAINER_HLO_WIRE_H
#define SLIPWAY_TRAINER_HLO_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

void wire_int(struct strbuf *to, unsigned field, int64_t value); /* left out when 0 */
void wire_text(struct strbuf *to, unsigned field, const char *text);
void wire_bytes(struct strbuf *to, unsigned field, const void *bytes, size_t n);
/* Packed; left out when there are none. */
void wire_ints(struct strbuf *to, unsigned field, const int64_t *values, size_t n);

/* A message in a field: empties `message`. Written even when it is empty. */
void wire_message(struct strbuf *to, unsigned field, struct strbuf *message);

#endif

/*
 * Writing a flatbuffer: a buffer that grows from its end to its beginning, so that what is referred
 * to stands behind what refers to it. Positions are counted from the end. Only what a zTOC needs:
 * tables, strings, vectors of bytes and of references.
 * Source: FlatBuffers, "Internals" (flatbuffers.dev/internals): alignment, vtables, offsets; equal
 * vtables are written once, the newest is looked at first, as the format's own builders do.
 *
 *   flatbuf_begin(&f, max), ... root = flatbuf_table_end(&f), bytes = flatbuf_finish(&f, root)
 */
#ifndef SLIPWAY_BUILDER_LAYER_ZTOC_FLATBUF_H
#define SLIPWAY_BUILDER_LAYER_ZTOC_FLATBUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/strbuf.h"

enum { FLATBUF_SLOTS_MAX = 16 };

struct flatbuf {
	struct strbuf backwards; /* the last byte first; `max` is the caller's, 2 GiB at most */
	size_t align_most;
	VEC(uint32_t) vtables;
	uint32_t slots[FLATBUF_SLOTS_MAX]; /* of the table being written; 0 = not set */
	size_t n_slots;
	uint32_t table_end;
};

/* A buffer of at most `max` bytes; more sets backwards.overflow, and what comes out is useless. */
void flatbuf_begin(struct flatbuf *f, size_t max);
void flatbuf_done(struct flatbuf *f);

/* Each returns the position of what it wrote, for the references of later tables. */
uint32_t flatbuf_bytes(struct flatbuf *f, const void *bytes, size_t len);
uint32_t flatbuf_string(struct flatbuf *f, const char *text, size_t len);
uint32_t flatbuf_references(struct flatbuf *f, const uint32_t *at, size_t n);

/* A table of n_slots fields; fields in any order, those equal to 0 (their default) left out. */
void flatbuf_table(struct flatbuf *f, size_t n_slots);
void flatbuf_field(struct flatbuf *f, size_t slot, size_t bytes, uint64_t value);
void flatbuf_field_at(struct flatbuf *f, size_t slot, uint32_t position);
uint32_t flatbuf_table_end(struct flatbuf *f);

/* The whole buffer in its order; the caller's now. Its `overflow` says that it is useless. */
MUST_USE struct strbuf flatbuf_finish(struct flatbuf *f, uint32_t root);

#endif

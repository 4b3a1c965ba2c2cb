/* See flatbuf.h. Sections: bytes, vectors, tables, the whole. */
#include "builder/layer/ztoc/flatbuf.h"

#include <string.h>

#include "base/err.h"

enum { REFERENCE = 4, VTABLE_ENTRY = 2, VTABLE_HEAD = 2 /* its own size, the table's size */ };

/* ---- bytes ---- */

void flatbuf_begin(struct flatbuf *f, size_t max)
{
	*f = (struct flatbuf){.backwards = STRBUF_INIT(max), .align_most = 1};
}

void flatbuf_done(struct flatbuf *f)
{
	strbuf_done(&f->backwards);
	vec_done(&f->vtables);
}

static uint32_t position(const struct flatbuf *f)
{
	return (uint32_t)f->backwards.len;
}

/* Zeros, so that behind `more` further bytes something aligned to `align` can be put. */
static void align(struct flatbuf *f, size_t to, size_t more)
{
	size_t zeros = -(f->backwards.len + more) % to;

	f->align_most = f->align_most > to ? f->align_most : to;
	for (; zeros > 0; zeros--)
		strbuf_addc(&f->backwards, '\0');
}

/* Little-endian in the end, so the highest byte first here. */
static void put(struct flatbuf *f, uint64_t value, size_t bytes)
{
	for (size_t i = bytes; i-- > 0;)
		strbuf_addc(&f->backwards, (char)(value >> 8 * i));
}

static void reverse(char *bytes, size_t len)
{
	if (len < 2)
		return;
	for (char *low = bytes, *high = bytes + len - 1; low < high; low++, high--) {
		char c = *low;

		*low = *high;
		*high = c;
	}
}

static void put_backwards(struct flatbuf *f, const void *bytes, size_t len)
{
	size_t from = f->backwards.len;

	strbuf_add(&f->backwards, bytes, len);
	if (!f->backwards.overflow)
		reverse(f->backwards.ptr + from, len);
}

/* `bytes` bytes at `at`, a position counted from the end. */
static uint64_t get(const struct flatbuf *f, uint32_t at, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = bytes; i-- > 0;)
		value = value << 8 | (unsigned char)f->backwards.ptr[at - 1 - i];
	return value;
}

/* ---- vectors ---- */

uint32_t flatbuf_bytes(struct flatbuf *f, const void *bytes, size_t len)
{
	align(f, REFERENCE, len);
	put_backwards(f, bytes, len);
	put(f, len, REFERENCE);
	return position(f);
}

uint32_t flatbuf_string(struct flatbuf *f, const char *text, size_t len)
{
	align(f, REFERENCE, len + 1);
	strbuf_addc(&f->backwards, '\0');
	put_backwards(f, text, len);
	put(f, len, REFERENCE);
	return position(f);
}

/* How far ahead of what is written next, aligned, `at` stands. */
static void put_reference(struct flatbuf *f, uint32_t at)
{
	align(f, REFERENCE, 0);
	put(f, position(f) + REFERENCE - at, REFERENCE);
}

uint32_t flatbuf_references(struct flatbuf *f, const uint32_t *at, size_t n)
{
	align(f, REFERENCE, n * REFERENCE);
	for (size_t i = n; i-- > 0;)
		put_reference(f, at[i]);
	put(f, n, REFERENCE);
	return position(f);
}

/* ---- tables ---- */

void flatbuf_table(struct flatbuf *f, size_t n_slots)
{
	if (n_slots > FLATBUF_SLOTS_MAX)
		BUG("a table of %zu fields", n_slots);
	memset(f->slots, 0, sizeof(f->slots));
	f->n_slots = n_slots;
	f->table_end = position(f);
}

void flatbuf_field(struct flatbuf *f, size_t slot, size_t bytes, uint64_t value)
{
	if (value == 0)
		return;
	align(f, bytes, 0);
	put(f, value, bytes);
	f->slots[slot] = position(f);
}

void flatbuf_field_at(struct flatbuf *f, size_t slot, uint32_t at)
{
	put_reference(f, at);
	f->slots[slot] = position(f);
}

/* Where slot i's value stands in a table that begins at `table`; 0 = left out. */
static uint64_t slot_entry(const struct flatbuf *f, size_t i, uint32_t table)
{
	return f->slots[i] != 0 ? table - f->slots[i] : 0;
}

static bool same_vtable(const struct flatbuf *f, uint32_t vtable, uint32_t table)
{
	if (get(f, vtable, VTABLE_ENTRY) != (VTABLE_HEAD + f->n_slots) * VTABLE_ENTRY)
		return false;
	for (size_t i = 0; i < f->n_slots; i++) {
		uint32_t at = vtable - (uint32_t)((VTABLE_HEAD + i) * VTABLE_ENTRY);

		if (get(f, at, VTABLE_ENTRY) != slot_entry(f, i, table))
			return false;
	}
	return true;
}

/* The position of a vtable like this table's; a new one is put before the table. */
static uint32_t find_vtable(struct flatbuf *f, uint32_t table)
{
	for (size_t i = f->vtables.n; i-- > 0;)
		if (same_vtable(f, f->vtables.at[i], table))
			return f->vtables.at[i];
	for (size_t i = f->n_slots; i-- > 0;)
		put(f, slot_entry(f, i, table), VTABLE_ENTRY);
	put(f, table - f->table_end, VTABLE_ENTRY);
	put(f, (VTABLE_HEAD + f->n_slots) * VTABLE_ENTRY, VTABLE_ENTRY);
	vec_push(&f->vtables, position(f));
	return position(f);
}

uint32_t flatbuf_table_end(struct flatbuf *f)
{
	uint32_t table, vtable;

	align(f, REFERENCE, 0);
	put(f, 0, REFERENCE);
	table = position(f);
	if (f->backwards.overflow)
		return table;
	while (f->n_slots > 0 && f->slots[f->n_slots - 1] == 0)
		f->n_slots--;
	vtable = find_vtable(f, table);
	if (f->backwards.overflow)
		return table;
	/* A table begins with the signed distance to its vtable. */
	for (size_t i = 0; i < REFERENCE; i++)
		f->backwards.ptr[table - 1 - i] = (char)((vtable - table) >> 8 * i);
	return table;
}

/* ---- the whole ---- */

struct strbuf flatbuf_finish(struct flatbuf *f, uint32_t root)
{
	struct strbuf whole;

	align(f, f->align_most, REFERENCE);
	put_reference(f, root);
	if (!f->backwards.overflow)
		reverse(f->backwards.ptr, f->backwards.len);
	whole = f->backwards;
	f->backwards = (struct strbuf){0};
	return whole;
}

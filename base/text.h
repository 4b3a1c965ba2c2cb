/*
 * Small pure text helpers. No allocation, no locale.
 */
#ifndef SLIPWAY_BASE_TEXT_H
#define SLIPWAY_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes of the UTF-8 sequence at text (Unicode table 3-7; a byte below 0x80 is one of 1), 0 when it
 * is malformed or longer than len; len is at least 1.
 */
size_t text_utf8_length(const char *text, size_t len);

/* True when the len bytes are valid UTF-8 (no surrogates, no overlong forms). */
bool text_is_utf8(const char *text, size_t len);

bool text_has_prefix(const char *text, const char *prefix);
bool text_has_suffix(const char *text, const char *suffix);

/* The code point of the one character of `len` bytes (text_utf8_length). */
uint32_t text_code_point(const char *text, size_t len);

/*
 * True for the one character of `len` bytes (text_utf8_length) that a terminal obeys or that turns
 * a line around: C0, DEL and C1 (ECMA-48), line and paragraph separators, and the bidirectional
 * embeddings, overrides and isolates (Unicode standard annex 9).
 */
bool text_is_control(const char *text, size_t len);

/*
 * In place: each such character, and each byte that is not UTF-8, becomes '?', so that text from
 * outside cannot drive a terminal. Characters of `allowed` (ASCII, as "\n\t") stay. Returns the new
 * length, at most `len`.
 */
size_t text_filter(char *text, size_t len, const char *allowed);

/* The same for a string that is one line. */
void text_make_printable(char *text);

/* Line and column (bytes), both from 1, of the byte at `offset`. */
void text_position(const char *text, size_t offset, unsigned *ret_line, unsigned *ret_column);

/* For qsort of an array of `const char *`: byte order. */
int text_compare(const void *a, const void *b);

/* Levenshtein distance of two short strings, capped at `limit` + 1. */
unsigned text_distance(const char *a, const char *b, unsigned limit);

/* The candidate nearest to `word`, NULL when none is near (distance over a third of its length). */
const char *text_nearest(const char *word, const char *const *candidates, size_t n);

/*
 * Path globs: `*` and `?` within a segment, `[...]` classes, `**` across segments (zero or more).
 * A pattern without '/' matches the last segment of any path (as in .gitignore).
 */
bool text_glob(const char *pattern, const char *path);

/* "12.3 MB" (decimal units, as registries show them) into out; returns out. */
enum { TEXT_BYTES_MAX = 24 };
char *text_bytes(int64_t bytes, char out[TEXT_BYTES_MAX]);

/* Whole decimal number of exactly len bytes into *ret; false on anything else or overflow. */
bool text_int64(const char *text, size_t len, int64_t *ret_value);

#endif

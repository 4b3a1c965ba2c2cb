/*
 * A large JSON text in pieces: the values of its outermost object, list or sequence come one at a
 * time, each as its own bytes, so that a file of a gigabyte needs no more memory than its largest
 * piece. Watches brackets and strings alone: who parses the piece judges the rest.
 */
#ifndef SLIPWAY_BUILDER_SCAN_JSON_SPLIT_H
#define SLIPWAY_BUILDER_SCAN_JSON_SPLIT_H

#include "base/stream.h"

enum { JSON_SPLIT_CHUNK = 64 << 10 };

struct json_split {
	struct source *in;
	char chunk[JSON_SPLIT_CHUNK];
	size_t at, n;  /* of the chunk: what is taken, what is there */
	int64_t bytes; /* of all chunks before this one */
	bool ended;
};

/* Begins; the source is borrowed. */
void json_split_init(struct json_split *s, struct source *in);

/* Bytes that are taken. */
int64_t json_split_offset(const struct json_split *s);

/* *ret_c = the next byte that is not white space, left where it is; '\0' at the end. A NUL in the
 * text is ERR_FORMAT. */
int json_split_peek(struct json_split *s, char *ret_c, struct err *err) MUST_USE;

/* Takes one byte that json_split_peek showed. */
void json_split_skip(struct json_split *s);

/* Appends the next value, white space before it left out; ERR_FORMAT when the text ends within,
 * ERR_LIMIT when sb's maximum is reached. */
int json_split_value(struct json_split *s, struct strbuf *sb, struct err *err) MUST_USE;

/* Whether it is an object whose first member is an object; looks ahead, takes nothing. */
int json_split_is_nested(struct json_split *s, bool *ret_nested, struct err *err) MUST_USE;

#endif

/*
 * A streaming JSON writer into a strbuf: begin, typed appends, end. A value without its key, or an
 * end without its begin, is a bug of ours and aborts. Needs no foreign library.
 *
 *   struct jsonw w;
 *   jsonw_init(&w, &sb, true);
 *   jsonw_begin_object(&w);
 *   jsonw_key(&w, "cores");
 *   jsonw_int(&w, 8);
 *   jsonw_end_object(&w);
 */
#ifndef SLIPWAY_BASE_JSONW_H
#define SLIPWAY_BASE_JSONW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

enum { JSONW_DEPTH_MAX = 32 };

struct jsonw {
	struct strbuf *sb;
	bool pretty;
	int depth;
	bool in_object[JSONW_DEPTH_MAX];
	bool some[JSONW_DEPTH_MAX]; /* the level has a member already */
	bool after_key;
};

/* Writes go to sb (borrowed). pretty: two-space indentation, newline after the outermost end. */
void jsonw_init(struct jsonw *w, struct strbuf *sb, bool pretty);

void jsonw_begin_object(struct jsonw *w);
void jsonw_end_object(struct jsonw *w);
void jsonw_begin_array(struct jsonw *w);
void jsonw_end_array(struct jsonw *w);

void jsonw_key(struct jsonw *w, const char *key);
void jsonw_string(struct jsonw *w,
                  const char *value); /* NULL gives null; bytes that are not UTF-8 give '?' */
void jsonw_int(struct jsonw *w, int64_t value);
void jsonw_double(struct jsonw *w, double value); /* not finite gives null */
void jsonw_bool(struct jsonw *w, bool value);
void jsonw_null(struct jsonw *w);

/* Appends text as a JSON string with its quotes. */
void jsonw_quote(struct strbuf *sb, const char *text);

#endif
